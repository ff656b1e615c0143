//! What the store tells about itself and its batches.

/// State of a batch, for `/batches` and explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BatchState {
    /// Sealed, not judged yet.
    Pending,
    /// May be consulted.
    Verified,
    /// The SCC's hash differs: never consulted. Its memory is given back at once, so
    /// [`Store::list`](super::Store::list) does not show it;
    /// [`Snapshot::absence`](super::Snapshot::absence) remembers it.
    Rejected,
}

/// Numbers for `/metrics`; `filters_*` count batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Verified batches held.
    pub verified: u64,
    /// Pending batches held.
    pub pending: u64,
    /// Rejected so far.
    pub rejected: u64,
    /// Evicted so far.
    pub evicted: u64,
    /// Left so far because their filters or zone maps changed in memory.
    pub corrupt: u64,
    /// Bytes of filters in all: plain, in groups (dead slots included), at work, and what
    /// snapshots of readers still hold of those that left.
    pub bytes: u64,
    /// Bytes of plain filters.
    pub plain_bytes: u64,
    /// Bytes of bit-sliced groups.
    pub sliced_bytes: u64,
    /// Bytes of groups that belong to slots that are dead.
    pub dead_bytes: u64,
    /// Bit-sliced groups, one per column of a chunk.
    pub groups: u64,
    /// Batches held of which at least one column is in a group.
    pub sliced_batches: u64,
}

/// Why a sealed batch was not kept: it has no filter, and reads "found".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// Larger than the whole arena.
    #[error(
        "its filters take {bytes} B and the whole arena is {arena_bytes} B: raise \
         FERMIHDI_SEASTAR_MEMORY or send smaller batches"
    )]
    TooLarge {
        /// Bytes of its filters.
        bytes: usize,
        /// Bytes of the arena.
        arena_bytes: usize,
    },
    /// Its id was seen before: held with the same hash, evicted or rejected not long ago.
    #[error("its id was seen before, and ids are never reused within a cluster")]
    SeenBefore,
    /// Another batch was held under its id. Nobody knows which of the two is asked about: that
    /// one is rejected now.
    #[error("another batch was held under its id: neither has a filter from now on")]
    OtherContent,
    /// Readers hold evicted batches of more than a quarter of the arena.
    #[error(
        "lookups under way hold {retired_bytes} B of evicted batches, more than a quarter of the \
         arena: nothing is kept until they end"
    )]
    HeldByReaders {
        /// Bytes of evicted batches that readers still hold.
        retired_bytes: usize,
    },
}
