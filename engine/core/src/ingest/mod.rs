//! From frames to partials: what one receive queue does.
//!
//! Each queue owns a [`Queue`]; nothing is shared but the [`OpenBoard`], where the first queue to
//! open a batch writes down the size that all queues must use. Partials are per (open batch,
//! queue): any lane may arrive on any queue. Two batches may be open at once; a third batch id,
//! or a time limit without progress, ends the oldest as incomplete.
//!
//! Rows wait in chunks ([`PendingRows`]) and are inserted column by column; a partial that leaves
//! the queue has none waiting.
//!
//! Hot path: everything below, from a datagram to filter bits.

mod board;
mod frames;
mod partial;
mod pending;
mod queue;
mod recent;
mod stats;
mod totals;

pub use board::OpenBoard;
pub use frames::{FrameEntry, FrameTable, Offer};
pub use partial::Partial;
pub use pending::{CHUNK_ROWS, PendingRows};
pub use queue::{IngestConfig, Queue, QueueCommand, QueueEvent, Tuning};
pub(crate) use recent::RecentBatches;
pub use stats::{IngestStats, RefuseReason};
pub use totals::BatchTotals;

#[cfg(test)]
pub(crate) mod tests;
