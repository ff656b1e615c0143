//! Why a frame carries no datagram for us.
//!
//! Hot path: names of reasons, without cost.

/// Why a frame was refused. The sender learns nothing; a counter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameRefusal {
    /// A link type other than Ethernet, raw IP and Linux cooked capture.
    LinkType,
    /// The frame ends within its link-layer or IP header.
    Short,
    /// Not IP: ARP and others.
    NotIp,
    /// More than eight VLAN tags.
    Tags,
    /// Another IP version than stated, or an IPv4 header or total length below 20 bytes or below
    /// each other.
    IpHeader,
    /// The sum over an IPv4 header is wrong.
    IpChecksum,
    /// An IPv6 address that stands for an IPv4 one (`::ffff:a.b.c.d`): such do not travel, and
    /// would pass for that address where sources are checked.
    MappedAddress,
    /// An IPv6 payload length of 0, or the option of jumbograms.
    Jumbogram,
    /// Extension headers beyond the packet, more than 16 of them, hop-by-hop options elsewhere
    /// than first, or an authentication header of no length.
    Extensions,
    /// A routing header with places still to visit: the packet is not for whom it is addressed to.
    Routing,
    /// A part of a datagram. (A fragment header with nothing before and nothing after it is none.)
    Fragment,
    /// Another protocol than UDP.
    NotUdp,
    /// The IP packet ends within the UDP header.
    UdpHeader,
    /// A length that does not fit: of IP beyond the frame, of UDP beyond IP, of UDP below its
    /// header.
    Length,
    /// A UDP length of 0: left to a network card that cuts datagrams in pieces, or a jumbogram's.
    LengthZero,
    /// The sum over a datagram is wrong, or missing where IPv6 demands one.
    UdpChecksum,
    /// The datagram was whole on the wire and is not here: the capture cut the frame.
    Cut,
}

impl FrameRefusal {
    /// All of them, in the order of [`FrameRefusal::index`].
    pub const ALL: [FrameRefusal; 17] = [
        FrameRefusal::LinkType,
        FrameRefusal::Short,
        FrameRefusal::NotIp,
        FrameRefusal::Tags,
        FrameRefusal::IpHeader,
        FrameRefusal::IpChecksum,
        FrameRefusal::MappedAddress,
        FrameRefusal::Jumbogram,
        FrameRefusal::Extensions,
        FrameRefusal::Routing,
        FrameRefusal::Fragment,
        FrameRefusal::NotUdp,
        FrameRefusal::UdpHeader,
        FrameRefusal::Length,
        FrameRefusal::LengthZero,
        FrameRefusal::UdpChecksum,
        FrameRefusal::Cut,
    ];

    /// Place in [`FrameRefusal::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// A name for reports and metrics.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            FrameRefusal::LinkType => "link_type",
            FrameRefusal::Short => "short",
            FrameRefusal::NotIp => "not_ip",
            FrameRefusal::Tags => "tags",
            FrameRefusal::IpHeader => "ip_header",
            FrameRefusal::IpChecksum => "ip_checksum",
            FrameRefusal::MappedAddress => "mapped_address",
            FrameRefusal::Jumbogram => "jumbogram",
            FrameRefusal::Extensions => "extensions",
            FrameRefusal::Routing => "routing",
            FrameRefusal::Fragment => "fragment",
            FrameRefusal::NotUdp => "not_udp",
            FrameRefusal::UdpHeader => "udp_header",
            FrameRefusal::Length => "length",
            FrameRefusal::LengthZero => "length_zero",
            FrameRefusal::UdpChecksum => "udp_checksum",
            FrameRefusal::Cut => "cut",
        }
    }
}
