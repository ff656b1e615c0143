//! Ingest poll loops: one thread per queue joins a link to the engine, and runs each burst to
//! completion.
//!
//! Hot path: no allocation, no lock per packet; one clock reading, four readings of the cycle
//! counter and one receive call per burst; work bounded by BURST_MAX. Counters leave as copies, at
//! most once per `PUBLISH_NS` and when idle, through a lock that is only ever tried. When the ring
//! to the sealer is full, the queue keeps its events and goes on: ingest never waits for anybody.
//!
//! Stages of a burst: *receive* (the link), *sort* (of payloads, their sources; of frames, what
//! they carry: `sort`), *ingest* (the engine's queue).

mod account;
mod counters;
mod idle;
mod sort;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::Thread;

use arrayvec::ArrayVec;
use bloomrf_engine::env::Clock;
use bloomrf_engine::handshake::{self, Stop};
use bloomrf_engine::ingest::{Queue, QueueCommand, QueueEvent, RefuseReason};
use bloomrf_kernels::cycles;
use bloomrf_netio::{BURST_MAX, Burst, Link, LinkError};

use crate::tap::Tap;
use crate::watch::Pulse;

pub use account::FrameAccount;
pub(crate) use counters::{QueueCounters, QueueNumbers, StageNumbers};
pub(crate) use idle::Backoff;
pub(crate) use sort::{SortNumbers, Sorter};

use idle::{RING_RETRY, Rest};

use crate::networks::Networks;
use crate::packet::PacketCounts;

/// Everything one poll thread owns.
pub(crate) struct PollLoop {
    /// Where datagrams come from.
    pub(crate) link: Box<dyn Link>,
    /// What is between link and queue.
    pub(crate) stage: Stage,
    /// What becomes of them.
    pub(crate) queue: Queue,
    /// Whose datagrams are looked at; the link keeps sources unless it is anybody's.
    pub(crate) allow: Networks,
    /// From the sealer.
    pub(crate) commands: rtrb::Consumer<QueueCommand>,
    /// To the sealer.
    pub(crate) events: rtrb::Producer<QueueEvent>,
    /// The sealer's thread, to be woken.
    pub(crate) sealer: Thread,
    /// What is done while nothing arrives.
    pub(crate) backoff: Backoff,
    /// Copies of the counters, for metrics.
    pub(crate) counters: Arc<QueueCounters>,
    /// The counters.
    pub(crate) numbers: StageNumbers,
    /// Time.
    pub(crate) clock: Arc<dyn Clock>,
    /// Set to end the loop.
    pub(crate) stop: Arc<Stop>,
}

/// What a link's bursts are, and so what is done with them before ingest.
pub(crate) enum Stage {
    /// Payloads: only their sources are looked at.
    Payloads,
    /// Frames.
    Frames(Box<Sorter>),
    /// Packets, of which a tap makes records and batches.
    Tap(Box<Tap>),
}

impl PollLoop {
    /// Runs until stopped.
    pub(crate) fn run(mut self, pulse: &Pulse) {
        let (mut tick_ns, mut publish_ns) = (0, 0);
        // Numbers changed since they were last published.
        let (mut is_fresh, mut is_exhausted) = (false, false);
        while !self.stop.is_raised() {
            pulse.beat();
            let now = self.clock.now_ns();
            let (count, outcome) = self.take_burst(now);
            if let Err(error) = outcome {
                self.numbers.failures += 1;
                is_fresh = true;
                self.on_failure(&error);
            }
            let commanded = self.take_commands(now);
            if now >= tick_ns {
                self.queue.on_tick(now);
                tick_ns = now + TICK_NS;
            }
            let ring_full = self.hand_over_events();
            let idle = count == 0 && !commanded;
            is_fresh |= !idle;
            if now >= publish_ns || idle && is_fresh {
                is_fresh = !self.counters.offer(self.numbers());
                publish_ns = now + PUBLISH_NS;
            }
            if idle {
                if !is_exhausted && self.link.is_exhausted() {
                    is_exhausted = true;
                    self.on_exhausted();
                }
                self.rest(ring_full);
            } else {
                self.backoff.reset();
            }
        }
        self.counters.store(self.numbers());
    }

    /// Receives, and hands over what came: also what came before a failure, which was counted as
    /// received.
    fn take_burst(&mut self, now_ns: u64) -> (usize, Result<(), LinkError>) {
        if let Stage::Tap(tap) = &mut self.stage {
            return tap.turn(&mut *self.link, &mut self.queue, &mut self.numbers, now_ns);
        }
        let begin = cycles::now();
        let mut burst = Burst::new();
        let outcome = self.link.rx_burst(&mut burst);
        if burst.is_empty() {
            self.numbers.note_empty();
            return (0, outcome);
        }
        let received = cycles::now();
        let mut records = ArrayVec::<&[u8], BURST_MAX>::new();
        match &mut self.stage {
            Stage::Payloads => allowed(&burst, &self.allow, &mut self.queue, &mut records),
            Stage::Frames(sorter) => {
                sorter.sort(&burst, &self.allow, &mut self.queue, &mut records);
            }
            Stage::Tap(_) => {}
        }
        let sorted = cycles::now();
        self.queue.on_burst(&records, now_ns);
        self.numbers.note(burst.len(), [begin, received, sorted, cycles::now()]);
        (burst.len(), outcome)
    }

    /// Nothing came: what is done now is the configuration's choice.
    fn rest(&mut self, ring_full: bool) {
        match self.backoff.rest(ring_full) {
            Rest::Spin => std::hint::spin_loop(),
            Rest::Nap(time) => std::thread::sleep(time),
            Rest::Wait(timeout) => {
                if self.link.wait(timeout).is_err() {
                    std::thread::sleep(RING_RETRY);
                }
            }
        }
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

    fn numbers(&self) -> QueueNumbers {
        QueueNumbers {
            stage: self.numbers,
            sort: match &self.stage {
                Stage::Payloads | Stage::Tap(_) => SortNumbers::default(),
                Stage::Frames(sorter) => *sorter.numbers(),
            },
            packets: match &self.stage {
                Stage::Tap(tap) => *tap.counts(),
                Stage::Payloads | Stage::Frames(_) => PacketCounts::default(),
            },
            ingest: *self.queue.stats(),
            link: self.link.stats(),
        }
    }

    #[cold]
    fn on_failure(&self, error: &LinkError) {
        let failures = self.numbers.failures;
        if failures.is_power_of_two() {
            let link = self.link.describe();
            tracing::error!(link, failures, %error, "receiving failed; trying again");
        }
        std::thread::sleep(RING_RETRY);
    }

    /// A capture was played to its end.
    #[cold]
    fn on_exhausted(&self) {
        let (link, stats, account) =
            (self.link.describe(), self.link.stats(), self.numbers().account());
        tracing::info!(
            link,
            frames = stats.received,
            bytes = stats.bytes,
            ingested = account.ingested,
            refused = account.refused,
            ignored = account.ignored,
            dropped = account.dropped,
            "nothing more will arrive"
        );
    }
}

/// Appends the datagrams of allowed sources to `records`.
fn allowed<'a>(
    burst: &Burst<'a>,
    allow: &Networks,
    queue: &mut Queue,
    records: &mut ArrayVec<&'a [u8], BURST_MAX>,
) {
    for received in burst.iter() {
        if allow.allow(received.source) {
            records.push(received.bytes);
        } else {
            queue.refuse(RefuseReason::Source);
        }
    }
}

/// Room for events of one queue on their way to the sealer.
pub(crate) const EVENTS_MAX: usize = 64;
/// Room for commands to one queue.
pub(crate) const COMMANDS_MAX: usize = 64;
/// Between two calls of `on_tick`, nanoseconds.
const TICK_NS: u64 = 5_000_000;
/// Between two copies of the counters under load, nanoseconds.
const PUBLISH_NS: u64 = 100_000_000;
