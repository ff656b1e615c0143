//! The scrubber of stored files: one at a time, round and round.

use std::io;
use std::sync::Arc;

use super::aside::Fate;
use super::files::KnownFile;
use super::recover::Class;
use super::{DiskError, Loaded, Persister, Place, Step, load};
use crate::env::Disk;
use crate::format::FileName;
use crate::identity::BatchId;
use crate::seal::SealedBatch;

/// How the scrubber found a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// As it was written.
    Whole,
    /// It is not there.
    Missing,
    /// Its content is not what was written.
    Damaged {
        /// Label of the reason.
        reason: &'static str,
    },
    /// The disk did not give it.
    Unreadable,
}

impl Persister {
    /// A resident batch was found damaged and has left the store: its file, if that is whole. The
    /// caller restores it, or else tells [`Persister::on_gone`].
    #[must_use]
    pub fn reload(&self, disk: &dyn Disk, batch: BatchId) -> Option<Arc<SealedBatch>> {
        let file = *self.files.of(batch).filter(|file| file.hash.is_some())?;
        let name = FileName { batch, generation: file.generation };
        match load(disk, &name, &self.config) {
            Loaded::Stored { stored, .. } if Some(stored.batch.hash) == file.hash => {
                Some(Arc::new(stored.batch))
            }
            _ => None,
        }
    }

    /// The next file to look at, when it is due.
    pub(super) fn next_to_scrub(&mut self, now_ns: u64) -> Option<(FileName, KnownFile)> {
        let Some(pause_ns) = self.scrub_pause_ns() else {
            self.scrub_at_ns = None;
            return None;
        };
        let next_ns = now_ns.saturating_add(pause_ns);
        let due_ns = *self.scrub_at_ns.get_or_insert(next_ns);
        if now_ns < due_ns {
            // Files that were added make the pauses shorter.
            self.scrub_at_ns = Some(due_ns.min(next_ns));
            return None;
        }
        self.scrub_at_ns = Some(next_ns);
        let (batch, file) = self.files.after(self.scrubbed_last)?;
        self.scrubbed_last = Some(batch);
        Some((FileName { batch, generation: file.generation }, file))
    }

    /// Looks at a file. A damaged one is replaced from memory where its batch is there, and else
    /// removed.
    pub(super) fn scrub(
        &mut self,
        disk: &dyn Disk,
        name: &FileName,
        file: &KnownFile,
        is_held: bool,
    ) -> Step {
        let loaded = load(disk, name, &self.config);
        let state = state_of(&loaded);
        self.status.scrubbed += 1;
        if state != FileState::Whole {
            self.status.scrub_corrupt += 1;
            self.replace(disk, name, loaded, is_held, file.is_unread);
        }
        Step::Scrubbed { batch: name.batch, state }
    }

    fn replace(
        &mut self,
        disk: &dyn Disk,
        name: &FileName,
        loaded: Loaded,
        is_held: bool,
        is_unread: bool,
    ) {
        let batch = name.batch;
        match loaded {
            // It lost a filter; the others are good.
            Loaded::Stored { .. } => {}
            Loaded::Refused(refusal) => {
                self.status.count_refused(refusal.label());
                self.files.forget(batch);
                let fate = match Class::of(&refusal) {
                    Class::Damaged | Class::Newer => Fate::Keep,
                    Class::Foreign => Fate::Remove,
                };
                if let Err(error) = self.aside.put(disk, name, fate) {
                    self.status.count_error(&error);
                    self.files.remove(name.to_string());
                }
            }
            Loaded::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => {
                self.files.lose(batch);
            }
            Loaded::Unreadable(error) => {
                self.status.count_error(&DiskError::new(Place::Read, error));
                // At start already, and now again.
                if is_unread {
                    self.files.leave(batch);
                }
            }
        }
        if is_held {
            self.rewrite(batch);
        }
    }

    /// When the next file is to be looked at; 0 where that is not settled yet.
    pub(super) fn next_scrub_ns(&self) -> Option<u64> {
        self.scrub_pause_ns().map(|_| self.scrub_at_ns.unwrap_or(0))
    }

    /// Between two files; `None` where nothing is to be looked at.
    fn scrub_pause_ns(&self) -> Option<u64> {
        let files = self.files.len() as u64;
        let is_on = self.config.scrub_ns > 0 && files > 0;
        is_on.then(|| (self.config.scrub_ns / files.max(1)).min(SCRUB_PAUSE_MAX_NS))
    }
}

fn state_of(loaded: &Loaded) -> FileState {
    match loaded {
        Loaded::Stored { stored, .. } => match stored.lost.first() {
            Some(lost) => FileState::Damaged { reason: lost.reason.label() },
            None => FileState::Whole,
        },
        Loaded::Refused(refusal) => FileState::Damaged { reason: refusal.label() },
        Loaded::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => FileState::Missing,
        Loaded::Unreadable(_) => FileState::Unreadable,
    }
}

/// At least one file a minute is looked at.
const SCRUB_PAUSE_MAX_NS: u64 = 60_000_000_000;
