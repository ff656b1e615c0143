//! Raw headers: Ethernet (and other link types), VLAN/QinQ, IPv4/IPv6 with extension headers and
//! fragments, ports and flags. Outer headers only. Never panics, on any bytes.

/// What could be read of a packet's headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Source MAC.
    pub src_mac: Option<[u8; 6]>,
    /// Destination MAC.
    pub dst_mac: Option<[u8; 6]>,
    /// EtherType behind all VLAN tags.
    pub ethertype: Option<u16>,
    /// VLAN id of the outer tag.
    pub vlan: Option<u16>,
    /// IPv4 source and destination.
    pub ip4: Option<([u8; 4], [u8; 4])>,
    /// IPv6 source and destination.
    pub ip6: Option<([u8; 16], [u8; 16])>,
    /// Protocol after extension headers.
    pub proto: Option<u8>,
    /// Source and destination port; not of later fragments.
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

/// Parses the headers of a packet of `link_type` (LINKTYPE_*).
#[must_use]
pub fn headers(link_type: u32, bytes: &[u8]) -> (Headers, Option<Trouble>) {
    let _ = (link_type, bytes);
    todo!("netio")
}
