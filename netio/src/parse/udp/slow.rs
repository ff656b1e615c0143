//! Every frame that does not look like most: all link types, tags, options, extension headers, and
//! all refusals.
//!
//! Hot path: no allocation, no lock, no syscall; at most `TAGS_MAX` tags and `EXTENSIONS_MAX`
//! extension headers.

use super::{Checksums, FrameRefusal, UdpDatagram, mapped};
use crate::Received;
use crate::parse::link::{ETHERTYPE_MIN, HARDWARE_OTHER, IPV4, IPV6, TAGS_MAX, is_tag};
use crate::parse::{UDP, be16, checksum, ip};

/// How an IP packet says its version.
#[derive(Clone, Copy)]
enum Version {
    Four,
    Six,
    /// By its first byte alone.
    First,
}

/// Parses from scratch: what the fast path would accept, too.
#[cold]
#[inline(never)]
pub(super) fn read<'a>(
    received: &Received<'a>,
    checksums: Checksums,
) -> Result<UdpDatagram<'a>, FrameRefusal> {
    let bytes = received.bytes;
    // What is missing at a frame's end, somebody may have cut.
    let is_cut = received.wire_bytes as usize > bytes.len();
    let missing = |refusal| if is_cut { FrameRefusal::Cut } else { refusal };
    let (version, packet) = link(received.link_type, bytes)?.ok_or(missing(FrameRefusal::Short))?;
    let first = packet.first().ok_or(missing(FrameRefusal::Short))? >> 4;
    let fixed_bytes = match (version, first) {
        (Version::Four | Version::First, 4) => 20,
        (Version::Six | Version::First, 6) => 40,
        _ => return Err(FrameRefusal::IpHeader),
    };
    if packet.len() < fixed_bytes {
        return Err(missing(FrameRefusal::Short));
    }
    if first == 4 { v4(packet, checksums, missing) } else { v6(packet, checksums, missing) }
}

/// The IP packet in a frame; none where the frame ends before it.
fn link(link_type: u16, bytes: &[u8]) -> Result<Option<(Version, &[u8])>, FrameRefusal> {
    let raw = |version| Ok(Some((version, bytes)));
    match link_type {
        1 => ethertype(be16(bytes, 12), bytes.get(14..)),
        12 | 14 | 101 => raw(Version::First),
        113 => cooked(be16(bytes, 2), be16(bytes, 14), bytes.get(16..)),
        228 => raw(Version::Four),
        229 => raw(Version::Six),
        276 => cooked(be16(bytes, 8), be16(bytes, 0), bytes.get(20..)),
        _ => Err(FrameRefusal::LinkType),
    }
}

/// Goes past tags, and to the packet that `kind` says `rest` to be.
fn ethertype(
    mut kind: Option<u16>,
    mut rest: Option<&[u8]>,
) -> Result<Option<(Version, &[u8])>, FrameRefusal> {
    for _ in 0..=TAGS_MAX {
        let (Some(ethertype), Some(bytes)) = (kind, rest) else { return Ok(None) };
        match ethertype {
            IPV4 => return Ok(Some((Version::Four, bytes))),
            IPV6 => return Ok(Some((Version::Six, bytes))),
            tag if is_tag(tag) => {
                kind = be16(bytes, 2);
                rest = bytes.get(4..);
            }
            _ => return Err(FrameRefusal::NotIp),
        }
    }
    Err(FrameRefusal::Tags)
}

/// Linux cooked capture, of which `hardware` says whether `protocol` is an EtherType.
fn cooked(
    hardware: Option<u16>,
    protocol: Option<u16>,
    rest: Option<&[u8]>,
) -> Result<Option<(Version, &[u8])>, FrameRefusal> {
    let is_other = hardware.is_some_and(|hardware| HARDWARE_OTHER.contains(&hardware));
    if is_other || protocol.is_some_and(|protocol| protocol < ETHERTYPE_MIN) {
        return Err(FrameRefusal::NotIp);
    }
    ethertype(protocol, rest)
}

/// IPv4, of which at least 20 bytes are there.
fn v4(
    packet: &[u8],
    checksums: Checksums,
    missing: impl Fn(FrameRefusal) -> FrameRefusal,
) -> Result<UdpDatagram<'_>, FrameRefusal> {
    let header_bytes = usize::from(packet[0] & 0x0f) * 4;
    let total = usize::from(be16(packet, 2).unwrap_or_default());
    if header_bytes < 20 || total < header_bytes {
        return Err(FrameRefusal::IpHeader);
    }
    let header = packet.get(..header_bytes).ok_or(missing(FrameRefusal::Short))?;
    let payload = packet.get(header_bytes..total).ok_or(missing(FrameRefusal::Length))?;
    if checksums == Checksums::Verify && checksum::fold(checksum::sum(header)) != 0xffff {
        return Err(FrameRefusal::IpChecksum);
    }
    // More fragments follow, or this one has a place: all but the reserved and the DF bit.
    if be16(packet, 6).unwrap_or_default() & 0x3fff != 0 {
        return Err(FrameRefusal::Fragment);
    }
    let (next, payload) = match packet[9] {
        ip::AUTHENTICATION => authentication(payload)?,
        protocol => (protocol, payload),
    };
    let place = |at| packet.get(at..).and_then(<[u8]>::first_chunk);
    let source = mapped(place(12).copied().unwrap_or_default());
    let target = mapped(place(16).copied().unwrap_or_default());
    transport(next, payload, &header[12..20], (source, target), checksums, true)
}

/// IPv6, of which at least 40 bytes are there.
fn v6(
    packet: &[u8],
    checksums: Checksums,
    missing: impl Fn(FrameRefusal) -> FrameRefusal,
) -> Result<UdpDatagram<'_>, FrameRefusal> {
    let length = usize::from(be16(packet, 4).unwrap_or_default());
    if length == 0 {
        return Err(FrameRefusal::Jumbogram);
    }
    let payload = packet.get(40..40 + length).ok_or(missing(FrameRefusal::Length))?;
    let place = |at| packet.get(at..).and_then(<[u8]>::first_chunk);
    let source = u128::from_be_bytes(place(8).copied().unwrap_or_default());
    let target = u128::from_be_bytes(place(24).copied().unwrap_or_default());
    if super::is_mapped(source) || super::is_mapped(target) {
        return Err(FrameRefusal::MappedAddress);
    }
    let (next, payload) = extensions(packet[6], payload)?;
    transport(next, payload, &packet[8..40], (source, target), checksums, false)
}

/// Goes along the extension headers that a datagram may come behind.
fn extensions(first: u8, packet: &[u8]) -> Result<(u8, &[u8]), FrameRefusal> {
    let (mut kind, mut bytes) = (first, packet);
    for place in 0..=ip::EXTENSIONS_MAX {
        let (next, rest) = match kind {
            ip::HOP_BY_HOP if place > 0 => return Err(FrameRefusal::Extensions),
            ip::HOP_BY_HOP => {
                let (next, options, rest) = by_eights(bytes)?;
                if has_jumbo(options) {
                    return Err(FrameRefusal::Jumbogram);
                }
                (next, rest)
            }
            ip::DESTINATION => {
                let (next, _, rest) = by_eights(bytes)?;
                (next, rest)
            }
            ip::ROUTING => {
                let (next, routing, rest) = by_eights(bytes)?;
                // The second byte behind next header and length: segments left.
                if routing.get(1) != Some(&0) {
                    return Err(FrameRefusal::Routing);
                }
                (next, rest)
            }
            ip::FRAGMENT => {
                let (header, rest) =
                    bytes.split_first_chunk::<8>().ok_or(FrameRefusal::Extensions)?;
                // Place and "more"; two bits between them are reserved.
                if u16::from_be_bytes([header[2], header[3]]) & 0xfff9 != 0 {
                    return Err(FrameRefusal::Fragment);
                }
                (header[0], rest)
            }
            ip::AUTHENTICATION => authentication(bytes)?,
            _ => return Ok((kind, bytes)),
        };
        (kind, bytes) = (next, rest);
    }
    Err(FrameRefusal::Extensions)
}

/// A header whose length is in units of eight bytes: what follows it, its body, the rest.
fn by_eights(bytes: &[u8]) -> Result<(u8, &[u8], &[u8]), FrameRefusal> {
    let [next, length, ..] = *bytes else { return Err(FrameRefusal::Extensions) };
    let whole = 8 + usize::from(length) * 8;
    let (header, rest) = bytes.split_at_checked(whole).ok_or(FrameRefusal::Extensions)?;
    Ok((next, &header[2..], rest))
}

fn authentication(bytes: &[u8]) -> Result<(u8, &[u8]), FrameRefusal> {
    let [next, length, ..] = *bytes else { return Err(FrameRefusal::Extensions) };
    // The length is in units of four bytes less two; the fixed part alone is 12 bytes long.
    let whole = (usize::from(length) + 2) * 4;
    let rest = bytes.get(whole..).filter(|_| whole >= 12).ok_or(FrameRefusal::Extensions)?;
    Ok((next, rest))
}

/// Whether the jumbo payload option is among hop-by-hop options.
fn has_jumbo(mut options: &[u8]) -> bool {
    loop {
        options = match options {
            [] => return false,
            [JUMBO, ..] => return true,
            [PAD_ONE, rest @ ..] => rest,
            [_, length, rest @ ..] => rest.get(usize::from(*length)..).unwrap_or_default(),
            [_] => return false,
        }
    }
}

/// The datagram in an IP payload; `addresses` are the bytes of both.
fn transport<'a>(
    protocol: u8,
    payload: &'a [u8],
    addresses: &[u8],
    (source, target): (u128, u128),
    checksums: Checksums,
    may_lack_sum: bool,
) -> Result<UdpDatagram<'a>, FrameRefusal> {
    if protocol != UDP {
        return Err(FrameRefusal::NotUdp);
    }
    let header = payload.first_chunk::<8>().ok_or(FrameRefusal::UdpHeader)?;
    let [s0, s1, t0, t1, l0, l1, c0, c1] = *header;
    let udp_bytes = u16::from_be_bytes([l0, l1]);
    let datagram = match udp_bytes {
        0 => return Err(FrameRefusal::LengthZero),
        1..8 => return Err(FrameRefusal::Length),
        length => payload.get(..length.into()).ok_or(FrameRefusal::Length)?,
    };
    if checksums == Checksums::Verify && !((c0, c1) == (0, 0) && may_lack_sum) {
        let sum = checksum::pseudo_header(addresses, udp_bytes) + checksum::sum(datagram);
        if (c0, c1) == (0, 0) || checksum::fold(sum) != 0xffff {
            return Err(FrameRefusal::UdpChecksum);
        }
    }
    let source_port = u16::from_be_bytes([s0, s1]);
    let target_port = u16::from_be_bytes([t0, t1]);
    Ok(UdpDatagram { payload: &datagram[8..], source, target, source_port, target_port })
}

const PAD_ONE: u8 = 0;
const JUMBO: u8 = 0xc2;
