//! Settings of the link: which it is, what it is for, and how its queues poll.

use std::fmt;
use std::net::IpAddr;

use bloomrf_netio::LinkSpec;

/// How frames come in, and what becomes of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Which link.
    pub spec: LinkSpec,
    /// What becomes of what arrives.
    pub link_use: LinkUse,
    /// What a queue does while nothing arrives.
    pub idle: Idle,
    /// Checksums of raw frames.
    pub checksums: Checksums,
    /// Addresses that a raw port owns; none: it answers nothing.
    pub addresses: Vec<PortAddress>,
    /// Gateways of a raw port: at most one per address family, within `addresses`.
    pub gateways: Vec<IpAddr>,
    /// Of sockets: how long a receive may poll the device, microseconds; 0: never.
    pub busy_poll_us: u32,
    /// Records after which a batch of a tap's queue ends.
    pub tap_batch_records: u64,
    /// Time after which it ends, from its first record on, milliseconds.
    pub tap_batch_ms: u64,
    /// Further arguments of DPDK's EAL.
    pub dpdk_args: Vec<String>,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            spec: LinkSpec::udp(),
            link_use: LinkUse::Ingest,
            idle: Idle::Sleep,
            checksums: Checksums::Verify,
            addresses: Vec::new(),
            gateways: Vec::new(),
            busy_poll_us: 0,
            tap_batch_records: 65_536,
            tap_batch_ms: 10_000,
            dpdk_args: Vec::new(),
        }
    }
}

/// What becomes of what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkUse {
    /// Frames of records are ingested.
    Ingest,
    /// Every packet is a record of schema `packet`; batches are made here.
    Tap,
}

impl LinkUse {
    /// Both, by name.
    pub(super) const NAMES: [(&'static str, Self); 2] =
        [("ingest", Self::Ingest), ("tap", Self::Tap)];
}

/// What a queue does while nothing arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Sleeps until something arrives.
    Sleep,
    /// Polls on for a moment, then sleeps in steps of at most 50 microseconds.
    Pause,
    /// Polls on; takes its whole core.
    Busy,
}

impl Idle {
    /// All, by name.
    pub(super) const NAMES: [(&'static str, Self); 3] =
        [("sleep", Self::Sleep), ("pause", Self::Pause), ("busy", Self::Busy)];

    /// Its name in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sleep => "sleep",
            Self::Pause => "pause",
            Self::Busy => "busy",
        }
    }
}

/// Checksums of raw frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// A frame with a wrong one is refused.
    Verify,
    /// They are not looked at: the device, or the wire, is trusted.
    Trust,
}

impl Checksums {
    /// Both, by name.
    pub(super) const NAMES: [(&'static str, Self); 2] =
        [("verify", Self::Verify), ("trust", Self::Trust)];
}

/// An address of a raw port, with the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortAddress {
    /// Address.
    pub ip: IpAddr,
    /// Bits of the prefix, at most 32 or 128.
    pub prefix: u8,
}

impl PortAddress {
    /// Whether the address can be no host's: the network's own or its broadcast address, or of
    /// the block that is kept free (240.0.0.0/4).
    pub(crate) fn is_nobodys(&self) -> bool {
        let IpAddr::V4(ip) = self.ip else { return false };
        // Networks of two addresses and of one have no broadcast (RFC 3021).
        let hosts = u32::MAX.checked_shr(u32::from(self.prefix)).unwrap_or(0);
        let part = ip.to_bits() & hosts;
        ip.octets()[0] >= 240 || (self.prefix < 31 && (part == 0 || part == hosts))
    }

    /// Whether `other` lies in the same network.
    #[must_use]
    pub fn reaches(&self, other: IpAddr) -> bool {
        let prefix = u32::from(self.prefix);
        match (self.ip, other) {
            (IpAddr::V4(ip), IpAddr::V4(other)) => {
                let differ = ip.to_bits() ^ other.to_bits();
                differ.leading_zeros() >= prefix
            }
            (IpAddr::V6(ip), IpAddr::V6(other)) => {
                let differ = ip.to_bits() ^ other.to_bits();
                differ.leading_zeros() >= prefix
            }
            _ => false,
        }
    }
}

impl fmt::Display for PortAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}
