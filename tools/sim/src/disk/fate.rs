//! Changes of names and what becomes of them when the power fails.

use std::collections::{BTreeMap, BTreeSet};

use super::State;

/// Names and the files they stand for.
pub(super) type Names = BTreeMap<String, u64>;

/// One change of names.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Link(String, u64),
    /// In one step, and to the file that had the name then.
    Rename(String, String, u64),
    Unlink(String),
}

impl Op {
    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            Op::Link(name, id) => {
                names.insert(name.clone(), *id);
            }
            Op::Rename(from, to, id) => {
                if names.get(from) == Some(id) {
                    names.remove(from);
                }
                names.insert(to.clone(), *id);
            }
            Op::Unlink(name) => {
                names.remove(name);
            }
        }
    }
}

/// A change and whether it is safe.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) op: Op,
    pub(super) fate: Fate,
}

/// What a power cut does to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Undone or kept; the next sync makes it safe.
    Pending,
    /// Kept.
    Durable,
    /// Undone or kept, for ever: a sync failed.
    Doubtful,
}

impl State {
    /// Gives every pending change its fate, and forgets those that can be told from the base.
    pub(super) fn settle(&mut self, fate: Fate) {
        for change in &mut self.log {
            if change.fate == Fate::Pending {
                change.fate = fate;
            }
        }
        let settled = self.log.iter().take_while(|change| change.fate == Fate::Durable).count();
        for change in self.log.drain(..settled) {
            change.op.apply(&mut self.base);
        }
        self.forget_files();
    }

    /// Names and bytes as a power cut leaves them.
    pub(super) fn lose_power(&mut self) {
        let mut names = std::mem::take(&mut self.base);
        for change in self.log.drain(..) {
            if change.fate == Fate::Durable || self.rng.one_in(2) {
                change.op.apply(&mut names);
            }
        }
        self.names = names.clone();
        self.base = names;
        self.forget_files();
        let unsafe_files = self.files.values_mut().filter(|file| !file.is_synced);
        for file in unsafe_files {
            let length = self.rng.below(file.bytes.len() as u64 + 1) as usize;
            if self.rng.one_in(2) {
                file.bytes.truncate(length);
            }
            for sector in file.bytes.chunks_mut(SECTOR_BYTES) {
                match self.rng.below(3) {
                    0 => sector.fill(0),
                    1 => sector.fill_with(|| self.rng.next() as u8),
                    _ => {}
                }
            }
            file.is_synced = true;
        }
    }

    fn forget_files(&mut self) {
        let logged = self.log.iter().filter_map(|change| match &change.op {
            Op::Link(_, id) | Op::Rename(_, _, id) => Some(*id),
            Op::Unlink(_) => None,
        });
        let ids = self.names.values().chain(self.base.values()).copied().chain(logged);
        let named: BTreeSet<u64> = ids.collect();
        self.files.retain(|id, _| named.contains(id));
    }
}

/// What a disk writes at once.
const SECTOR_BYTES: usize = 512;
