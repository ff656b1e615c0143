//! Lookups over UDP: one datagram in, at most one out, never a longer one.
//!
//! Hot path: one blocking receive and one send per lookup; buffers live as long as the thread.

use std::net::SocketAddr;
use std::sync::Arc;

use bloomrf_engine::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX_IPV6};
use bloomrf_engine::wire::lookup::LookupError;

use super::Responder;
use super::gate::{Gate, may_answer};
use super::socket::LookupSocket;
use crate::metrics::LookupRefusal;
use crate::shared::Shared;
use crate::watch::Pulse;

/// The UDP responder thread's own.
pub(crate) struct UdpResponder {
    socket: LookupSocket,
    gate: Gate,
    responder: Responder,
}

impl UdpResponder {
    /// Takes a bound socket.
    pub(crate) fn new(socket: LookupSocket, shared: Arc<Shared>) -> Self {
        UdpResponder { socket, gate: Gate::new(&shared.config), responder: Responder::new(shared) }
    }

    /// Answers until stopped.
    pub(crate) fn run(mut self, pulse: &Pulse) {
        // Of this thread alone. Without the right to it, it merely waits its turn beside others.
        let _ = rustix::process::nice(LOOKUP_NICENESS);
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
        self.gate.admit(source.ip(), self.responder.shared.clock.now_ns())?;
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

/// Niceness added to the lookup thread: it works for microseconds at a time and is waited for, so
/// it comes before whatever else runs on its core.
const LOOKUP_NICENESS: i32 = -5;
