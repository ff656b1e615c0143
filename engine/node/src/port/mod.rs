//! A raw port that owns addresses: what the kernel does for a socket is done here, in one thread.
//! Poll loops copy frames for the port into rings; lookups over UDP are answered at once, the rest
//! (ARP, neighbour discovery, pings, lookups over TCP) goes to a small stack.
//!
//! Hot path: no allocation on the UDP path, no lock; work per turn bounded by `FRAMES_PER_TURN`,
//! UDP first. A flood of other frames fills `waiting`, which is dropped from, and delays a lookup
//! by the few frames of a turn. Rules of answering are those of [`crate::respond`].

mod addresses;
mod passage;
mod ring;
mod seats;
mod slot;
mod stack;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bloomrf_engine::limits::DATAGRAM_BYTES_MAX;
use bloomrf_netio::frame::{reply_path, write_udp};
use bloomrf_netio::parse::{Checksums, FrameRefusal, UdpDatagram, udp};
use bloomrf_netio::{FrameSender, Received};

use crate::metrics::{LookupRefusal, PortOutcome};
use crate::respond::{Answerer, LOOKUP_NICENESS};
use crate::shared::Shared;
use crate::watch::Pulse;

pub(crate) use addresses::Addresses;
pub(crate) use ring::{TO_PORT_MAX, ToPort};
pub(crate) use slot::FrameSlot;

use passage::{Ignored, Passing};
use stack::Stack;
use wire::Wire;

/// The port thread's own.
pub(crate) struct PortLoop {
    /// From the poll loops.
    frames: Vec<rtrb::Consumer<FrameSlot>>,
    own: Addresses,
    lookup_port: u16,
    checksums: Checksums,
    answerer: Answerer,
    stack: Stack,
    wire: Wire,
    /// For the stack, without tags.
    waiting: VecDeque<FrameSlot>,
    reply: Vec<u8>,
    out: Vec<u8>,
    shared: Arc<Shared>,
}

impl PortLoop {
    /// With all memory that it will ever use. One ring per poll loop.
    pub(crate) fn new(
        frames: Vec<rtrb::Consumer<FrameSlot>>,
        sender: Box<dyn FrameSender>,
        own: Addresses,
        lookup_port: u16,
        shared: Arc<Shared>,
    ) -> Self {
        let checksums = match shared.config.link.checksums {
            crate::config::Checksums::Verify => Checksums::Verify,
            crate::config::Checksums::Trust => Checksums::Trust,
        };
        let mut wire = Wire::new(sender, Arc::clone(&shared));
        let stack = Stack::new(&shared, own.clone(), lookup_port, &mut wire);
        PortLoop {
            frames,
            own,
            lookup_port,
            checksums,
            answerer: Answerer::new(Arc::clone(&shared)),
            stack,
            wire,
            waiting: VecDeque::with_capacity(WAITING_MAX),
            reply: Vec::with_capacity(DATAGRAM_BYTES_MAX),
            out: Vec::with_capacity(slot::SLOT_BYTES),
            shared,
        }
    }

    /// Answers until stopped.
    pub(crate) fn run(mut self, pulse: &Pulse) {
        let _ = rustix::process::nice(LOOKUP_NICENESS);
        while !self.shared.stopping() {
            pulse.beat();
            if self.turn(pulse) {
                continue;
            }
            // A poll loop wakes this thread after its last push: either it is seen above, or this
            // sleep ends at once.
            let now_ns = self.shared.clock.now_ns();
            let sleep = Duration::from_nanos(self.stack.due_ns().saturating_sub(now_ns));
            thread::park_timeout(sleep.min(SLEEP_MAX));
        }
    }

    /// One turn: what has come over UDP first, then a little of the rest. True where more may be
    /// waiting.
    fn turn(&mut self, pulse: &Pulse) -> bool {
        let mut any = false;
        for queue in 0..self.frames.len() {
            for _ in 0..FRAMES_PER_TURN {
                let Some(slot) = self.frames.get_mut(queue).and_then(|ring| ring.pop().ok()) else {
                    break;
                };
                any = true;
                let outcome = self.take(&slot);
                self.shared.metrics.port.count(outcome);
                // A lookup may take its whole budget.
                pulse.beat();
            }
        }
        for _ in 0..STACK_FRAMES_PER_TURN {
            let Some(slot) = self.waiting.pop_front() else { break };
            self.stack.take(slot.frame(), &mut self.wire, &self.shared);
            any = true;
        }
        if self.shared.clock.now_ns() >= self.stack.due_ns() {
            self.stack.turn(&mut self.wire, &mut self.answerer, &self.shared);
        }
        any
    }

    fn take(&mut self, slot: &FrameSlot) -> PortOutcome {
        let frame = slot.frame();
        match udp(&Received::ethernet(frame, 0), self.checksums) {
            Ok(datagram) => self.take_datagram(frame, &datagram),
            Err(FrameRefusal::NotUdp | FrameRefusal::NotIp) => self.take_other(frame),
            Err(FrameRefusal::Fragment) => PortOutcome::Fragment,
            Err(_) => PortOutcome::Damaged,
        }
    }

    fn take_datagram(&mut self, frame: &[u8], datagram: &UdpDatagram<'_>) -> PortOutcome {
        if !self.own.owns(datagram.target) {
            return PortOutcome::Target;
        }
        if datagram.target_port != self.lookup_port {
            return PortOutcome::Kind;
        }
        match self.answer(frame, datagram) {
            Ok(()) => {
                self.wire.send(&self.out);
                self.answerer.account();
                PortOutcome::Answered
            }
            Err(refusal) => {
                self.shared.metrics.lookup.refused(refusal);
                PortOutcome::Refused
            }
        }
    }

    /// Writes the frame of the reply into `out`.
    fn answer(&mut self, frame: &[u8], datagram: &UdpDatagram<'_>) -> Result<(), LookupRefusal> {
        // To one host, from one host, by either layer, and neither of them is the other.
        let path = reply_path(frame).ok_or(LookupRefusal::Source)?;
        let is_ours = path.from.mac == self.own.mac() && path.to.mac != self.own.mac();
        if !is_ours || !self.own.may_ask(datagram.source) {
            return Err(LookupRefusal::Source);
        }
        let source = Ipv6Addr::from_bits(datagram.source).to_canonical();
        let source = SocketAddr::new(source, datagram.source_port);
        self.answerer.datagram(datagram.payload, source, self.lookup_port, &mut self.reply)?;
        self.out.clear();
        write_udp(&mut self.out, &path.from, &path.to, path.vlan, &self.reply);
        Ok(())
    }

    fn take_other(&mut self, frame: &[u8]) -> PortOutcome {
        let passage = match passage::judge(frame, &self.own, self.lookup_port) {
            Ok(passage) => passage,
            Err(ignored) => return ignored.into(),
        };
        if self.waiting.len() >= WAITING_MAX {
            return PortOutcome::StackFull;
        }
        if let Passing::Tcp { source, source_port, opens } = passage.kind {
            if !self.answerer.is_allowed(source) {
                return PortOutcome::Source;
            }
            if opens && self.stack.knows(source, source_port) {
                return PortOutcome::Repeated;
            }
            // A connection counts as a question: one that is not heard costs nobody a seat.
            if opens && let Err(refusal) = self.answerer.admit(source) {
                self.shared.metrics.lookup.refused(refusal);
                return PortOutcome::Refused;
            }
        }
        let Some(slot) = passage::untagged(frame, passage.vlan) else {
            return PortOutcome::Damaged;
        };
        self.wire.note_tag(frame, passage.vlan);
        self.waiting.push_back(slot);
        PortOutcome::Stack
    }
}

impl From<Ignored> for PortOutcome {
    fn from(ignored: Ignored) -> Self {
        match ignored {
            Ignored::Link => PortOutcome::Link,
            Ignored::Target => PortOutcome::Target,
            Ignored::Source => PortOutcome::Source,
            Ignored::Kind => PortOutcome::Kind,
            Ignored::Fragment => PortOutcome::Fragment,
            Ignored::Damaged => PortOutcome::Damaged,
        }
    }
}

/// Frames of one queue that are looked at in a turn.
const FRAMES_PER_TURN: usize = 64;
/// Frames that the stack takes in a turn.
const STACK_FRAMES_PER_TURN: usize = 16;
/// Frames that wait for the stack.
const WAITING_MAX: usize = 256;
/// Longest sleep: the watchdog wants to see a turn, and a stop is noticed.
const SLEEP_MAX: Duration = Duration::from_millis(100);
