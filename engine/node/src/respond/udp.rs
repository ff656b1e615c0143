//! Lookups over UDP: one datagram in, at most one out, never a longer one.
//!
//! Hot path: one blocking receive and one send per lookup; buffers live as long as the thread.

use std::net::SocketAddr;
use std::sync::Arc;

use bloomrf_engine::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX_IPV6};
use bloomrf_engine::wire::lookup::LookupError;

use super::Responder;
use super::socket::LookupSocket;
use crate::metrics::LookupRefusal;
use crate::shared::Shared;
use crate::watch::Pulse;

/// The UDP responder thread's own.
pub(crate) struct UdpResponder {
    socket: LookupSocket,
    responder: Responder,
}

impl UdpResponder {
    /// Takes a bound socket.
    pub(crate) fn new(socket: LookupSocket, shared: Arc<Shared>) -> Self {
        UdpResponder { socket, responder: Responder::new(shared) }
    }

    /// Answers until stopped.
    pub(crate) fn run(mut self, pulse: &Pulse) {
        // One byte more than allowed: a longer datagram is seen to be longer.
        let mut request = [0; DATAGRAM_BYTES_MAX + 1];
        let mut reply = Vec::with_capacity(DATAGRAM_BYTES_MAX);
        let shared = Arc::clone(&self.responder.shared);
        while !shared.stopping() {
            pulse.beat();
            let Some((length, source)) = self.socket.receive(&mut request) else { continue };
            let message = request.get(..length).unwrap_or_default();
            match self.answer(message, source, &mut reply) {
                Ok(()) => {
                    self.socket.send(&reply, source);
                    self.responder.account();
                }
                Err(refusal) => shared.metrics.lookup.refused(refusal),
            }
        }
    }

    fn answer(
        &mut self,
        message: &[u8],
        source: SocketAddr,
        reply: &mut Vec<u8>,
    ) -> Result<(), LookupRefusal> {
        if !may_answer(source, self.socket.address().port()) {
            return Err(LookupRefusal::Source);
        }
        if message.len() > DATAGRAM_BYTES_MAX {
            return Err(LookupRefusal::Malformed(LookupError::Length));
        }
        let datagram_max =
            if is_ipv4(source) { DATAGRAM_BYTES_MAX } else { DATAGRAM_BYTES_MAX_IPV6 };
        self.responder.answer(message, message.len().min(datagram_max), reply)?;
        // The one place that emits: no reply is longer than its request, nor than a datagram.
        assert!(reply.len() <= message.len() && reply.len() <= datagram_max);
        Ok(())
    }
}

/// Also of an IPv4 asker that an IPv6 socket heard.
fn is_ipv4(source: SocketAddr) -> bool {
    source.ip().to_canonical().is_ipv4()
}

/// Whether a source may get a reply: two nodes must not talk to each other for ever, and a forged
/// source must not make us shout at a whole network.
fn may_answer(source: SocketAddr, own_port: u16) -> bool {
    let unicast = match source.ip().to_canonical() {
        std::net::IpAddr::V4(ip) => {
            !ip.is_broadcast() && !ip.is_multicast() && !ip.is_unspecified()
        }
        std::net::IpAddr::V6(ip) => !ip.is_multicast() && !ip.is_unspecified(),
    };
    unicast && source.port() != 0 && source.port() != own_port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unicast_sources_with_a_port_of_their_own_are_answered() {
        for (source, allowed) in [
            ("10.0.0.1:5000", true),
            ("[fe80::1]:5000", true),
            ("10.0.0.1:6997", false),
            ("10.0.0.1:0", false),
            ("0.0.0.0:5000", false),
            ("255.255.255.255:5000", false),
            ("239.1.2.3:5000", false),
            ("[ff02::1]:5000", false),
            ("[::]:5000", false),
            ("[::ffff:255.255.255.255]:5000", false),
        ] {
            assert_eq!(may_answer(source.parse().unwrap(), 6_997), allowed, "{source}");
        }
    }
}
