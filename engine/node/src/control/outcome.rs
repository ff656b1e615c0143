//! What becomes of batches in the store, for whoever keeps them elsewhere.
//!
//! Every place that learns it calls [`Shared::announce`](crate::shared::Shared::announce), after
//! the store has changed and without its lock.

use bloomrf_engine::identity::BatchId;

/// What became of some batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome<'a> {
    /// The SCC confirmed the hash of a batch that the store holds: it may be written down.
    Verified(BatchId),
    /// Evicted, rejected, unknown to the SCC or deleted by it: to be kept nowhere. May name batches
    /// that were never verified, or never seen.
    Gone(&'a [BatchId]),
}
