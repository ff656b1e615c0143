//! One message from a source: whether it is heard, and what is answered. The same for datagrams
//! that a socket delivers and for those that a raw port does, and for messages over TCP.
//!
//! Hot path: no allocation in a warm buffer, no lock.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bloomrf_engine::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX_IPV6, LOOKUP_BYTES_MAX};
use bloomrf_engine::wire::lookup::LookupError;

use super::Responder;
use super::gate::{Gate, may_answer};
use crate::metrics::LookupRefusal;
use crate::shared::Shared;

/// Of one responder thread: its gate and what answers.
pub(crate) struct Answerer {
    gate: Gate,
    responder: Responder,
    shared: Arc<Shared>,
}

impl Answerer {
    /// For a thread of its own.
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let gate = Gate::new(&shared.config);
        Answerer { gate, responder: Responder::new(Arc::clone(&shared)), shared }
    }

    /// Answers the datagram of `source` to our port `own_port`: writes the reply, never longer
    /// than `message`, into `reply`. [`Answerer::account`] once it is on its way.
    pub(crate) fn datagram(
        &mut self,
        message: &[u8],
        source: SocketAddr,
        own_port: u16,
        reply: &mut Vec<u8>,
    ) -> Result<(), LookupRefusal> {
        if !may_answer(source, own_port) {
            return Err(LookupRefusal::Source);
        }
        self.admit(source.ip())?;
        if message.len() > DATAGRAM_BYTES_MAX {
            return Err(LookupRefusal::Malformed(LookupError::Length));
        }
        let datagram_max =
            if is_ipv4(source) { DATAGRAM_BYTES_MAX } else { DATAGRAM_BYTES_MAX_IPV6 };
        self.responder.answer(message, message.len().min(datagram_max), reply)?;
        // The one place that lets a datagram out: no reply is longer than its request, nor than a
        // datagram.
        assert!(reply.len() <= message.len() && reply.len() <= datagram_max);
        Ok(())
    }

    /// Answers a message over TCP, whose asker was admitted, and accounts for it.
    pub(crate) fn message(
        &mut self,
        message: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<(), LookupRefusal> {
        self.responder.answer(message, LOOKUP_BYTES_MAX, reply)?;
        // Before anything else may run: the next answer takes this one's place.
        self.responder.account();
        Ok(())
    }

    /// Whether a question, or a connection, of `source` is heard; it is charged to its network.
    pub(crate) fn admit(&mut self, source: IpAddr) -> Result<(), LookupRefusal> {
        self.gate.admit(source, self.shared.clock.now_ns())
    }

    /// Whether `source` is on the allow-list; nothing is charged.
    pub(crate) fn is_allowed(&self, source: IpAddr) -> bool {
        self.gate.is_allowed(source)
    }

    /// Counts and logs the last answer to a datagram; called before the next one.
    pub(crate) fn account(&mut self) {
        self.responder.account();
    }
}

/// Also of an IPv4 asker that an IPv6 socket heard.
fn is_ipv4(source: SocketAddr) -> bool {
    source.ip().to_canonical().is_ipv4()
}
