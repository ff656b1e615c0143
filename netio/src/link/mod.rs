//! One trait for everything that delivers frames or datagrams to a poll loop: `udp` (sockets),
//! `mem` (tests and simulation), `pcap` (replay), and the raw ones; where a link delivers frames,
//! the node parses them by itself.
//!
//! Hot path: `rx_burst` neither allocates nor copies where the system shares its memory; work
//! bounded by `BURST_MAX`.

#[cfg(target_os = "linux")]
pub mod af_packet;
#[cfg(feature = "dpdk")]
pub mod dpdk;
pub mod mem;
mod open;
pub mod pcap;
mod spec;
pub mod udp;

mod waker;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

pub use open::{Port, PortOptions, open, shutdown};
pub use spec::{LinkKind, LinkSpec, SpecError};
pub use waker::Waker;

use crate::burst::Burst;

/// A receive queue of some port. One per poll loop; moved into its thread.
pub trait Link: Send {
    /// Fills `burst`, which is empty, with what has arrived; returns at once, also with nothing.
    /// After an error, too, the burst holds what had arrived before it. The frames lie in the
    /// link's memory, which its next call takes back.
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError>;

    /// Sleeps until something arrives, the waker is used, or `timeout` is over.
    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError>;

    /// A handle that ends a `wait` from another thread.
    fn waker(&self) -> Waker;

    /// What bursts hold.
    fn framing(&self) -> Framing {
        Framing::Payloads
    }

    /// From now on bursts say where each datagram came from; of sockets that costs some 65 ns a
    /// datagram beside the 570 of the receive call. False where the link cannot tell. Frames
    /// always do.
    fn keep_sources(&mut self) -> bool {
        false
    }

    /// Counters. May cost a system call: for once a batch or a tenth of a second, not for once a
    /// burst.
    fn stats(&self) -> LinkStats;

    /// For logs: kind and address.
    fn describe(&self) -> String;

    /// True where nothing more will ever arrive: a capture has been played to its end.
    fn is_exhausted(&self) -> bool {
        false
    }
}

/// What the bursts of a link hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Payloads of UDP datagrams to the port listened on: the system has parsed the headers.
    Payloads,
    /// Whole frames, from the link-layer header on, whatever they carry.
    Frames,
}

/// The sending half of a raw port: whole frames out.
pub trait FrameSender: Send {
    /// Sends one Ethernet frame, without its checksum; false (and counted by the link) where there
    /// is no room at this moment.
    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError>;

    /// The port's own address.
    fn mac(&self) -> [u8; 6];
}

/// Counters of one link: what came to its queue = received + oversize + dropped. What the system
/// cannot tell of one queue is counted at queue 0 of its port, so that sums over queues are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Frames or datagrams delivered.
    pub received: u64,
    /// Bytes delivered.
    pub bytes: u64,
    /// Dropped before delivery, by place. Of sockets the system tells it elsewhere: see
    /// [`udp::DropGauge`].
    pub dropped: Drops,
    /// Longer than a buffer, or in several pieces: never delivered.
    pub oversize: u64,
    /// Moves whenever anything may have been lost before this queue: at its port, its ring or
    /// another queue of the port. For [`Framing::Frames`] only.
    pub loss_mark: u64,
}

/// What was dropped before delivery, by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// By the port: no free descriptor (`imissed`).
    pub port: u64,
    /// No buffer to receive into (`rx_nombuf`).
    pub no_buffer: u64,
    /// A ring, or a queue in memory, was full.
    pub ring: u64,
    /// Damaged on the wire, as the port says (`ierrors`).
    pub errors: u64,
}

impl Drops {
    /// All places.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.port + self.no_buffer + self.ring + self.errors
    }

    /// Places with their counts, for metrics.
    #[must_use]
    pub fn by_place(&self) -> [(&'static str, u64); 4] {
        let Drops { port, no_buffer, ring, errors } = *self;
        [("port", port), ("no_buffer", no_buffer), ("ring", ring), ("errors", errors)]
    }
}

impl std::ops::AddAssign for Drops {
    fn add_assign(&mut self, other: Self) {
        self.port += other.port;
        self.no_buffer += other.no_buffer;
        self.ring += other.ring;
        self.errors += other.errors;
    }
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
    /// This program was built without it.
    #[error("{kind}: this program was built without it; build it with `--features {kind}`")]
    NotBuilt {
        /// The kind of link.
        kind: &'static str,
    },
    /// A port of DPDK: its own reason, and what to do. Boxed: it is large.
    #[cfg(feature = "dpdk")]
    #[error(transparent)]
    Dpdk(Box<bloomrf_dpdk::DpdkError>),
    /// Options of a port that cannot be.
    #[error("{option}: {expected}")]
    Option {
        /// As it was given.
        option: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// A port of `af_packet` does not open, or does not send.
    #[cfg(target_os = "linux")]
    #[error("af_packet:{interface}: {source}")]
    AfPacket {
        /// Its interface.
        interface: String,
        /// Why, with what to do.
        source: af_packet::AfPacketError,
    },
    /// Receiving failed.
    #[error("receive: {0}")]
    Receive(io::Error),
}

#[cfg(feature = "dpdk")]
impl From<bloomrf_dpdk::DpdkError> for LinkError {
    fn from(error: bloomrf_dpdk::DpdkError) -> Self {
        LinkError::Dpdk(Box::new(error))
    }
}
