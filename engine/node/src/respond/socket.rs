//! The UDP lookup socket, which hears only what was sent to this node alone.
//!
//! Hot path: one receive call per datagram. A reply to a broadcast or multicast lookup would let
//! one forged datagram raise replies from every node of a network. So the kernel drops those
//! before they reach us, by a classic BPF program on the socket.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

/// The socket.
pub(crate) struct LookupSocket {
    socket: UdpSocket,
    address: SocketAddr,
}

impl LookupSocket {
    /// Binds, unshared; port 0 picks a free one.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            socket.set_only_v6(!address.ip().is_unspecified())?;
        }
        filter::unicast_only(&socket)?;
        // Room for a burst of questions; where the system grants less, askers time out sooner.
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
        socket.bind(&address.into())?;
        let socket = UdpSocket::from(socket);
        socket.set_read_timeout(Some(STOP_POLL))?;
        let address = socket.local_addr()?;
        Ok(LookupSocket { socket, address })
    }

    /// Address really bound.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for a datagram, at most [`STOP_POLL`]: its length and source.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        // An error is a timeout, or an ICMP message that an earlier reply met: nothing to do.
        self.socket.recv_from(buffer).ok()
    }

    /// Sends a reply. An error is the asker's loss only: it reads every batch.
    pub(crate) fn send(&self, reply: &[u8], target: SocketAddr) {
        let _ = self.socket.send_to(reply, target);
    }
}

/// Wanted receive buffer, bytes.
const RECEIVE_BUFFER: usize = 1 << 20;
/// How long a responder may take to notice that it is to stop.
const STOP_POLL: Duration = Duration::from_millis(100);

#[cfg(target_os = "linux")]
mod filter {
    use std::io;

    use socket2::{SockFilter, Socket};

    /// Accepts what was sent to this host alone. The loopback marks all of its packets so; the
    /// destination address is therefore looked at first, then the packet type, which alone knows
    /// the broadcast addresses of subnets.
    pub(super) fn unicast_only(socket: &Socket) -> io::Result<()> {
        const LOAD_BYTE: u16 = 0x30;
        const LOAD_WORD: u16 = 0x20;
        const AND: u16 = 0x54;
        const IF_EQUAL: u16 = 0x15;
        const IF_AT_LEAST: u16 = 0x35;
        const RETURN: u16 = 0x06;
        /// Offsets from here on are counted from the IP header.
        const IP: u32 = (-0x10_0000_i32).cast_unsigned();
        /// Of the kernel's own fields (from -0x1000 on), the packet type.
        const PACKET_TYPE: u32 = (-0x1000_i32 + 4).cast_unsigned();
        const TO_THIS_HOST: u32 = 0;
        const LOOPBACK_BROADCAST: u32 = 0x7fff_ffff;
        let step = SockFilter::new;
        let program = [
            step(LOAD_BYTE, 0, 0, IP),
            step(AND, 0, 0, 0xf0),
            step(IF_EQUAL, 3, 0, 0x60),
            // IPv4: the destination begins at byte 16; from 224.0.0.0 on, groups and broadcast.
            step(LOAD_WORD, 0, 0, IP + 16),
            step(IF_AT_LEAST, 6, 0, 0xe000_0000),
            step(IF_EQUAL, 5, 2, LOOPBACK_BROADCAST),
            // IPv6: at byte 24; ff is multicast.
            step(LOAD_BYTE, 0, 0, IP + 24),
            step(IF_EQUAL, 3, 0, 0xff),
            step(LOAD_WORD, 0, 0, PACKET_TYPE),
            step(IF_EQUAL, 0, 1, TO_THIS_HOST),
            step(RETURN, 0, 0, u32::MAX),
            step(RETURN, 0, 0, 0),
        ];
        socket.attach_filter(&program)
    }
}

#[cfg(not(target_os = "linux"))]
mod filter {
    use std::io;

    use socket2::Socket;

    /// No filter here: listen on one address of this host, not on all, to hear no broadcast.
    pub(super) fn unicast_only(_: &Socket) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcast_is_not_heard_and_unicast_is() {
        let listener = LookupSocket::bind("0.0.0.0:0".parse().unwrap()).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.set_broadcast(true).unwrap();
        let port = listener.address().port();
        let _ = sender.send_to(b"shout", ("127.255.255.255", port));
        sender.send_to(b"word", ("127.0.0.1", port)).unwrap();
        let mut buffer = [0; 16];
        let (length, source) = listener.receive(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"word");
        assert_eq!(source, sender.local_addr().unwrap());
        assert!(listener.receive(&mut buffer).is_none());
    }

    #[test]
    fn ipv6_multicast_is_not_heard_and_unicast_is() {
        let Ok(listener) = LookupSocket::bind("[::]:0".parse().unwrap()) else {
            return println!("skipped: no IPv6 here");
        };
        let Ok(sender) = UdpSocket::bind("[::1]:0") else {
            return println!("skipped: no IPv6 loopback here");
        };
        let port = listener.address().port();
        let _ = sender.send_to(b"shout", ("ff01::1", port));
        sender.send_to(b"word", ("::1", port)).unwrap();
        let mut buffer = [0; 16];
        let (length, _) = listener.receive(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"word");
        assert!(listener.receive(&mut buffer).is_none());
    }
}
