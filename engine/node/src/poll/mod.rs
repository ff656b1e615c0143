//! Ingest poll loops: one thread per queue joins a link to the engine.
//!
//! Hot path: no allocation, no lock per packet; one clock reading and one receive call per burst;
//! work bounded by BURST_MAX. Counters leave as copies, at most once per `PUBLISH_NS` and when
//! idle, through a lock that is only ever tried. When the ring to the sealer is full, the queue
//! keeps its events and goes on: ingest never waits for anybody.

mod counters;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

use bloomrf_engine::env::Clock;
use bloomrf_engine::handshake::{self, Stop};
use bloomrf_engine::ingest::{Queue, QueueCommand, QueueEvent, RefuseReason};
use bloomrf_netio::{BURST_MAX, Burst, Link, LinkError};

use crate::tap::Tap;
use crate::watch::Pulse;

pub(crate) use counters::{QueueCounters, QueueNumbers};

use crate::networks::Networks;
use crate::port::ToPort;

/// Everything one poll thread owns.
pub(crate) struct PollLoop {
    /// Where datagrams come from.
    pub(crate) link: Box<dyn Link>,
    /// What becomes of them.
    pub(crate) queue: Queue,
    /// Of a tap: makes records of what arrives, whatever it is.
    pub(crate) tap: Option<Tap>,
    /// Whose datagrams are looked at; the link keeps sources unless it is anybody's.
    pub(crate) allow: Networks,
    /// To the thread of a raw port that owns addresses.
    pub(crate) to_port: Option<ToPort>,
    /// From the sealer.
    pub(crate) commands: rtrb::Consumer<QueueCommand>,
    /// To the sealer.
    pub(crate) events: rtrb::Producer<QueueEvent>,
    /// The sealer's thread, to be woken.
    pub(crate) sealer: Thread,
    /// Copies of the counters, for metrics.
    pub(crate) counters: Arc<QueueCounters>,
    /// Time.
    pub(crate) clock: Arc<dyn Clock>,
    /// Set to end the loop.
    pub(crate) stop: Arc<Stop>,
}

impl PollLoop {
    /// Runs until stopped.
    pub(crate) fn run(mut self, pulse: &Pulse) {
        let mut failures = 0_u64;
        let (mut tick_ns, mut publish_ns) = (0, 0);
        while !self.stop.is_raised() {
            pulse.beat();
            let now = self.clock.now_ns();
            let (count, outcome) = self.take_burst(now);
            if let Err(error) = outcome {
                failures += 1;
                self.on_failure(failures, &error);
            }
            let commanded = self.take_commands(now);
            if now >= tick_ns {
                self.queue.on_tick(now);
                tick_ns = now + TICK_NS;
            }
            let ring_full = self.hand_over_events();
            let idle = count == 0 && !commanded;
            if idle || now >= publish_ns {
                self.counters.offer(self.numbers(failures));
                publish_ns = now + PUBLISH_NS;
            }
            if idle {
                let timeout = if ring_full { RING_RETRY } else { IDLE_WAIT };
                if self.link.wait(timeout).is_err() {
                    std::thread::sleep(RING_RETRY);
                }
            }
        }
        self.counters.store(self.numbers(failures));
    }

    /// Receives, and hands over what came: also what came before a failure, which was counted as
    /// received.
    fn take_burst(&mut self, now_ns: u64) -> (usize, Result<(), LinkError>) {
        if let Some(tap) = &mut self.tap {
            return tap.turn(&mut *self.link, &mut self.queue, now_ns);
        }
        let mut burst = Burst::new();
        let outcome = self.link.rx_burst(&mut burst);
        take_datagrams(&mut self.queue, &self.allow, &burst, now_ns);
        (burst.len(), outcome)
    }

    fn take_commands(&mut self, now_ns: u64) -> bool {
        let mut any = false;
        while let Ok(command) = self.commands.pop() {
            self.queue.on_command(command, now_ns);
            any = true;
        }
        any
    }

    /// Moves events to the sealer while there is room; true where it ran out.
    fn hand_over_events(&mut self) -> bool {
        handshake::hand_over(
            &mut self.events,
            rtrb::Producer::is_full,
            |ring, event| drop(ring.push(event)),
            || self.queue.next_event(),
            || self.sealer.unpark(),
        )
    }

    fn numbers(&self, failures: u64) -> QueueNumbers {
        let packets = self.tap.as_ref().map(|tap| *tap.counts()).unwrap_or_default();
        QueueNumbers { ingest: *self.queue.stats(), link: self.link.stats(), failures, packets }
    }

    #[cold]
    fn on_failure(&self, failures: u64, error: &LinkError) {
        if failures.is_power_of_two() {
            let link = self.link.describe();
            tracing::error!(link, failures, %error, "receiving failed; trying again");
        }
        std::thread::sleep(RING_RETRY);
    }
}

/// Hands the datagrams of allowed sources to the queue.
fn take_datagrams(queue: &mut Queue, allow: &Networks, burst: &Burst<'_>, now_ns: u64) {
    let mut datagrams: [&[u8]; BURST_MAX] = [&[]; BURST_MAX];
    let mut count = 0;
    for received in burst.iter() {
        if !allow.allow(received.source) {
            queue.refuse(RefuseReason::Source);
            continue;
        }
        if let Some(slot) = datagrams.get_mut(count) {
            *slot = received.bytes;
            count += 1;
        }
    }
    queue.on_burst(&datagrams[..count], now_ns);
}

/// Room for events of one queue on their way to the sealer.
pub(crate) const EVENTS_MAX: usize = 64;
/// Room for commands to one queue.
pub(crate) const COMMANDS_MAX: usize = 64;
/// Between two calls of `on_tick`, nanoseconds.
const TICK_NS: u64 = 5_000_000;
/// Between two copies of the counters under load, nanoseconds.
const PUBLISH_NS: u64 = 100_000_000;
/// Longest sleep of an idle queue.
const IDLE_WAIT: Duration = Duration::from_millis(50);
/// Sleep of an idle queue whose ring to the sealer is full, or whose link fails.
const RING_RETRY: Duration = Duration::from_millis(1);
