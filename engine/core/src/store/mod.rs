//! The bounded store of sealed batches, in chunks of 64 slots with a `live` mask, and the
//! snapshot that lookups read without waiting.

mod chunk;
mod snapshot;
mod writer;

pub use chunk::{CHUNK_SLOTS, Chunk};
pub use snapshot::{Place, Snapshot};
pub use writer::{BatchState, Store, StoreConfig, StoreReader, StoreStats};
