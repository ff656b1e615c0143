//! The UDP lookup socket, which hears only what was sent to this node alone.
//!
//! Hot path: one receive call per datagram. A reply to a broadcast or multicast lookup would let
//! one forged datagram raise replies from every node of a network. So the kernel drops those
//! before they reach us, by a classic BPF program on the socket.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bloomrf_netio::link::udp::unicast_only;
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
        unicast_only(&socket)?;
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
