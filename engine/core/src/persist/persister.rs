//! Keeps the folder what the store is: a file per verified batch, none of any other.
//!
//! A state machine: events name batches, [`Persister::step`] does one thing with the disk. What is
//! to be written is taken from the snapshot when its turn comes, so that a disk that is full for
//! hours costs ids, not filters. After a failure nothing is tried for a while, longer each time;
//! then the same work is tried under another name.

use super::aside::Aside;
use super::files::{Files, KnownFile};
use super::waiting::Waiting;
use super::{FileState, PersistConfig, PersistStatus, Place, Recovery};
use crate::format::{EncodeError, FileName};
use crate::identity::BatchId;
use crate::seal::SealedBatch;
use crate::store::Snapshot;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Nothing was due.
    Idle,
    /// A batch has its file.
    Written(FileName),
    /// Files were removed, or what failed writes left behind.
    Removed {
        /// How many of batches.
        files: usize,
    },
    /// The folder was made durable, proven to be writable, or compared with what is known of it.
    Tended,
    /// A file was looked at.
    Scrubbed {
        /// Whose.
        batch: BatchId,
        /// How it was found.
        state: FileState,
    },
    /// A batch cannot be stored as a file; it is given up.
    Unstorable {
        /// Batch.
        batch: BatchId,
        /// Why.
        error: EncodeError,
    },
    /// The disk failed; [`PersistStatus::last_error`] says how. It will be tried again.
    Failed {
        /// Where.
        place: Place,
    },
}

/// The state machine.
#[derive(Debug)]
pub struct Persister {
    pub(super) config: PersistConfig,
    pub(super) files: Files,
    pub(super) aside: Aside,
    pub(super) status: PersistStatus,
    pub(super) waiting: Waiting,
    pub(super) generation_next: u64,
    /// A change of names is not durable yet.
    pub(super) is_unsynced: bool,
    /// Nothing else would show whether the disk can be written.
    pub(super) probe_due: bool,
    /// The disk failed meanwhile: who knows what is in the folder.
    pub(super) compare_due: bool,
    /// Files were found missing.
    pub(super) reconcile_due: bool,
    /// A removal failed last: writes come first.
    pub(super) writes_first: bool,
    pub(super) backoff_ns: u64,
    /// Nothing is written before.
    pub(super) retry_at_ns: u64,
    pub(super) scrub_at_ns: Option<u64>,
    pub(super) scrubbed_last: Option<BatchId>,
}

impl Persister {
    /// Goes on where a start has left the folder.
    #[must_use]
    pub fn new(config: PersistConfig, recovery: &Recovery) -> Self {
        let mut persister = Persister {
            files: recovery.files.clone(),
            aside: recovery.aside.clone(),
            status: recovery.report.status.clone(),
            waiting: Waiting::default(),
            generation_next: recovery.generation_next,
            is_unsynced: recovery.is_unsynced,
            probe_due: true,
            compare_due: false,
            reconcile_due: false,
            writes_first: false,
            backoff_ns: config.retry_ns,
            retry_at_ns: 0,
            scrub_at_ns: None,
            scrubbed_last: None,
            config,
        };
        persister.count();
        persister
    }

    /// A batch was verified: it wants a file.
    pub fn on_verified(&mut self, batch: BatchId) {
        self.waiting.push(batch);
        self.count();
    }

    /// Batches were evicted, rejected, deleted or replaced: their files go.
    pub fn on_gone(&mut self, batches: &[BatchId]) {
        for &batch in batches {
            self.waiting.drop(batch);
            self.files.leave(batch);
        }
        self.count();
    }

    /// A schema change: every file goes, and nothing that waits is written any more.
    pub fn discard_all(&mut self) {
        self.waiting.clear();
        self.files.leave_all();
        self.writes_first = false;
        self.count();
    }

    /// Compares with what the store holds, for who was not told of every event: batches that may
    /// be consulted want files, files of others go. Cost: a look at every batch.
    pub fn reconcile(&mut self, snapshot: &Snapshot) {
        for chunk in snapshot.chunks() {
            let live = chunk.live();
            let slots = (0..64).filter(|slot| live >> slot & 1 == 1);
            for batch in slots.filter_map(|slot| chunk.slot(slot)) {
                let is_stored =
                    self.files.of(batch.batch).is_some_and(|f| f.hash == Some(batch.hash));
                if !is_stored {
                    self.waiting.push(batch.batch);
                }
            }
        }
        let gone = |(batch, file): (BatchId, &KnownFile)| {
            let is_gone = match held(snapshot, batch) {
                // Another content under the same id.
                Some((held, _)) => file.hash.is_some_and(|hash| hash != held.hash),
                None => !file.is_unread,
            };
            is_gone.then_some(batch)
        };
        let gone: Vec<BatchId> = self.files.iter().filter_map(gone).collect();
        for batch in gone {
            self.files.leave(batch);
        }
        self.count();
    }

    /// When the next step is due: 0 for at once, `None` while there is nothing to do.
    #[must_use]
    pub fn next_step_ns(&self) -> Option<u64> {
        let work = self.has_work().then_some(self.retry_at_ns);
        work.into_iter().chain(self.next_scrub_ns()).min()
    }

    /// Numbers.
    #[must_use]
    pub fn status(&self) -> &PersistStatus {
        &self.status
    }

    /// Whether a batch has a whole file.
    #[must_use]
    pub fn is_stored(&self, batch: BatchId) -> bool {
        self.files.of(batch).is_some_and(|file| file.hash.is_some())
    }

    /// Batches that have a whole file, ascending.
    pub fn stored(&self) -> impl Iterator<Item = BatchId> + '_ {
        self.files.iter().filter(|(_, file)| file.hash.is_some()).map(|(batch, _)| batch)
    }

    /// The batch wants another file than the one it has, if it has one.
    pub(super) fn rewrite(&mut self, batch: BatchId) {
        self.files.distrust(batch);
        self.waiting.push(batch);
    }

    pub(super) fn count(&mut self) {
        self.status.files = self.files.len() as u64;
        self.status.bytes = self.files.bytes();
        self.status.waiting = self.waiting.len() as u64;
        self.status.removing = self.files.leaving.len() as u64;
    }
}

/// A batch that the snapshot holds, and whether it may be consulted.
pub(super) fn held(snapshot: &Snapshot, batch: BatchId) -> Option<(&SealedBatch, bool)> {
    let place = snapshot.place(batch)?;
    let chunk = snapshot.chunks().get(place.chunk as usize)?;
    let sealed = chunk.slot(place.slot as usize)?;
    Some((sealed, chunk.live() >> place.slot & 1 == 1))
}
