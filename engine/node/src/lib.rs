//! The filter node as a library: pinned poll loops that join a link to the engine, the lookup
//! responder, the verification client, HTTP, real clock and disk.
//!
//! Threads: one ingest thread per queue (`poll`), one responder for UDP and one for TCP
//! (`respond`), one control thread (`control`: seal, verify, HTTP).
#![forbid(unsafe_code)]

pub mod config;
pub mod packet;

mod control;
mod env;
mod metrics;
mod poll;
mod respond;

use std::net::SocketAddr;

pub use config::{Config, ConfigError};

/// A running node. Dropping it stops it.
pub struct Node {
    _private: (),
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

/// Why a node did not start: what, where, why, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A setting is impossible.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Node {
    /// Starts all threads; returns when all sockets are bound.
    pub fn start(config: Config) -> Result<Self, StartError> {
        let _ = config;
        todo!("node")
    }

    /// Where it listens.
    #[must_use]
    pub fn ports(&self) -> NodePorts {
        todo!("node")
    }

    /// Numbers, for the demo and tests: the same that `/metrics` shows.
    #[must_use]
    pub fn status(&self) -> NodeStatus {
        todo!("node")
    }

    /// Stops all threads and waits for them.
    pub fn stop(self) {
        todo!("node")
    }
}

/// A moment's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeStatus {
    /// Ingest counters, summed over the queues.
    pub ingest: bloomrf_engine::ingest::IngestStats,
    /// Store counters.
    pub store: bloomrf_engine::store::StoreStats,
    /// Batches given up as incomplete.
    pub incomplete: u64,
    /// Datagrams that the links know to be lost.
    pub dropped: u64,
    /// Verdicts of mismatch.
    pub verify_mismatch: u64,
}
