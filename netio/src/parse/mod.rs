//! Raw headers: Ethernet (and other link types), VLAN/QinQ, IPv4/IPv6 with extension headers and
//! fragments, ports and flags. Outer headers only. Never panics, on any bytes.
//!
//! Hot path: no allocation, no lock, no syscall; work bounded by the tag and extension limits.
//!
//! A length that a header states is believed only where it is *shorter* than what was captured
//! (padding is no payload); a field is read only when all of its bytes are there.

pub(crate) mod checksum;
mod ip;
mod link;
mod transport;
mod udp;

pub use udp::{Checksums, FrameRefusal, UdpDatagram, udp};

/// What could be read of a packet's headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Source MAC.
    pub src_mac: Option<[u8; 6]>,
    /// Destination MAC.
    pub dst_mac: Option<[u8; 6]>,
    /// EtherType behind all VLAN tags; of SNAP frames, SNAP's. None where the link layer has no
    /// such field (802.3 with bare LLC, PPP, raw IP).
    pub ethertype: Option<u16>,
    /// VLAN id of the outer tag.
    pub vlan: Option<u16>,
    /// IPv4 source and destination.
    pub ip4: Option<([u8; 4], [u8; 4])>,
    /// IPv6 source and destination.
    pub ip6: Option<([u8; 16], [u8; 16])>,
    /// Protocol after extension headers (authentication headers too: they hide nothing). None
    /// where the chain of extension headers is cut, or goes on in another fragment.
    pub proto: Option<u8>,
    /// Source and destination port of TCP, UDP, UDP-Lite, SCTP, DCCP; not of later fragments.
    pub ports: Option<(u16, u16)>,
    /// TCP flags byte.
    pub tcp_flags: Option<u8>,
}

/// Why headers are incomplete. The known fields are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trouble {
    /// A link type that is not parsed.
    LinkType,
    /// Cut within the link-layer header.
    LinkHeader,
    /// Cut or malformed IP header.
    IpHeader,
    /// Cut or malformed transport header.
    TransportHeader,
    /// Not IP (ARP and others): not an error, nothing more to read.
    NotIp,
}

impl Trouble {
    /// All of them, in the order of [`Trouble::index`].
    pub const ALL: [Trouble; 5] = [
        Trouble::LinkType,
        Trouble::LinkHeader,
        Trouble::IpHeader,
        Trouble::TransportHeader,
        Trouble::NotIp,
    ];

    /// Place in [`Trouble::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// A name for reports and metrics.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Trouble::LinkType => "link_type",
            Trouble::LinkHeader => "link_header",
            Trouble::IpHeader => "ip_header",
            Trouble::TransportHeader => "transport_header",
            Trouble::NotIp => "not_ip",
        }
    }
}

/// Parses the headers of a packet of `link_type` (LINKTYPE_*).
#[must_use]
pub fn headers(link_type: u32, bytes: &[u8]) -> (Headers, Option<Trouble>) {
    let mut headers = Headers::default();
    let trouble = link::read(link_type, bytes, &mut headers).err();
    (headers, trouble)
}

/// Its number among IP protocols.
pub(crate) const UDP: u8 = 17;

/// The network-order number at `offset`.
fn be16(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..)?.first_chunk().map(|b| u16::from_be_bytes(*b))
}

#[cfg(test)]
mod tests;
