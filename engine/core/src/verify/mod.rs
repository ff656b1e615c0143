//! Proof of receipt: the chain hash of a batch, and the node's side of the verification stream.

mod chain;
mod deleted;
mod session;

pub use chain::{BatchHash, ChainHasher, Digest, HashAlgorithm, HashNameError, frame_digest};
pub use deleted::DeletedBatches;
pub use session::{Session, SessionConfig, SessionEvent};
