//! One trait for everything that delivers datagrams to a poll loop: `udp` (sockets), `mem`
//! (tests and simulation); the raw ones join them.
//!
//! Hot path: `rx_burst` does not allocate; work bounded by `BURST_MAX`.

pub mod mem;
pub mod udp;

mod waker;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

pub use waker::Waker;

use crate::Burst;

/// A receive queue of some port. One per poll loop; moved into its thread.
pub trait Link: Send {
    /// Fills `burst` (cleared first) with what has arrived; returns at once, also with nothing.
    /// After an error, too, the burst holds what had arrived before it.
    fn rx_burst(&mut self, burst: &mut Burst) -> Result<(), LinkError>;

    /// Sleeps until something arrives, the waker is used, or `timeout` is over.
    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError>;

    /// A handle that ends a `wait` from another thread.
    fn waker(&self) -> Waker;

    /// From now on bursts say where each datagram came from; of sockets that costs some 65 ns a
    /// datagram beside the 570 of the receive call. False where the link cannot tell.
    fn keep_sources(&mut self) -> bool {
        false
    }

    /// Counters.
    fn stats(&self) -> LinkStats;

    /// For logs: kind and address.
    fn describe(&self) -> String;
}

/// Counters of one link. received = delivered in bursts; dropped as far as the link can know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Datagrams delivered.
    pub received: u64,
    /// Bytes delivered.
    pub bytes: u64,
    /// Dropped before delivery (ring full, queue full), as far as the link is told. Sockets are
    /// not: see [`udp::DropGauge`].
    pub dropped: u64,
    /// Datagrams longer than a buffer: cut, and never delivered.
    pub oversize: u64,
}

/// Why a link failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A socket could not be set up.
    #[error("{what} {address}: {source}")]
    Setup {
        /// What was tried: bind, join, ...
        what: &'static str,
        /// On which address.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Sending failed for good.
    #[error("send to {target}: {source}")]
    Send {
        /// Where to.
        target: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// Receiving failed.
    #[error("receive: {0}")]
    Receive(io::Error),
}
