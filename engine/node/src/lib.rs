//! The filter node as a library: pinned poll loops that join a link to the engine, the lookup
//! responder, the verification client, HTTP, real clock and disk.
//!
//! Threads: one ingest thread per queue (`poll`), one responder for UDP and one for TCP
//! (`respond`), one seal thread of low priority and one control thread (`control`: verification
//! stream, HTTP). The library only emits `tracing` events; who runs it installs a subscriber.
#![forbid(unsafe_code)]

pub mod config;
pub mod disk;
pub mod keys;
pub mod packet;

mod control;
mod env;
mod metrics;
mod networks;
mod persist;
mod poll;
mod port;
mod respond;
mod seed;
mod shared;
mod start;
mod tap;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;

pub use config::{Config, ConfigError};
pub use networks::Networks;
pub use persist::PersistNumbers;
pub use poll::FrameAccount;
pub use start::{StartError, Surroundings};

use shared::Shared;
use start::Threads;

/// A running node. Dropping it stops it.
pub struct Node {
    ports: NodePorts,
    shared: Arc<Shared>,
    threads: Threads,
}

/// Where a node really listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodePorts {
    /// Ingest broadcast, UDP.
    pub ingest: SocketAddr,
    /// Lookup, UDP and TCP.
    pub lookup: SocketAddr,
    /// HTTP.
    pub http: SocketAddr,
}

impl Node {
    /// Starts all threads; returns when all sockets are bound.
    pub fn start(config: Config) -> Result<Self, StartError> {
        Self::start_in(config, Surroundings::default())
    }

    /// The same with other links or another clock than the machine's: for tests and simulation.
    pub fn start_in(config: Config, surroundings: Surroundings) -> Result<Self, StartError> {
        start::start(config, surroundings)
    }

    /// Where it listens.
    #[must_use]
    pub fn ports(&self) -> NodePorts {
        self.ports
    }

    /// Numbers, for the demo and tests: the same that `/metrics` shows.
    #[must_use]
    pub fn status(&self) -> NodeStatus {
        self.shared.status()
    }

    /// Stops all threads and waits for them. What links of this process share stays, for another
    /// node of it: see [`shutdown`].
    pub fn stop(mut self) {
        self.threads.stop();
    }
}

/// Ends what the links of this process share, which is DPDK's environment: its memory and its
/// folder are gone then. To be called last, when every node of the process has stopped. A port of
/// DPDK cannot be opened afterwards, since the environment starts once in a process.
///
/// # Errors
/// Buffers had not come back to DPDK when their port was closed: a defect, told for the log.
pub fn shutdown() -> Result<(), bloomrf_netio::LinkError> {
    bloomrf_netio::link::shutdown()
}

/// A moment's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeStatus {
    /// Ingest counters, summed over the queues.
    pub ingest: bloomrf_engine::ingest::IngestStats,
    /// What came to the queues and what became of it, all of them together.
    pub frames: FrameAccount,
    /// Store counters.
    pub store: bloomrf_engine::store::StoreStats,
    /// Batches given up as incomplete.
    pub incomplete: u64,
    /// Datagrams that the links and the system know to be lost.
    pub dropped: u64,
    /// Verdicts of mismatch.
    pub verify_mismatch: u64,
    /// Of the data folder.
    pub persist: PersistNumbers,
    /// Frames asked for again, and what came of it.
    pub repair: bloomrf_engine::seal::RepairStats,
    /// Lanes that came to a queue where they were not expected.
    pub lanes: bloomrf_engine::seal::LaneStats,
    /// Packets of a tap.
    pub packets: packet::PacketCounts,
}
