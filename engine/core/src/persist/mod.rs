//! The data folder: filters of verified batches, written as they are verified, read at start.
//!
//! Losing the folder costs selectivity, never an answer. A file is whole and of this cluster,
//! schema and name, or it is no filter. [`recover`] makes the folder's content known at start;
//! [`Persister`] then takes one step at a time (a write, removals, a file looked at) on a thread
//! that nobody waits for. Both see the disk through [`Disk`](crate::env::Disk) only.
//!
//! Cost: of a batch, taking its filters out of their groups (20 ns a word), a file of about their
//! size in memory, and two syncs; while the disk fails, some ids a batch.
//!
//! Invariants: a file appears under its name whole or not at all; no file is written under a name
//! that was used before; what leaves the store leaves the folder; a file of a format newer than
//! ours is never touched.

mod aside;
mod config;
mod files;
mod persister;
mod place;
mod publish;
mod recover;
mod scrub;
mod status;
mod waiting;
mod work;

pub use config::PersistConfig;
pub use persister::{Persister, Step};
pub use place::{DiskError, Place};
pub use publish::{TEMPORARY_PREFIX, publish};
pub use recover::{Loaded, Recovery, RecoveryReport, RefusedFile, load, recover, recover_with};
pub use scrub::FileState;
pub use status::{ErrorCount, LastError, PersistStatus, ReasonCount};
pub use work::Job;
