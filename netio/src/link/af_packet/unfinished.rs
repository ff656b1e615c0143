//! Frames that a sender on this host handed over with half a checksum, trusting an interface to
//! finish it: over a veth pair or a bridge nobody does, and a receiver who checks would refuse
//! them. The kernel marks such frames; what the interface would have done is done here.
//!
//! Hot path: no allocation, no lock, no syscall; one pass over the frame, and only over those that
//! are marked, which no frame from a wire is.

use crate::parse::checksum;

/// Finishes the checksum of a whole UDP or TCP packet in a frame; leaves others as they are.
#[cold]
pub(super) fn finish(frame: &mut [u8]) {
    let Some((transport, place)) = transport(frame) else { return };
    // The field holds the sum of the pseudo header so far.
    let sum = !checksum::fold(checksum::sum(transport));
    let is_udp = place == UDP_PLACE;
    // Of UDP a zero says that there is none; its other form says the same number.
    let sum = if is_udp && sum == 0 { 0xffff } else { sum };
    if let Some(field) = transport.get_mut(place..place + 2) {
        field.copy_from_slice(&sum.to_ne_bytes());
    }
}

/// The packet's transport header with all behind it, and where its checksum is.
fn transport(frame: &mut [u8]) -> Option<(&mut [u8], usize)> {
    let mut kind_at = 12;
    while matches!(half(frame, kind_at)?, 0x8100 | 0x88a8) && kind_at < 20 {
        kind_at += 4;
    }
    let kind = half(frame, kind_at)?;
    let packet = frame.get_mut(kind_at + 2..)?;
    let (protocol, start, end) = match kind {
        0x0800 => {
            let header_bytes = usize::from(*packet.first()? & 15) * 4;
            // One in fragments has its checksum over all of them.
            let is_whole = half(packet, 6)? & 0x3fff == 0;
            let end = usize::from(half(packet, 2)?);
            is_whole.then_some((*packet.get(9)?, header_bytes, end))?
        }
        0x86dd => (*packet.get(6)?, 40, 40 + usize::from(half(packet, 4)?)),
        _ => return None,
    };
    let place = match protocol {
        17 => UDP_PLACE,
        6 => TCP_PLACE,
        _ => return None,
    };
    Some((packet.get_mut(start..end)?, place))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

const UDP_PLACE: usize = 6;
const TCP_PLACE: usize = 16;
