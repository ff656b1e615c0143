//! An independent, slow reading of raw frames: headers by `etherparse`, strictly; limits and sums
//! in the plainest words.

use etherparse::{
    EtherType, Ipv4Slice, Ipv6ExtensionSlice, Ipv6Slice, SingleVlanSlice, UdpSlice, ether_type,
    ip_number,
};

/// A datagram, and where its headers begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Offset of the IP header.
    pub(super) ip_at: usize,
    /// Offset of the UDP header.
    pub(super) udp_at: usize,
    /// Of its payload.
    pub(super) payload_bytes: usize,
    /// Who sent it; of IPv4 the mapped address.
    pub(super) source: u128,
    /// Whom it is addressed to.
    pub(super) target: u128,
    /// Source and target port.
    pub(super) ports: (u16, u16),
    /// Whether the sums are as they must be.
    pub(super) sums_are_right: bool,
}

/// The datagram of a frame; none where it has none, or is no good in any way but its sums.
pub(super) fn read(link_type: u16, frame: &[u8]) -> Option<Found> {
    let (kind, ip_at) = network(link_type, frame)?;
    let packet = frame.get(ip_at..)?;
    match kind {
        ether_type::IPV4 => v4(packet, ip_at),
        ether_type::IPV6 => v6(packet, ip_at),
        _ => None,
    }
}

/// EtherType and offset of what is behind the link layer and at most eight tags.
fn network(link_type: u16, frame: &[u8]) -> Option<(EtherType, usize)> {
    let word = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let by_version = || match frame.first()? >> 4 {
        4 => Some(ether_type::IPV4),
        6 => Some(ether_type::IPV6),
        _ => None,
    };
    let (mut kind, mut at) = match link_type {
        1 => (EtherType(word(12)?), 14),
        12 | 14 | 101 => (by_version()?, 0),
        228 => (ether_type::IPV4, 0),
        229 => (ether_type::IPV6, 0),
        113 if is_ethertype(word(2)?) => (EtherType(word(14)?), 16),
        276 if is_ethertype(word(8)?) => (EtherType(word(0)?), 20),
        _ => return None,
    };
    let mut tags = 0;
    while matches!(kind.0, 0x8100 | 0x88a8 | 0x9100 | 0x9200) {
        tags += 1;
        kind = SingleVlanSlice::from_slice(frame.get(at..)?).ok()?.ether_type();
        at += 4;
    }
    (tags <= 8).then_some((kind, at))
}

/// Whether the protocol field of cooked capture is one: not of frame relay, GRE, 802.11, netlink.
fn is_ethertype(hardware: u16) -> bool {
    ![770, 778, 801, 802, 803, 824].contains(&hardware)
}

fn v4(packet: &[u8], ip_at: usize) -> Option<Found> {
    let ip = Ipv4Slice::from_slice(packet).ok()?;
    if ip.is_payload_fragmented() || ip.payload_ip_number() != ip_number::UDP {
        return None;
    }
    let (source, target) = (ip.header().source(), ip.header().destination());
    let udp = udp(ip.payload().payload)?;
    let sum = udp.to_header().calc_checksum_ipv4_raw(source, target, udp.payload()).ok()?;
    let udp_is_right = udp.checksum() == 0 || udp.checksum() == sum;
    let is_right = udp_is_right && ones_complement(ip.header().slice()) == 0xffff;
    let mapped = |address: [u8; 4]| std::net::Ipv4Addr::from(address).to_ipv6_mapped().to_bits();
    let found = found(packet, ip_at, &udp, is_right);
    Some(Found { source: mapped(source), target: mapped(target), ..found })
}

fn v6(packet: &[u8], ip_at: usize) -> Option<Found> {
    let ip = Ipv6Slice::from_slice(packet).ok()?;
    if ip.header().payload_length() == 0
        || ip.is_payload_fragmented()
        || ip.payload().ip_number != ip_number::UDP
    {
        return None;
    }
    let mut extensions = 0;
    for extension in ip.extensions().clone() {
        extensions += 1;
        match extension {
            // The byte behind length and kind of routing: places left to visit.
            Ipv6ExtensionSlice::Routing(routing) if routing.payload()[1] != 0 => return None,
            Ipv6ExtensionSlice::HopByHop(options) if is_jumbo(options.payload()) => return None,
            _ => {}
        }
    }
    let (source, target) = (ip.header().source_addr(), ip.header().destination_addr());
    let is_mapped = |address: &std::net::Ipv6Addr| address.to_ipv4_mapped().is_some();
    if extensions > 16 || is_mapped(&source) || is_mapped(&target) {
        return None;
    }
    let udp = udp(ip.payload().payload)?;
    let header = udp.to_header();
    let sum =
        header.calc_checksum_ipv6_raw(source.octets(), target.octets(), udp.payload()).ok()?;
    let is_right = udp.checksum() == sum;
    let found = found(packet, ip_at, &udp, is_right);
    Some(Found { source: source.to_bits(), target: target.to_bits(), ..found })
}

fn udp(payload: &[u8]) -> Option<UdpSlice<'_>> {
    UdpSlice::from_slice(payload).ok().filter(|udp| udp.length() != 0)
}

fn found(packet: &[u8], ip_at: usize, udp: &UdpSlice, sums_are_right: bool) -> Found {
    let within = udp.slice().as_ptr().addr() - packet.as_ptr().addr();
    Found {
        ip_at,
        udp_at: ip_at + within,
        payload_bytes: udp.payload().len(),
        source: 0,
        target: 0,
        ports: (udp.source_port(), udp.destination_port()),
        sums_are_right,
    }
}

/// Whether the jumbo payload option is among hop-by-hop options.
fn is_jumbo(options: &[u8]) -> bool {
    let mut at = 0;
    while let Some(kind) = options.get(at) {
        match kind {
            0xc2 => return true,
            0 => at += 1,
            _ => at += 2 + options.get(at + 1).map_or(0, |length| usize::from(*length)),
        }
    }
    false
}

/// Sum of big-endian words of 16 bits, each carry added at once.
fn ones_complement(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0_u16, |sum, word| {
        let word = u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]);
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

/// Makes both sums of a frame's datagram right, where it has one. What lies behind a right sum is
/// worth attacking.
pub(super) fn seal(link_type: u16, frame: &mut [u8]) {
    let Some(found) = read(link_type, frame) else { return };
    let Found { ip_at, udp_at, payload_bytes, .. } = found;
    let mut pseudo = found.source.to_be_bytes().to_vec();
    pseudo.extend(found.target.to_be_bytes());
    if frame[ip_at] >> 4 == 4 {
        let header_bytes = usize::from(frame[ip_at] & 15) * 4;
        frame[ip_at + 10..ip_at + 12].fill(0);
        let sum = !ones_complement(&frame[ip_at..ip_at + header_bytes]);
        frame[ip_at + 10..ip_at + 12].copy_from_slice(&sum.to_be_bytes());
        pseudo = frame[ip_at + 12..ip_at + 20].to_vec();
    }
    frame[udp_at + 6..udp_at + 8].fill(0);
    pseudo.extend([0, 17, frame[udp_at + 4], frame[udp_at + 5]]);
    pseudo.extend(&frame[udp_at..udp_at + 8 + payload_bytes]);
    let sum = match !ones_complement(&pseudo) {
        0 => 0xffff,
        sum => sum,
    };
    frame[udp_at + 6..udp_at + 8].copy_from_slice(&sum.to_be_bytes());
}
