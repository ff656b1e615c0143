//! The frames that all receivers get: UDP over IPv4 from side B of the pair to side A.

use std::net::IpAddr;

use bloomrf_lab::Side;
use bloomrf_netio::frame::{Endpoint, write_udp};

/// Lengths of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// 64 bytes: of payload where datagrams are sent, of the frame where a device makes them.
    Small,
    /// As long as a frame may be: 1,472 bytes of payload, 1,514 in all.
    Full,
}

impl Size {
    pub(crate) const BOTH: [Size; 2] = [Size::Small, Size::Full];

    /// As in the records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Size::Small => "64 B",
            Size::Full => "full frames",
        }
    }

    /// Bytes of the datagram.
    pub(crate) fn payload_bytes(self) -> usize {
        match self {
            Size::Small => 64,
            Size::Full => 1_472,
        }
    }
}

/// Where datagrams go.
pub(crate) const PORT: u16 = 7_000;

/// Address of a side; without its prefix.
pub(crate) fn address(side: Side) -> [u8; 4] {
    if side == Side::A { [10, 99, 0, 1] } else { [10, 99, 0, 2] }
}

fn endpoint(side: Side, port: u16) -> Endpoint {
    Endpoint { mac: side.mac(), ip: IpAddr::from(address(side)), port }
}

/// Frame number `n`, of one of some hundred flows.
pub(crate) fn frame(n: u32, size: Size) -> Vec<u8> {
    let payload: Vec<u8> = (0..size.payload_bytes()).map(|at| (at as u32 ^ n) as u8).collect();
    wrap(n, &payload)
}

/// A datagram with this payload.
pub(crate) fn wrap(n: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let from = endpoint(Side::B, 20_000 + (n % 97) as u16);
    write_udp(&mut frame, &from, &endpoint(Side::A, PORT), None, payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_is_1514_bytes_long() {
        assert_eq!(frame(1, Size::Full).len(), 1_514);
        assert_eq!(frame(1, Size::Small).len(), 106);
    }
}
