//! Where a datagram came from, as [`crate::Received::source`] tells it.
//!
//! Hot path: no allocation, no system call.

#[cfg(any(test, not(target_os = "linux")))]
use std::net::SocketAddr;

/// Room for an address of either family, as Linux writes it: family, port, and then IPv4's
/// address, or a flow and IPv6's address.
#[cfg(target_os = "linux")]
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Name {
    family: u16,
    port: [u8; 2],
    v4_or_flow: [u8; 4],
    v6: [u8; 16],
    scope: u32,
}

#[cfg(target_os = "linux")]
impl Name {
    /// The address; 0 where none has been written.
    pub(super) fn address_bits(&self) -> u128 {
        match i32::from(self.family) {
            libc::AF_INET => std::net::Ipv4Addr::from(self.v4_or_flow).to_ipv6_mapped().to_bits(),
            libc::AF_INET6 => u128::from_be_bytes(self.v6),
            _ => 0,
        }
    }
}

/// The same of an address as `rustix` has it.
#[cfg(any(test, not(target_os = "linux")))]
pub(super) fn address_bits(source: rustix::net::SocketAddrAny) -> u128 {
    match SocketAddr::try_from(source) {
        Ok(SocketAddr::V4(source)) => source.ip().to_ipv6_mapped().to_bits(),
        Ok(SocketAddr::V6(source)) => source.ip().to_bits(),
        Err(_) => 0,
    }
}
