//! What is known of the files in the folder: one per batch, and those that are to go.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use crate::format::FileName;
use crate::identity::BatchId;
use crate::verify::BatchHash;

/// The file of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownFile {
    pub(super) generation: u64,
    pub(super) bytes: u64,
    /// Of the batch in it; `None` where it could not be read at start, or is to be replaced.
    pub(super) hash: Option<BatchHash>,
    /// It could not be read at start: its batch is not in memory.
    pub(super) is_unread: bool,
}

/// All files of batches.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    known: BTreeMap<BatchId, KnownFile>,
    bytes: u64,
    /// What is to be removed, oldest wish first.
    pub(super) leaving: VecDeque<Leaving>,
}

/// A file that is to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaving {
    pub(super) name: String,
    /// Left by a failed write: perhaps there, perhaps not.
    pub(super) is_debris: bool,
}

impl Files {
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn of(&self, batch: BatchId) -> Option<&KnownFile> {
        self.known.get(&batch)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (BatchId, &KnownFile)> {
        self.known.iter().map(|(batch, file)| (*batch, file))
    }

    /// The file after that of `batch`, round and round.
    pub(super) fn after(&self, batch: Option<BatchId>) -> Option<(BatchId, KnownFile)> {
        let from = batch.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.known.range((from, Bound::Unbounded)).next();
        next.or_else(|| self.known.first_key_value()).map(|(batch, file)| (*batch, *file))
    }

    /// Notes a file; one that the batch had before is to go.
    pub(super) fn insert(&mut self, batch: BatchId, file: KnownFile) {
        self.bytes += file.bytes;
        if let Some(before) = self.known.insert(batch, file) {
            self.bytes -= before.bytes;
            self.remove(name_of(batch, before.generation));
        }
    }

    /// Its content no longer counts: the batch is to be written anew.
    pub(super) fn distrust(&mut self, batch: BatchId) {
        if let Some(file) = self.known.get_mut(&batch) {
            file.hash = None;
        }
    }

    /// Forgets a file that is not there any more.
    pub(super) fn forget(&mut self, batch: BatchId) -> Option<KnownFile> {
        let file = self.known.remove(&batch)?;
        self.bytes -= file.bytes;
        Some(file)
    }

    /// The file of a batch is to go.
    pub(super) fn leave(&mut self, batch: BatchId) {
        if let Some(file) = self.forget(batch) {
            self.remove(name_of(batch, file.generation));
        }
    }

    /// A file was not found where it should be. Should it be there all the same, it is to go.
    pub(super) fn lose(&mut self, batch: BatchId) {
        if let Some(file) = self.forget(batch) {
            self.clear_away(name_of(batch, file.generation));
        }
    }

    /// All are to go.
    pub(super) fn leave_all(&mut self) {
        for (batch, file) in std::mem::take(&mut self.known) {
            self.remove(name_of(batch, file.generation));
        }
        self.bytes = 0;
    }

    /// A file is to be removed.
    pub(super) fn remove(&mut self, name: String) {
        self.leaving.push_back(Leaving { name, is_debris: false });
    }

    /// So is what a failed write may have left. Past the bound that is left to the next start: on
    /// a disk that fails for days, names of what may not even be there must not fill memory.
    pub(super) fn clear_away(&mut self, name: String) {
        if self.leaving.len() < DEBRIS_MAX {
            self.leaving.push_back(Leaving { name, is_debris: true });
        }
    }
}

/// Files to be removed beyond which no debris is noted.
const DEBRIS_MAX: usize = 4_096;

pub(super) fn name_of(batch: BatchId, generation: u64) -> String {
    FileName { batch, generation }.to_string()
}
