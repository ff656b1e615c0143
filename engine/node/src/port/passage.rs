//! Which frames the slow path gets to see: ARP and neighbour discovery, pings of own addresses, TCP
//! to the lookup port. Everything else stays outside, with its reason: the stack behind it answers
//! more than we want to (port unreachable, quoting what it is about, is longer than the question).
//!
//! Hot path: no allocation; a few fixed offsets. What passes is whole as far as lengths go.

use std::net::{IpAddr, Ipv6Addr};

use super::{Addresses, FrameSlot};

/// What a frame is that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// Its 802.1Q tag.
    pub(super) vlan: Option<u16>,
    /// What it carries.
    pub(super) kind: Passing,
}

/// What a frame carries that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// ARP, a ping, or a neighbour's word.
    Plain,
    /// A segment of this address and port.
    Tcp {
        /// Who sent it.
        source: IpAddr,
        /// From which port.
        source_port: u16,
        /// It opens a connection.
        opens: bool,
    },
}

/// Why a frame goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    /// Not for our link-layer address, or from ourselves or a group.
    Link,
    /// Not for an own IP address.
    Target,
    /// From an address that is nobody's, or ours.
    Source,
    /// A protocol, type or port that we have nothing to say about.
    Kind,
    /// A fragment.
    Fragment,
    /// It ends too early, or contradicts itself.
    Damaged,
}

/// Judges a frame that is no UDP datagram.
pub(super) fn judge(frame: &[u8], own: &Addresses, lookup_port: u16) -> Result<Passage, Ignored> {
    let damaged = Ignored::Damaged;
    let (target, rest) = frame.split_first_chunk::<6>().ok_or(damaged)?;
    let (source, rest) = rest.split_first_chunk::<6>().ok_or(damaged)?;
    if source[0] & 1 != 0 || *source == [0; 6] || *source == own.mac() {
        return Err(Ignored::Link);
    }
    let (vlan, kind, packet) = match *rest {
        [0x81, 0, high, low, kind_high, kind_low, ref packet @ ..] => {
            (Some(be16(high, low)), be16(kind_high, kind_low), packet)
        }
        [kind_high, kind_low, ref packet @ ..] => (None, be16(kind_high, kind_low), packet),
        _ => return Err(damaged),
    };
    let to_us = *target == own.mac();
    let kind = match kind {
        ARP if to_us || *target == [0xff; 6] => arp(packet, own)?,
        IPV4 if to_us => ipv4(packet, own, lookup_port)?,
        IPV6 if to_us || target[..2] == [0x33, 0x33] => ipv6(packet, own, to_us, lookup_port)?,
        ARP | IPV4 | IPV6 => return Err(Ignored::Link),
        _ => return Err(Ignored::Kind),
    };
    Ok(Passage { vlan, kind })
}

/// A copy without its tag.
pub(super) fn untagged(frame: &[u8], vlan: Option<u16>) -> Option<FrameSlot> {
    if vlan.is_none() {
        return FrameSlot::of(frame);
    }
    FrameSlot::of_parts(frame.get(..12)?, frame.get(16..)?)
}

fn arp(packet: &[u8], own: &Addresses) -> Result<Passing, Ignored> {
    let packet = packet.first_chunk::<28>().ok_or(Ignored::Damaged)?;
    // Ethernet and IPv4, a request or a reply.
    if packet[..7] != [0, 1, 8, 0, 6, 4, 0] || !matches!(packet[7], 1 | 2) {
        return Err(Ignored::Kind);
    }
    let address = |at: usize| mapped(packet[at..].first_chunk().copied().unwrap_or_default());
    if !own.owns(address(24)) {
        return Err(Ignored::Target);
    }
    if own.may_ask(address(14)) { Ok(Passing::Plain) } else { Err(Ignored::Source) }
}

fn ipv4(packet: &[u8], own: &Addresses, lookup_port: u16) -> Result<Passing, Ignored> {
    let header = packet.first_chunk::<20>().ok_or(Ignored::Damaged)?;
    let header_bytes = usize::from(header[0] & 0x0f) * 4;
    let total = usize::from(be16(header[2], header[3]));
    if header[0] >> 4 != 4 || header_bytes < 20 {
        return Err(Ignored::Damaged);
    }
    let body = packet.get(header_bytes..total).ok_or(Ignored::Damaged)?;
    let address = |at: usize| mapped(header[at..].first_chunk().copied().unwrap_or_default());
    if !own.owns(address(16)) {
        return Err(Ignored::Target);
    }
    if !own.may_ask(address(12)) {
        return Err(Ignored::Source);
    }
    // More fragments, or an offset.
    if be16(header[6], header[7]) & 0x3fff != 0 {
        return Err(Ignored::Fragment);
    }
    match (header[9], body) {
        (ICMP, [ECHO_REQUEST, 0, ..]) => Ok(Passing::Plain),
        (TCP, segment) => tcp(segment, address(12), lookup_port),
        _ => Err(Ignored::Kind),
    }
}

/// IPv6 without extension headers: neither neighbours nor askers have a use for them.
fn ipv6(packet: &[u8], own: &Addresses, to_us: bool, lookup_port: u16) -> Result<Passing, Ignored> {
    let (header, rest) = packet.split_first_chunk::<40>().ok_or(Ignored::Damaged)?;
    if header[0] >> 4 != 6 {
        return Err(Ignored::Damaged);
    }
    let body = rest.get(..usize::from(be16(header[4], header[5]))).ok_or(Ignored::Damaged)?;
    let address =
        |at: usize| u128::from_be_bytes(header[at..].first_chunk().copied().unwrap_or_default());
    let (source, target) = (address(8), address(24));
    let is_own = to_us && own.owns(target);
    if !is_own && !own.is_solicited(target) {
        return Err(Ignored::Target);
    }
    // The mapped form of an IPv4 address does not travel.
    if !own.may_ask(source) || source >> 32 == 0xffff {
        return Err(Ignored::Source);
    }
    match (header[6], body) {
        (ICMPV6, [NEIGHBOUR_SOLICIT, 0, ..]) => Ok(Passing::Plain),
        (ICMPV6, [NEIGHBOUR_ADVERT | ECHO_REQUEST_V6, 0, ..]) if is_own => Ok(Passing::Plain),
        (TCP, segment) if is_own => tcp(segment, source, lookup_port),
        _ => Err(Ignored::Kind),
    }
}

fn tcp(segment: &[u8], source: u128, lookup_port: u16) -> Result<Passing, Ignored> {
    let header = segment.first_chunk::<20>().ok_or(Ignored::Damaged)?;
    let (source_port, target_port) = (be16(header[0], header[1]), be16(header[2], header[3]));
    if target_port != lookup_port {
        return Err(Ignored::Kind);
    }
    if source_port == 0 {
        return Err(Ignored::Source);
    }
    let source = Ipv6Addr::from_bits(source).to_canonical();
    let opens = header[13] & (SYN | ACK) == SYN;
    Ok(Passing::Tcp { source, source_port, opens })
}

fn be16(high: u8, low: u8) -> u16 {
    u16::from_be_bytes([high, low])
}

fn mapped(address: [u8; 4]) -> u128 {
    0xffff_0000_0000 | u128::from(u32::from_be_bytes(address))
}

const ARP: u16 = 0x0806;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const ICMPV6: u8 = 58;
const ECHO_REQUEST: u8 = 8;
const ECHO_REQUEST_V6: u8 = 128;
const NEIGHBOUR_SOLICIT: u8 = 135;
const NEIGHBOUR_ADVERT: u8 = 136;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
