//! A small real cluster to run the filter node against: a controller (SCC) that judges hashes and
//! asks lookups, a storage node that writes batches to a folder, and the broadcaster.
//!
//! A record's way: [`Broadcaster`] → UDP → [`StorageNode`] → batch file → [`Ledger`].
//! A judgement's way: filter node → TCP → [`Scc`] → [`Ledger`] → verdict back.
//! A question's way: [`Consult`] → UDP or TCP → filter node → [`ReadPlan`].
//! The truth comes from the batch files alone, by [`truth`].
//!
//! Invariant: nothing here shares a filter, a key map or a predicate rewriting with the node;
//! storage and node meet only in the chain hash of what they received.
#![forbid(unsafe_code)]

pub mod broadcast;
pub mod lanes;
pub mod pace;
pub mod scc;
pub mod storage;
pub mod truth;

pub use broadcast::{BroadcastConfig, BroadcastError, BroadcastTotals, Broadcaster, FrameSink};
pub use lanes::{LanesError, UdpLanes};
pub use pace::Pace;
pub use scc::{Consult, Fate, Ledger, ReadPlan, Scc, SccConfig, SccError};
pub use storage::{StorageConfig, StorageError, StorageNode, StorageStats};
