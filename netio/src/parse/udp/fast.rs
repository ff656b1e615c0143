//! Most frames: Ethernet, perhaps one VLAN tag, IPv4 without options or IPv6 without extension
//! headers, UDP. All fields are at fixed offsets behind one length check; the other check is
//! that UDP lies inside IP, and IP inside the frame.
//!
//! Hot path: no allocation, no lock, no syscall; a few nanoseconds, and with sums one pass over the
//! datagram.

use super::{Checksums, FrameRefusal, UdpDatagram, is_mapped, mapped};
use crate::parse::link::{IPV4, IPV6, VLAN, VLAN_STACKED};
use crate::parse::{UDP, checksum};

type Outcome<'a> = Option<Result<UdpDatagram<'a>, FrameRefusal>>;

/// None where the frame is any other than most, or no good: the slow path says which. Only sums
/// are judged here.
#[inline]
pub(super) fn read(frame: &[u8], checksums: Checksums) -> Outcome<'_> {
    // The shortest frame with a datagram; it has bytes for a tag, too.
    let head = frame.first_chunk::<42>()?;
    match u16::from_be_bytes([head[12], head[13]]) {
        IPV4 => v4(frame.get(14..)?, checksums),
        IPV6 => v6(frame.get(14..)?, checksums),
        VLAN | VLAN_STACKED => match u16::from_be_bytes([head[16], head[17]]) {
            IPV4 => v4(frame.get(18..)?, checksums),
            IPV6 => v6(frame.get(18..)?, checksums),
            _ => None,
        },
        _ => None,
    }
}

#[inline]
fn v4(packet: &[u8], checksums: Checksums) -> Outcome<'_> {
    let head = packet.first_chunk::<28>()?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let total = usize::from(word(2));
    let end = 20 + usize::from(word(24));
    // Version and length; more fragments, or a place among them; protocol.
    let is_plain = (head[0] == 0x45) & (word(6) & 0x3fff == 0) & (head[9] == UDP);
    if !is_plain || end < 28 || end > total || total > packet.len() {
        return None;
    }
    let payload = packet.get(28..end)?;
    if checksums == Checksums::Verify {
        if checksum::fold(checksum::sum(&head[..20])) != 0xffff {
            return Some(Err(FrameRefusal::IpChecksum));
        }
        let has_sum = head[26] | head[27] != 0;
        if has_sum && !is_right(&head[12..20], &head[20..], payload) {
            return Some(Err(FrameRefusal::UdpChecksum));
        }
    }
    Some(Ok(UdpDatagram {
        payload,
        source: mapped([head[12], head[13], head[14], head[15]]),
        target: mapped([head[16], head[17], head[18], head[19]]),
        source_port: word(20),
        target_port: word(22),
    }))
}

#[inline]
fn v6(packet: &[u8], checksums: Checksums) -> Outcome<'_> {
    let head = packet.first_chunk::<48>()?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let total = 40 + usize::from(word(4));
    let end = 40 + usize::from(word(44));
    let address = |at: usize| head.get(at..).and_then(<[u8]>::first_chunk).copied();
    let source = u128::from_be_bytes(address(8)?);
    let target = u128::from_be_bytes(address(24)?);
    let is_plain = (head[0] >> 4 == 6) & (head[6] == UDP);
    if !is_plain || end < 48 || end > total || total > packet.len() {
        return None;
    }
    if is_mapped(source) | is_mapped(target) {
        return None;
    }
    let payload = packet.get(48..end)?;
    if checksums == Checksums::Verify {
        let has_sum = head[46] | head[47] != 0;
        if !has_sum || !is_right(&head[8..40], &head[40..], payload) {
            return Some(Err(FrameRefusal::UdpChecksum));
        }
    }
    Some(Ok(UdpDatagram { payload, source, target, source_port: word(40), target_port: word(42) }))
}

/// Whether a datagram's sum is right. Addresses and header are short and of a known length, so that
/// their part is a few additions.
#[inline]
fn is_right(addresses: &[u8], header: &[u8], payload: &[u8]) -> bool {
    let length = u16::from_be_bytes([header[4], header[5]]);
    let head = checksum::pseudo_header(addresses, length) + checksum::sum(header);
    checksum::fold(head + checksum::sum(payload)) == 0xffff
}
