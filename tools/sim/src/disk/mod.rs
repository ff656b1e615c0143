//! A disk that may lose what was not synced.
//!
//! Fault model. A file's bytes are safe once the `write_new` that made it has returned; before,
//! a power cut may keep, lose or spoil each of its sectors, and cut its length. A change of a
//! name is safe once a later `sync_folder` has returned; before, a power cut may undo or keep each
//! one, whatever became of the others. A `sync_folder` that failed makes nothing safe, and no
//! later one makes up for it. A killed process loses nothing that it wrote. At rest, bits may
//! flip, pages turn to zero, files be cut, change places or come back from the past.

mod fate;
mod rot;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use bloomrf_engine::env::Disk;

use crate::shared::Splitmix;
use fate::{Change, Fate, Names, Op};

/// The disk: outlives every node that writes to it.
#[derive(Debug)]
pub struct SimDisk {
    state: RefCell<State>,
}

/// What goes wrong by itself, as "one call in so many"; 0: never.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFaults {
    /// Writes, renames, removals and syncs that fail with EIO.
    pub eio_one_in: u64,
    /// Writes that find no space.
    pub enospc_one_in: u64,
    /// Reads and listings that fail with EIO.
    pub read_one_in: u64,
}

/// Bugs of a node that writes without care; for canaries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lies {
    /// `write_new` returns before anything is safe.
    pub unsynced: bool,
    /// `sync_folder` does nothing.
    pub folder_unsynced: bool,
    /// Failed writes and syncs say that they worked.
    pub errors_hidden: bool,
}

#[derive(Debug)]
struct State {
    rng: Splitmix,
    faults: DiskFaults,
    lies: Lies,
    files: BTreeMap<u64, Content>,
    /// As the running node sees them.
    names: Names,
    /// As they are after a power cut, before the changes of `log`.
    base: Names,
    log: Vec<Change>,
    files_ever: u64,
    /// Old contents, to come back.
    past: Vec<Vec<u8>>,
    calls: u64,
    /// The call during which everything stops.
    cut_at: Option<u64>,
    is_cut: bool,
}

#[derive(Clone, Debug)]
struct Content {
    bytes: Vec<u8>,
    is_synced: bool,
}

impl SimDisk {
    /// An empty disk.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let state = State {
            rng: Splitmix::new(seed),
            faults: DiskFaults::default(),
            lies: Lies::default(),
            files: BTreeMap::new(),
            names: Names::new(),
            base: Names::new(),
            log: Vec::new(),
            files_ever: 0,
            past: Vec::new(),
            calls: 0,
            cut_at: None,
            is_cut: false,
        };
        SimDisk { state: RefCell::new(state) }
    }

    /// What goes wrong from now on.
    pub fn set_faults(&self, faults: DiskFaults) {
        self.state.borrow_mut().faults = faults;
    }

    /// How the node's way to the disk lies from now on.
    pub fn set_lies(&self, lies: Lies) {
        self.state.borrow_mut().lies = lies;
    }

    /// Calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state.borrow().calls
    }

    /// Everything stops during the call after `calls` more: it is done in part or not at all, and
    /// every later one fails. Until [`SimDisk::crash`].
    pub fn cut_after(&self, calls: u64) {
        let mut state = self.state.borrow_mut();
        state.cut_at = Some(state.calls + calls);
    }

    /// No cut is planned any more.
    pub fn cut_never(&self) {
        self.state.borrow_mut().cut_at = None;
    }

    /// Whether the planned cut has come.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.state.borrow().is_cut
    }

    /// The node is gone; with `power`, so is what was not safe. The disk works again.
    pub fn crash(&self, power: bool) {
        let mut state = self.state.borrow_mut();
        state.is_cut = false;
        state.cut_at = None;
        if power {
            state.lose_power();
        }
    }

    /// Every name and its bytes, as the node would read them. No call, no fault.
    #[must_use]
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state.borrow();
        let bytes = |id: &u64| state.files.get(id).map(|file| file.bytes.clone());
        state.names.iter().map(|(name, id)| (name.clone(), bytes(id).unwrap_or_default())).collect()
    }

    /// Names that were given before a sync that failed: they may be gone with the next power cut,
    /// and no later sync says so.
    #[must_use]
    pub fn doubtful(&self) -> BTreeSet<String> {
        let state = self.state.borrow();
        let doubtful = state.log.iter().filter(|change| change.fate == Fate::Doubtful);
        let name_of = |change: &Change| match &change.op {
            Op::Link(name, _) | Op::Rename(_, name, _) => Some(name.clone()),
            Op::Unlink(_) => None,
        };
        doubtful.filter_map(name_of).collect()
    }

    /// Something goes wrong at rest with a file, or with two. Returns the names of those whose
    /// bytes are others now.
    pub fn rot(&self) -> Vec<String> {
        self.state.borrow_mut().rot()
    }
}

/// What a call meets.
enum Luck {
    Good,
    /// It fails with this.
    Error(io::Error),
    /// Everything stops during it.
    Cut,
}

impl State {
    /// Counts a call and draws its luck.
    fn call(&mut self, one_in: u64, kind: io::ErrorKind) -> Result<Luck, io::Error> {
        if self.is_cut {
            return Err(stopped());
        }
        self.calls += 1;
        if self.cut_at.is_some_and(|at| self.calls > at) {
            self.is_cut = true;
            return Ok(Luck::Cut);
        }
        if one_in > 0 && self.rng.one_in(one_in) {
            return Ok(Luck::Error(io::Error::from(kind)));
        }
        Ok(Luck::Good)
    }

    fn change(&mut self, op: Op) {
        op.apply(&mut self.names);
        self.log.push(Change { op, fate: Fate::Pending });
    }

    /// What a hidden error says instead.
    fn outcome(&self, error: io::Error) -> io::Result<()> {
        if self.lies.errors_hidden { Ok(()) } else { Err(error) }
    }

    fn write(&mut self, name: &str, bytes: &[u8], is_synced: bool) {
        let id = self.files_ever;
        self.files_ever += 1;
        self.files.insert(id, Content { bytes: bytes.to_vec(), is_synced });
        self.change(Op::Link(name.to_owned(), id));
    }

    /// What an interrupted or failed write leaves: nothing, or a part that is not safe.
    fn write_part(&mut self, name: &str, bytes: &[u8]) {
        if self.rng.one_in(4) {
            return;
        }
        let kept = self.rng.below(bytes.len() as u64 + 1) as usize;
        self.write(name, &bytes[..kept], false);
    }
}

impl Disk for SimDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let state = &mut *self.state.borrow_mut();
        match state.call(state.faults.read_one_in, io::ErrorKind::Other)? {
            Luck::Good => {}
            Luck::Error(error) => return Err(error),
            Luck::Cut => return Err(stopped()),
        }
        let mut names: Vec<String> = state.names.keys().cloned().collect();
        // In no order.
        for at in (1..names.len()).rev() {
            names.swap(at, state.rng.below(at as u64 + 1) as usize);
        }
        Ok(names)
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        let state = &mut *self.state.borrow_mut();
        match state.call(state.faults.read_one_in, io::ErrorKind::Other)? {
            Luck::Good => {}
            Luck::Error(error) => return Err(error),
            Luck::Cut => return Err(stopped()),
        }
        let file = state.names.get(name).and_then(|id| state.files.get(id));
        let file = file.ok_or(io::ErrorKind::NotFound)?;
        if file.bytes.len() as u64 > bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(file.bytes.clone())
    }

    fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let state = &mut *self.state.borrow_mut();
        let (one_in, kind) = match state.rng.below(2) {
            0 => (state.faults.eio_one_in, io::ErrorKind::Other),
            _ => (state.faults.enospc_one_in, io::ErrorKind::StorageFull),
        };
        let luck = state.call(one_in, kind)?;
        if state.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        match luck {
            Luck::Good => {
                let is_synced = !state.lies.unsynced;
                state.write(name, bytes, is_synced);
                Ok(())
            }
            Luck::Error(error) => {
                state.write_part(name, bytes);
                state.outcome(error)
            }
            Luck::Cut => {
                state.write_part(name, bytes);
                Err(stopped())
            }
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let state = &mut *self.state.borrow_mut();
        let luck = state.call(state.faults.eio_one_in, io::ErrorKind::Other)?;
        let Some(&id) = state.names.get(from) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let is_done = match luck {
            Luck::Good => true,
            Luck::Error(_) | Luck::Cut => state.rng.one_in(2),
        };
        if is_done {
            let replaced = state.names.get(to).and_then(|id| state.files.get(id));
            let replaced = replaced.map(|file| file.bytes.clone());
            state.past.extend(replaced);
            state.change(Op::Rename(from.to_owned(), to.to_owned(), id));
        }
        match luck {
            Luck::Good => Ok(()),
            Luck::Error(error) => state.outcome(error),
            Luck::Cut => Err(stopped()),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let state = &mut *self.state.borrow_mut();
        let luck = state.call(state.faults.eio_one_in, io::ErrorKind::Other)?;
        let is_done = match luck {
            Luck::Good => true,
            Luck::Error(_) | Luck::Cut => state.rng.one_in(2),
        };
        if is_done && let Some(id) = state.names.get(name) {
            let bytes = state.files.get(id).map(|file| file.bytes.clone());
            state.past.extend(bytes);
            state.past.drain(..state.past.len().saturating_sub(PAST_MAX));
            state.change(Op::Unlink(name.to_owned()));
        }
        match luck {
            Luck::Good => Ok(()),
            Luck::Error(error) => state.outcome(error),
            Luck::Cut => Err(stopped()),
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        let state = &mut *self.state.borrow_mut();
        match state.call(state.faults.eio_one_in, io::ErrorKind::Other)? {
            Luck::Good if state.lies.folder_unsynced => Ok(()),
            Luck::Good => {
                state.settle(Fate::Durable);
                Ok(())
            }
            Luck::Error(error) => {
                state.settle(Fate::Doubtful);
                state.outcome(error)
            }
            Luck::Cut => {
                if state.rng.one_in(2) {
                    state.settle(Fate::Durable);
                }
                Err(stopped())
            }
        }
    }
}

fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the simulated machine has stopped")
}

/// Old contents kept.
const PAST_MAX: usize = 8;

#[cfg(test)]
mod tests;
