//! A disk in memory that counts its calls, and fails those that it is told to.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use bloomrf_engine::env::Disk;

/// Clones share one folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Calls so far.
    pub(crate) calls: u64,
    /// The calls that fail.
    pub(crate) fault: Option<Fault>,
    /// Files whose reading fails, always.
    pub(crate) unreadable: Vec<String>,
    /// Nothing can be written.
    pub(crate) is_full: bool,
    pub(crate) syncs: u64,
}

/// Which calls fail, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// First failing call, from 0.
    pub(crate) from: u64,
    /// Failing calls in a row.
    pub(crate) count: u64,
    pub(crate) error: Failure,
    /// The call has its effect, and fails nevertheless.
    pub(crate) is_late: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    Kind(io::ErrorKind),
    /// A system error that has no kind of its own.
    Raw(i32),
}

impl Failure {
    fn error(self) -> io::Error {
        match self {
            Failure::Kind(kind) => io::Error::new(kind, "told to fail"),
            Failure::Raw(code) => io::Error::from_raw_os_error(code),
        }
    }
}

impl FakeDisk {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.state().files.keys().cloned().collect()
    }

    /// Changes the content of a file.
    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        change(self.state().files.get_mut(name).expect("that file"));
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        self.state().files.insert(name.to_owned(), bytes.to_vec());
    }

    /// One call: its effect, where it has one, and its failure.
    fn call<T>(&self, effect: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        let call = state.calls;
        state.calls += 1;
        let fault = state.fault.filter(|f| (f.from..f.from + f.count).contains(&call));
        match fault {
            Some(Fault { error, is_late: false, .. }) => Err(error.error()),
            Some(Fault { error, is_late: true, .. }) => {
                effect(&mut state)?;
                Err(error.error())
            }
            None => effect(&mut state),
        }
    }
}

impl Disk for FakeDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.call(|state| Ok(state.files.keys().cloned().collect()))
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        self.call(|state| {
            if state.unreadable.iter().any(|unreadable| unreadable == name) {
                return Err(io::Error::from_raw_os_error(5));
            }
            let bytes = state.files.get(name).ok_or(io::ErrorKind::NotFound)?;
            if bytes.len() as u64 > bytes_max {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            Ok(bytes.clone())
        })
    }

    fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let written = self.call(|state| {
            if state.files.contains_key(name) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            if state.is_full {
                return Err(io::ErrorKind::StorageFull.into());
            }
            state.files.insert(name.to_owned(), bytes.to_vec());
            state.syncs += 1;
            Ok(())
        });
        if written.is_err() {
            // Half of it is there.
            let half = bytes[..bytes.len() / 2].to_vec();
            self.state().files.entry(name.to_owned()).or_insert(half);
        }
        written
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.call(|state| {
            let bytes = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
            state.files.insert(to.to_owned(), bytes);
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.call(|state| {
            state.files.remove(name);
            Ok(())
        })
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.call(|state| {
            state.syncs += 1;
            Ok(())
        })
    }
}
