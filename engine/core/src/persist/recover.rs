//! The folder at start: what can be loaded is loaded, newest first; what must go is removed.
//!
//! Only a folder that cannot be listed is an error. A file that cannot be read, is damaged or of
//! no use costs its batch's filters, is counted, and never stops a start.
//!
//! Cost: every file is read once, 64 at a time, so that a caller may load them side by side; of
//! the files that are not kept no more than 64 are in memory at once.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use super::aside::{Aside, Fate, parse_aside};
use super::files::{Files, KnownFile};
use super::publish::PROBE_NAME;
use super::{DiskError, PersistConfig, PersistStatus, Place, TEMPORARY_PREFIX};
use crate::env::Disk;
use crate::format::{FileName, FileRefusal, LostSection, Stored, VERSION, decode};
use crate::identity::BatchId;
use crate::limits::FILE_BYTES_MAX;
use crate::seal::SealedBatch;

/// What a start found.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Whole batches, oldest first. All of them were verified.
    pub batches: Vec<Arc<SealedBatch>>,
    /// What happened, for the log.
    pub report: RecoveryReport,
    pub(super) files: Files,
    pub(super) aside: Aside,
    pub(super) generation_next: u64,
    /// A change of names is not durable yet.
    pub(super) is_unsynced: bool,
}

/// What a start did.
#[derive(Clone, Debug, Default)]
pub struct RecoveryReport {
    /// Bytes of all files read.
    pub bytes_read: u64,
    /// Bytes of the filters that were loaded.
    pub filter_bytes: u64,
    /// Files removed: older than the newest that may be held, or replaced by a newer file.
    pub surplus: u64,
    /// Files removed: of another cluster or schema.
    pub foreign: u64,
    /// Unfinished writes removed.
    pub temporaries: u64,
    /// Files refused, newest first.
    pub refused: Vec<RefusedFile>,
    /// Files left alone that could not be read.
    pub unreadable: Vec<String>,
    /// Filters that loaded files had lost.
    pub lost: Vec<(BatchId, LostSection)>,
    /// Counters, where [`Persister`](super::Persister) goes on.
    pub status: PersistStatus,
}

/// A file that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFile {
    /// Name that it had.
    pub name: String,
    /// Label of the reason.
    pub reason: &'static str,
    /// Kept aside for people to look at.
    pub is_kept: bool,
}

/// A file, read.
#[derive(Debug)]
pub enum Loaded {
    /// Whole, but for the sections that it tells of.
    Stored {
        /// Content.
        stored: Box<Stored>,
        /// Length of the file.
        bytes: u64,
    },
    /// No filter.
    Refused(FileRefusal),
    /// The disk did not give it.
    Unreadable(io::Error),
}

/// Reads a file, and once more where the disk fails.
#[must_use]
pub fn load(disk: &dyn Disk, name: &FileName, config: &PersistConfig) -> Loaded {
    let text = name.to_string();
    let read = disk.read(&text, FILE_BYTES_MAX).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge => Err(error),
        _ => disk.read(&text, FILE_BYTES_MAX),
    });
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) => return Loaded::Unreadable(error),
    };
    match decode(&bytes, name, &config.origin, &config.schema) {
        Ok(stored) => Loaded::Stored { stored: Box::new(stored), bytes: bytes.len() as u64 },
        Err(refusal) => Loaded::Refused(refusal),
    }
}

/// Makes the folder's content known, one file after the other. The only error is a folder that
/// cannot be listed.
pub fn recover(disk: &dyn Disk, config: &PersistConfig) -> io::Result<Recovery> {
    recover_with(disk, config, &mut |names| {
        names.iter().map(|name| load(disk, name, config)).collect()
    })
}

/// The same, with files read by `load_many`: one answer of [`load`] per name, in their order.
pub fn recover_with(
    disk: &dyn Disk,
    config: &PersistConfig,
    load_many: &mut dyn FnMut(&[FileName]) -> Vec<Loaded>,
) -> io::Result<Recovery> {
    let mut names = Vec::new();
    let mut aside = Vec::new();
    let mut recovering = Recovering {
        disk,
        config,
        recovery: Recovery { generation_next: 1, ..Recovery::default() },
        left: Left { batches: config.retain_batches, bytes: config.arena_bytes },
        loaded: BTreeSet::new(),
    };
    for name in disk.list()? {
        if name.starts_with(TEMPORARY_PREFIX) || name == PROBE_NAME {
            recovering.recovery.report.temporaries += 1;
            recovering.remove(&name);
        } else if let Ok(name) = name.parse::<FileName>() {
            names.push(name);
        } else {
            aside.extend(parse_aside(&name));
        }
    }
    let generations = names.iter().chain(&aside).map(|name| name.generation);
    let highest = generations.filter(|&generation| generation < GENERATION_MAX).max();
    recovering.recovery.generation_next = highest.unwrap_or(0) + 1;
    recovering.recovery.aside = Aside::of(aside.into_iter());
    // The process before may have been killed between a rename and its sync: what is loaded now
    // must not be lost with the next power cut.
    recovering.recovery.is_unsynced |= !names.is_empty();
    names.sort_by_key(|name| std::cmp::Reverse((name.generation, name.batch)));
    for some in names.chunks(LOAD_TOGETHER) {
        for (name, loaded) in some.iter().zip(load_many(some)) {
            recovering.take(name, loaded);
        }
    }
    Ok(recovering.finish())
}

/// Files that are loaded together.
const LOAD_TOGETHER: usize = 64;
/// No file of ours comes near this generation; one that says so does not count for the next.
const GENERATION_MAX: u64 = 1 << 62;

/// Room for more batches.
struct Left {
    batches: usize,
    bytes: usize,
}

struct Recovering<'a> {
    disk: &'a dyn Disk,
    config: &'a PersistConfig,
    recovery: Recovery,
    left: Left,
    loaded: BTreeSet<BatchId>,
}

impl Recovering<'_> {
    /// Decides about one file; they come newest first.
    fn take(&mut self, name: &FileName, loaded: Loaded) {
        match loaded {
            Loaded::Stored { stored, bytes } => self.keep(name, *stored, bytes),
            Loaded::Refused(refusal) => match Class::of(&refusal) {
                Class::Newer => self.recovery.report.status.newer += 1,
                Class::Foreign => {
                    self.recovery.report.foreign += 1;
                    self.remove(&name.to_string());
                }
                Class::Damaged => self.refuse(name, refusal.label(), Fate::Keep),
            },
            Loaded::Unreadable(error) => match error.kind() {
                io::ErrorKind::NotFound => {}
                // Too large to be kept aside.
                io::ErrorKind::FileTooLarge => {
                    self.refuse(name, PersistStatus::TOO_LARGE, Fate::Remove);
                }
                _ => self.leave_unread(name, error),
            },
        }
    }

    fn keep(&mut self, name: &FileName, stored: Stored, bytes: u64) {
        let report = &mut self.recovery.report;
        report.bytes_read += bytes;
        let filter_bytes = stored.batch.filter_bytes();
        let fits = filter_bytes <= self.left.bytes;
        if self.left.batches == 0 || !fits || self.loaded.contains(&name.batch) {
            // Newest first: once one finds no room, all older ones go, unless it alone is too
            // large for the whole arena.
            if !fits && filter_bytes <= self.config.arena_bytes {
                self.left.batches = 0;
            }
            report.surplus += 1;
            return self.remove(&name.to_string());
        }
        self.left.batches -= 1;
        self.left.bytes -= filter_bytes;
        self.loaded.insert(name.batch);
        report.filter_bytes += filter_bytes as u64;
        report.status.recovered += 1;
        report.status.sections_lost += stored.lost.len() as u64;
        report.lost.extend(stored.lost.into_iter().map(|lost| (name.batch, lost)));
        let file = KnownFile {
            generation: name.generation,
            bytes,
            hash: Some(stored.batch.hash),
            is_unread: false,
        };
        // A newer file of the same batch that could not be read is to go.
        self.recovery.files.insert(name.batch, file);
        self.recovery.batches.push(Arc::new(stored.batch));
    }

    fn refuse(&mut self, name: &FileName, reason: &'static str, fate: Fate) {
        self.recovery.report.status.count_refused(reason);
        self.recovery.is_unsynced = true;
        let put = self.recovery.aside.put(self.disk, name, fate);
        let is_kept = put.as_ref().is_ok_and(|kept| *kept);
        if let Err(error) = put {
            self.recovery.report.status.count_error(&error);
            self.recovery.files.remove(name.to_string());
        }
        let name = name.to_string();
        self.recovery.report.refused.push(RefusedFile { name, reason, is_kept });
    }

    /// The disk may give it another time: it stays, and takes no other's place.
    fn leave_unread(&mut self, name: &FileName, error: io::Error) {
        let report = &mut self.recovery.report;
        report.status.count_error(&DiskError::new(Place::Read, error));
        report.status.count_refused(PersistStatus::UNREADABLE);
        report.unreadable.push(name.to_string());
        if self.left.batches == 0 || self.recovery.files.of(name.batch).is_some() {
            report.surplus += 1;
            return self.remove(&name.to_string());
        }
        let generation = name.generation;
        let file = KnownFile { generation, bytes: 0, hash: None, is_unread: true };
        self.recovery.files.insert(name.batch, file);
    }

    fn remove(&mut self, name: &str) {
        self.recovery.is_unsynced = true;
        if let Err(error) = self.disk.remove(name) {
            let error = DiskError::new(Place::Remove, error);
            self.recovery.report.status.count_error(&error);
            self.recovery.files.remove(name.to_owned());
        }
    }

    fn finish(mut self) -> Recovery {
        let recovery = &mut self.recovery;
        if let Err(error) = recovery.aside.trim(self.disk) {
            recovery.report.status.count_error(&error);
        }
        if recovery.is_unsynced {
            recovery.report.status.syncs += 1;
            match self.disk.sync_folder() {
                Ok(()) => recovery.is_unsynced = false,
                Err(error) => {
                    recovery.report.status.syncs -= 1;
                    recovery.report.status.count_error(&DiskError::new(Place::Sync, error));
                }
            }
        }
        recovery.batches.reverse();
        self.recovery
    }
}

/// What a refusal says of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Of another cluster or schema.
    Foreign,
    /// Of a format that only later versions read.
    Newer,
    /// Of no use to anybody.
    Damaged,
}

impl Class {
    pub(super) fn of(refusal: &FileRefusal) -> Self {
        match refusal {
            FileRefusal::Cluster { .. }
            | FileRefusal::Schema { .. }
            | FileRefusal::SchemaVersion { .. } => Class::Foreign,
            FileRefusal::Version { found } if *found > VERSION => Class::Newer,
            FileRefusal::Feature { .. } => Class::Newer,
            _ => Class::Damaged,
        }
    }
}
