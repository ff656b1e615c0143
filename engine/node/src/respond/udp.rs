//! Lookups over UDP: one datagram in, at most one out, never a longer one.
//!
//! Hot path: one blocking receive and one send per lookup; buffers live as long as the thread.

use std::sync::Arc;

use bloomrf_engine::limits::DATAGRAM_BYTES_MAX;

use super::answerer::Answerer;
use super::socket::LookupSocket;
use crate::shared::Shared;
use crate::watch::Pulse;

/// The UDP responder thread's own.
pub(crate) struct UdpResponder {
    socket: LookupSocket,
    answerer: Answerer,
    shared: Arc<Shared>,
}

impl UdpResponder {
    /// Takes a bound socket.
    pub(crate) fn new(socket: LookupSocket, shared: Arc<Shared>) -> Self {
        UdpResponder { socket, answerer: Answerer::new(Arc::clone(&shared)), shared }
    }

    /// Answers until stopped.
    pub(crate) fn run(mut self, pulse: &Pulse) {
        // Of this thread alone. Without the right to it, it merely waits its turn beside others.
        let _ = rustix::process::nice(LOOKUP_NICENESS);
        // One byte more than allowed: a longer datagram is seen to be longer.
        let mut request = [0; DATAGRAM_BYTES_MAX + 1];
        let mut reply = Vec::with_capacity(DATAGRAM_BYTES_MAX);
        let own_port = self.socket.address().port();
        while !self.shared.stopping() {
            pulse.beat();
            let Some((length, source)) = self.socket.receive(&mut request) else { continue };
            let message = request.get(..length).unwrap_or_default();
            match self.answerer.datagram(message, source, own_port, &mut reply) {
                Ok(()) => {
                    self.socket.send(&reply, source);
                    self.answerer.account();
                }
                Err(refusal) => self.shared.metrics.lookup.refused(refusal),
            }
        }
    }
}

/// Niceness added to a thread that answers lookups: it works for microseconds at a time and is
/// waited for, so it comes before whatever else runs on its core.
pub(crate) const LOOKUP_NICENESS: i32 = -5;
