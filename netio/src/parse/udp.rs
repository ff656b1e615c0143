//! UDP datagrams of raw frames. Whatever is accepted lies wholly inside the frame; whatever is not
//! is refused for a stated reason.
//!
//! Hot path: no allocation, no lock, no syscall; work bounded by the frame and, off the fast path,
//! by the limits on tags and extension headers.

mod fast;
mod refusal;
mod slow;

pub use refusal::FrameRefusal;

use crate::Received;
use crate::burst::ETHERNET;

/// A UDP datagram where the link holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpDatagram<'a> {
    /// What its UDP length says, without padding and without what else is in the IP packet.
    pub payload: &'a [u8],
    /// Who sent it, as IPv6; of IPv4 the mapped address.
    pub source: u128,
    /// Whom it is addressed to, likewise.
    pub target: u128,
    /// The sender's port; 0 where no reply is expected.
    pub source_port: u16,
    /// The port that it is sent to.
    pub target_port: u16,
}

/// Whether sums over IPv4 headers and datagrams are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checksums {
    /// Wrong ones are refused.
    #[default]
    Verify,
    /// The port has verified them, or senders on this machine left them to a card that there is
    /// not: nothing is computed.
    Trust,
}

/// The datagram that a frame carries.
///
/// Ethernet with up to eight VLAN tags, raw IP, or Linux cooked capture; IPv4 with options, IPv6
/// with extension headers; one datagram in one packet. Lengths are held against each other and
/// against what is there: UDP's against IP's, IP's against the frame's.
///
/// # Errors
/// A [`FrameRefusal`] for anything else.
#[inline]
pub fn udp<'a>(
    received: &Received<'a>,
    checksums: Checksums,
) -> Result<UdpDatagram<'a>, FrameRefusal> {
    if received.link_type == ETHERNET
        && let Some(outcome) = fast::read(received.bytes, checksums)
    {
        return outcome;
    }
    slow::read(received, checksums)
}

/// The IPv6 form of an IPv4 address, `::ffff:a.b.c.d`.
#[inline]
fn mapped(address: [u8; 4]) -> u128 {
    0xffff_0000_0000 | u128::from(u32::from_be_bytes(address))
}

#[inline]
fn is_mapped(address: u128) -> bool {
    address >> 32 == 0xffff
}

#[cfg(test)]
mod tests;
