//! Writing frames: a UDP datagram in IP in Ethernet, and the way back to whoever sent one.
//!
//! Once per reply, not per record: copies the payload, allocates only where `out` must grow.

use std::net::{IpAddr, Ipv6Addr};

use crate::Received;
use crate::parse::{Checksums, UDP, checksum, udp};

/// One end of a datagram's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Link-layer address.
    pub mac: [u8; 6],
    /// IP address.
    pub ip: IpAddr,
    /// UDP port.
    pub port: u16,
}

/// The way of a reply: who sends it, who receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReplyPath {
    /// Whom the request was addressed to.
    pub from: Endpoint,
    /// Who sent it.
    pub to: Endpoint,
    /// Its 802.1Q tag, priority included.
    pub vlan: Option<u16>,
}

/// Appends an Ethernet frame with one UDP datagram to `out`: with both checksums, padded to the 60
/// bytes that Ethernet demands, without frame check sequence. `vlan` is an 802.1Q tag (the number
/// alone has the lowest priority). The packet is not to be fragmented; its hop limit is 64.
///
/// # Panics
/// Where one address is IPv4 and the other IPv6, or the packet would be longer than 65,535 bytes:
/// mistakes of the caller.
pub fn write_udp(
    out: &mut Vec<u8>,
    from: &Endpoint,
    to: &Endpoint,
    vlan: Option<u16>,
    payload: &[u8],
) {
    let start = out.len();
    let udp_bytes = u16::try_from(UDP_HEADER_BYTES + payload.len()).unwrap_or(0);
    assert!(udp_bytes != 0, "{} bytes of payload fit no datagram", payload.len());
    out.extend_from_slice(&to.mac);
    out.extend_from_slice(&from.mac);
    if let Some(tag) = vlan {
        out.extend_from_slice(&VLAN.to_be_bytes());
        out.extend_from_slice(&tag.to_be_bytes());
    }
    let addresses = match (from.ip.to_canonical(), to.ip.to_canonical()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            write_v4(out, from.octets(), to.octets(), udp_bytes);
            checksum::sum(&from.octets()) + checksum::sum(&to.octets())
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            write_v6(out, from.octets(), to.octets(), udp_bytes);
            checksum::sum(&from.octets()) + checksum::sum(&to.octets())
        }
        (from, to) => panic!("no packet goes from {from} to {to}"),
    };
    let mut header = [0; UDP_HEADER_BYTES];
    header[0..2].copy_from_slice(&from.port.to_be_bytes());
    header[2..4].copy_from_slice(&to.port.to_be_bytes());
    header[4..6].copy_from_slice(&udp_bytes.to_be_bytes());
    let pseudo = addresses + checksum::pseudo_header(&[], udp_bytes);
    let sum = !checksum::fold(pseudo + checksum::sum(&header) + checksum::sum(payload));
    // Zero says that there is none; its other form says the same number.
    let sum = if sum == 0 { 0xffff } else { sum };
    header[6..8].copy_from_slice(&sum.to_ne_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(payload);
    let padded = out.len().max(start + FRAME_BYTES_MIN);
    out.resize(padded, 0);
}

fn write_v4(out: &mut Vec<u8>, from: [u8; 4], to: [u8; 4], udp_bytes: u16) {
    let total = udp_bytes.checked_add(20);
    let [high, low] = total.expect("the packet is too long for IPv4").to_be_bytes();
    // Never in fragments, so it needs no identification (RFC 6864).
    let mut header = [0x45, 0, high, low, 0, 0, 0x40, 0, HOP_LIMIT, UDP, 0, 0];
    let sum = checksum::sum(&header) + checksum::sum(&from) + checksum::sum(&to);
    header[10..12].copy_from_slice(&(!checksum::fold(sum)).to_ne_bytes());
    out.extend_from_slice(&[0x08, 0x00]);
    out.extend_from_slice(&header);
    out.extend_from_slice(&from);
    out.extend_from_slice(&to);
}

fn write_v6(out: &mut Vec<u8>, from: [u8; 16], to: [u8; 16], udp_bytes: u16) {
    let [high, low] = udp_bytes.to_be_bytes();
    out.extend_from_slice(&[0x86, 0xdd]);
    out.extend_from_slice(&[0x60, 0, 0, 0, high, low, UDP, HOP_LIMIT]);
    out.extend_from_slice(&from);
    out.extend_from_slice(&to);
}

/// The way back to the sender of a datagram in an Ethernet frame, whose checksums are trusted.
///
/// None where there is no datagram, more than one tag, or one end that no reply may come from or go
/// to: a group, broadcast or null address of either layer, or port 0. (An answer to a group
/// would be an amplifier.)
#[must_use]
pub fn reply_path(frame: &[u8]) -> Option<ReplyPath> {
    let datagram = udp(&Received::ethernet(frame, 0), Checksums::Trust).ok()?;
    let (target_mac, rest) = frame.split_first_chunk::<6>()?;
    let (source_mac, rest) = rest.split_first_chunk::<6>()?;
    let vlan = match *rest {
        [0x81, 0, high, low, 0x08, 0, ..] | [0x81, 0, high, low, 0x86, 0xdd, ..] => {
            Some(u16::from_be_bytes([high, low]))
        }
        [0x08, 0, ..] | [0x86, 0xdd, ..] => None,
        _ => return None,
    };
    let from = end(*target_mac, datagram.target, datagram.target_port)?;
    let to = end(*source_mac, datagram.source, datagram.source_port)?;
    Some(ReplyPath { from, to, vlan })
}

/// An endpoint that can be written to and from.
fn end(mac: [u8; 6], ip: u128, port: u16) -> Option<Endpoint> {
    let ip = Ipv6Addr::from_bits(ip).to_canonical();
    let is_one = !ip.is_multicast() && !ip.is_unspecified() && mac[0] & 1 == 0 && mac != [0; 6];
    let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    (is_one && !is_broadcast && port != 0).then_some(Endpoint { mac, ip, port })
}

const VLAN: u16 = 0x8100;
const UDP_HEADER_BYTES: usize = 8;
/// Least length of a frame, without its check sequence.
const FRAME_BYTES_MIN: usize = 60;
const HOP_LIMIT: u8 = 64;

#[cfg(test)]
mod tests;
