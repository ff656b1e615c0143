//! The bounded store of sealed batches, in chunks of 64 slots with a `live` mask, and the
//! snapshot that lookups read without waiting.
//!
//! One writer ([`Store`]) fills slots in the order in which batches were sealed, judges, and
//! evicts the oldest. Readers ([`StoreReader`]) load an immutable [`Snapshot`] by one pointer.
//! Invariants: a slot is never used twice; all versions of a chunk share one `live` mask; an id
//! is in the index of a snapshot exactly when that snapshot holds its batch.

mod build;
mod chunk;
mod column;
mod current;
mod digest;
mod live;
mod plain;
mod report;
mod resolve;
mod shape;
mod snapshot;
mod split;
mod writer;

pub use chunk::{CHUNK_SLOTS, Chunk};
pub use column::{ChunkColumn, ChunkZones, ColumnGroup, GroupForm};
pub use report::{BatchState, InsertError, StoreStats};
pub use resolve::CandidateRun;
pub use snapshot::{Absence, Place, Snapshot};
pub use writer::{Scrubbed, Store, StoreConfig, StoreReader};
