//! What a lookup sees: an immutable list of chunks and the order of ids in them.

use std::sync::Arc;

use super::Chunk;
use super::resolve::IdRun;
use crate::identity::BatchId;

/// Where a batch lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the chunk.
    pub chunk: u32,
    /// Slot in it.
    pub slot: u32,
}

/// Why a batch has no usable filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Absence {
    /// Never seen, deleted, too large for the arena, or gone too long to be remembered.
    NoFilter,
    /// Sealed, not judged yet.
    Pending,
    /// The SCC's hash differs.
    Rejected,
    /// It made room for a newer one.
    Evicted,
    /// Its filter or zone map changed in memory.
    Corrupt,
}

/// An immutable view of the store. Held for the length of one lookup.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) chunks: Vec<Arc<Chunk>>,
    /// Batches held, sorted by id.
    pub(super) index: Arc<[(BatchId, Place)]>,
    /// The same as runs: what candidates are resolved with.
    pub(super) runs: Arc<[IdRun]>,
    /// Batches that left not long ago, sorted by id.
    pub(super) gone: Arc<[(BatchId, Absence)]>,
}

impl Snapshot {
    /// The chunks.
    #[must_use]
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// Where `batch` lies, if the store holds it (live or not).
    #[must_use]
    pub fn place(&self, batch: BatchId) -> Option<Place> {
        let at = self.index.binary_search_by_key(&batch, |entry| entry.0).ok()?;
        Some(self.index[at].1)
    }

    /// Why `batch` has no live slot. For one that has, the answer is `Pending` (its verdict may
    /// have come since).
    #[must_use]
    pub fn absence(&self, batch: BatchId) -> Absence {
        if self.place(batch).is_some() {
            return Absence::Pending;
        }
        match self.gone.binary_search_by_key(&batch, |entry| entry.0) {
            Ok(at) => self.gone[at].1,
            Err(_) => Absence::NoFilter,
        }
    }

    /// Why the known ones among `first..first + count` have no live slot: those held and not live,
    /// and those gone. Every other one that has none is [`Absence::NoFilter`].
    pub fn absences_in(&self, first: BatchId, count: u32) -> impl Iterator<Item = Absence> + '_ {
        let held = within(&self.index, first, count).iter().filter(|(_, place)| {
            let chunk = self.chunks.get(place.chunk as usize);
            chunk.is_none_or(|chunk| chunk.live() >> place.slot & 1 == 0)
        });
        let gone = within(&self.gone, first, count).iter().map(|entry| entry.1);
        held.map(|_| Absence::Pending).chain(gone)
    }

    /// Ids of all batches held (live or not), ascending.
    pub fn batches(&self) -> impl ExactSizeIterator<Item = BatchId> + '_ {
        self.index.iter().map(|entry| entry.0)
    }
}

/// The entries with ids in `first..first + count`, of entries sorted by id.
fn within<T>(entries: &[(BatchId, T)], first: BatchId, count: u32) -> &[(BatchId, T)] {
    let from = entries.partition_point(|entry| entry.0 < first);
    let rest = &entries[from..];
    let to = rest.partition_point(|entry| entry.0 - first < u64::from(count));
    &rest[..to]
}
