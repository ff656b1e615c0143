//! Receive-side scaling in software: which queue of a port a flow goes to.
//!
//! A card hashes addresses and ports of a packet (Toeplitz, keyed), and takes the queue from a
//! table at the low bits of the hash. The same here: a replayed capture fans out by it, and
//! senders choose source ports by it, so that their lanes spread evenly.
//!
//! What the kernel does for sockets is *not* this: SO_REUSEPORT hashes with a key of its own that
//! nobody is told, and multicast goes by source port (see [`crate::link::udp`]).
//!
//! Hot path: no allocation; two reads of a table per byte of addresses and ports (12 or 36).

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::parse::Headers;

/// Bytes of a key: the longest input (IPv6 with ports, 36 bytes), and a word.
pub const KEY_BYTES: usize = 40;
/// Entries of a table, where a port does not say otherwise.
pub const RETA_SIZE: usize = 128;

/// The key that the RSS specification publishes hashes for.
pub const KEY_OF_SPECIFICATION: [u8; KEY_BYTES] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
    0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
    0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// The key under which both directions of a flow have one hash: 16 bits, repeated. The same halves
/// make the hash's upper and lower half equal, so it has 16 bits: plenty for any table.
pub const KEY_SYMMETRIC: [u8; KEY_BYTES] = {
    let mut key = [0x6d; KEY_BYTES];
    let mut at = 1;
    while at < KEY_BYTES {
        key[at] = 0x5a;
        at += 2;
    }
    key
};

/// What is hashed of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Source and target, of one family.
    pub addresses: Addresses,
    /// Source and target port; `None` for protocols without, and for later fragments.
    pub ports: Option<(u16, u16)>,
}

/// Source and target address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// IPv4.
    V4([u8; 4], [u8; 4]),
    /// IPv6.
    V6([u8; 16], [u8; 16]),
}

impl Flow {
    /// The flow of a packet; `None` where it is not IP. Of a first fragment it has the ports, which
    /// a card leaves out: fragments may go apart here.
    #[must_use]
    pub fn of(headers: &Headers) -> Option<Self> {
        let addresses = match (headers.ip4, headers.ip6) {
            (Some((source, target)), _) => Addresses::V4(source, target),
            (None, Some((source, target))) => Addresses::V6(source, target),
            (None, None) => return None,
        };
        Some(Flow { addresses, ports: headers.ports })
    }

    /// The flow of a datagram from `source`; `None` where the families differ.
    #[must_use]
    pub fn between(source: SocketAddr, target: SocketAddr) -> Option<Self> {
        let addresses = match (source.ip(), target.ip()) {
            (IpAddr::V4(source), IpAddr::V4(target)) => {
                Addresses::V4(source.octets(), target.octets())
            }
            (IpAddr::V6(source), IpAddr::V6(target)) => {
                Addresses::V6(source.octets(), target.octets())
            }
            _ => return None,
        };
        Some(Flow { addresses, ports: Some((source.port(), target.port())) })
    }
}

/// The hash under one key.
#[derive(Clone)]
pub struct Toeplitz {
    /// For each half byte of the input, what each of its values adds.
    parts: Box<[[u32; 16]; NIBBLES]>,
}

/// Half bytes of the longest input.
const NIBBLES: usize = 2 * (KEY_BYTES - 4);

impl Toeplitz {
    /// The tables of a key: 4.5 KiB.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        // Bit i of the input, when set, adds the 32 bits of the key that begin at its bit i.
        let word = |bit: usize| {
            let window =
                key.iter().skip(bit / 8).take(5).fold(0_u64, |w, &b| w << 8 | u64::from(b));
            (window >> (8 - bit % 8)) as u32
        };
        let mut parts = Box::new([[0; 16]; NIBBLES]);
        for (nibble, part) in parts.iter_mut().enumerate() {
            for (value, sum) in part.iter_mut().enumerate() {
                let set = (0..4).filter(|bit| value & (8 >> bit) != 0);
                *sum = set.fold(0, |sum, bit| sum ^ word(4 * nibble + bit));
            }
        }
        Toeplitz { parts }
    }

    /// The hash of a flow: source, target, source port, target port, in network order.
    #[must_use]
    pub fn hash(&self, flow: &Flow) -> u32 {
        let (sum, bytes) = match &flow.addresses {
            Addresses::V4(source, target) => (self.add(0, source) ^ self.add(4, target), 8),
            Addresses::V6(source, target) => (self.add(0, source) ^ self.add(16, target), 32),
        };
        let Some((source, target)) = flow.ports else { return sum };
        sum ^ self.add(bytes, &source.to_be_bytes()) ^ self.add(bytes + 2, &target.to_be_bytes())
    }

    /// What `bytes` at byte `offset` of the input add; the sum is over what the tables cover.
    fn add(&self, offset: usize, bytes: &[u8]) -> u32 {
        let pairs = self.parts[2 * offset..].chunks_exact(2);
        bytes.iter().zip(pairs).fold(0, |sum, (byte, pair)| {
            sum ^ pair[0][usize::from(byte >> 4)] ^ pair[1][usize::from(byte & 15)]
        })
    }
}

impl fmt::Debug for Toeplitz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Toeplitz")
    }
}

/// Hash and table (RETA) of a port.
#[derive(Clone, Debug)]
pub struct Rss {
    hash: Toeplitz,
    reta: Box<[u16]>,
    queues: usize,
}

impl Rss {
    /// Of a port with `queues` queues, dealt out in turn over a table of `reta_size` entries, as
    /// drivers do. The table has at least one entry, and a power of two of them: other sizes are
    /// rounded up.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES], queues: usize, reta_size: usize) -> Self {
        let queues = queues.clamp(1, usize::from(u16::MAX));
        let reta = (0..reta_size.max(1).next_power_of_two()).map(|i| (i % queues) as u16);
        Rss { hash: Toeplitz::new(key), reta: reta.collect(), queues }
    }

    /// Under the symmetric key, with a table of [`RETA_SIZE`]; larger where there are more queues.
    /// How our own ports are set up.
    #[must_use]
    pub fn symmetric(queues: usize) -> Self {
        Rss::new(&KEY_SYMMETRIC, queues, RETA_SIZE.max(queues))
    }

    /// Number of queues.
    #[must_use]
    pub fn queues(&self) -> usize {
        self.queues
    }

    /// The queue that a flow goes to.
    #[must_use]
    pub fn queue(&self, flow: &Flow) -> usize {
        let at = self.hash.hash(flow) as usize & (self.reta.len() - 1);
        usize::from(self.reta[at])
    }

    /// The queue that each lane goes to: a flow from `source` and its own port to `target`. All go
    /// to queue 0 where the families differ.
    pub fn predict<'a>(
        &'a self,
        source: IpAddr,
        target: SocketAddr,
        ports: &'a [u16],
    ) -> impl Iterator<Item = usize> + 'a {
        ports.iter().map(move |&port| {
            Flow::between((source, port).into(), target).map_or(0, |flow| self.queue(&flow))
        })
    }

    /// Chooses a source port for each of `lanes` lanes out of `candidates`, so that no queue gets
    /// more than one lane more than another. `take` says whether a port can be had, and holds it;
    /// it is only asked for ports that fit. Returns fewer than `lanes` where candidates run out.
    /// Where the number of queues is a power of two, ports balanced for one target are balanced for
    /// all: another target changes the same bits of every lane's hash.
    pub fn balance(
        &self,
        source: IpAddr,
        target: SocketAddr,
        lanes: usize,
        candidates: impl IntoIterator<Item = u16>,
        mut take: impl FnMut(u16) -> bool,
    ) -> Vec<u16> {
        let mut load = vec![0; self.queues];
        let mut ports = Vec::with_capacity(lanes);
        let mut candidates = candidates.into_iter();
        while ports.len() < lanes {
            let Some(port) = candidates.next() else { break };
            // Round after round: no queue gets its next lane before all have this one.
            let round = ports.len() / self.queues;
            let fits = |queue: usize| load.get(queue).is_some_and(|&lanes| lanes <= round);
            let Some(queue) = self.predict(source, target, &[port]).next().filter(|&q| fits(q))
            else {
                continue;
            };
            if take(port) {
                load[queue] += 1;
                ports.push(port);
            }
        }
        ports
    }
}

#[cfg(test)]
mod tests;
