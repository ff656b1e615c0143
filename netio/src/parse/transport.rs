//! Ports and TCP flags.
//!
//! Hot path: no allocation, no lock, no syscall.

use etherparse::{TcpHeaderSlice, UdpHeaderSlice};

use super::{Headers, Trouble, UDP, be16};

const TCP: u8 = 6;
const DCCP: u8 = 33;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

/// Reads the header of `protocol` as far as it is there. All protocols that have ports begin with
/// them.
pub(super) fn read(protocol: u8, bytes: &[u8], headers: &mut Headers) -> Result<(), Trouble> {
    let whole = match protocol {
        TCP => {
            headers.tcp_flags = bytes.get(13).copied();
            TcpHeaderSlice::from_slice(bytes).is_ok()
        }
        UDP | UDP_LITE => UdpHeaderSlice::from_slice(bytes).is_ok(),
        DCCP | SCTP => bytes.len() >= 12,
        _ => return Ok(()),
    };
    headers.ports = be16(bytes, 0).zip(be16(bytes, 2));
    whole.then_some(()).ok_or(Trouble::TransportHeader)
}
