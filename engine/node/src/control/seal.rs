//! The seal thread: joins the sealer's state machine to the queues' rings, the store and the SCC
//! client.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bloomrf_engine::handshake;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::ingest::{QueueCommand, QueueEvent};
use bloomrf_engine::seal::{IncompleteReason, SealAction, SealedBatch, Sealer};
use bloomrf_engine::store::InsertError;
use bloomrf_engine::wire::stream::Missing;
use bloomrf_netio::Waker;
use tokio::sync::mpsc;

use super::own::OwnVerdicts;
use super::warn::SizeWarnings;
use super::{FromScc, Offer, Outcome, ToScc};
use crate::metrics::incomplete_label;
use crate::shared::Shared;
use crate::tap::TapVerdict;
use crate::watch::Pulse;

/// The sealer's end of one queue.
pub(crate) struct QueuePort {
    /// From the queue.
    pub(crate) events: rtrb::Consumer<QueueEvent>,
    /// To the queue.
    pub(crate) commands: rtrb::Producer<QueueCommand>,
    /// Ends the queue's sleep.
    pub(crate) waker: Waker,
    /// Commands that found the ring full.
    pub(crate) backlog: VecDeque<QueueCommand>,
}

impl QueuePort {
    /// Takes a command for the queue. None is ever dropped: the sealer does not repeat a `Take`
    /// that was not answered. It has few batches at work, and one question per queue and batch
    /// under way, which bounds the backlog.
    fn give(&mut self, command: QueueCommand) {
        self.backlog.push_back(command);
    }

    /// Moves commands into the ring and wakes the queue; true where the ring is still full.
    fn flush(&mut self) -> bool {
        handshake::hand_over(
            &mut self.commands,
            rtrb::Producer::is_full,
            |ring, command| drop(ring.push(command)),
            || self.backlog.pop_front(),
            || self.waker.wake(),
        ) && !self.backlog.is_empty()
    }
}

/// Everything the seal thread owns.
pub(crate) struct SealLoop {
    shared: Arc<Shared>,
    sealer: Sealer,
    queues: Vec<QueuePort>,
    own: OwnVerdicts,
    reports: mpsc::Sender<ToScc>,
    from_scc: mpsc::Receiver<FromScc>,
    warnings: SizeWarnings,
    /// When the first CLOSE of a batch was seen, nanoseconds.
    closed_ns: HashMap<BatchId, u64>,
}

impl SealLoop {
    /// A loop over all queues; `taps` judge their batches themselves.
    pub(crate) fn new(
        shared: Arc<Shared>,
        sealer: Sealer,
        queues: Vec<QueuePort>,
        taps: Vec<rtrb::Consumer<TapVerdict>>,
        reports: mpsc::Sender<ToScc>,
        from_scc: mpsc::Receiver<FromScc>,
    ) -> Self {
        let warnings = SizeWarnings::new(&shared.config);
        let (own, closed_ns) = (OwnVerdicts::new(taps), HashMap::new());
        SealLoop { shared, sealer, queues, own, reports, from_scc, warnings, closed_ns }
    }

    /// Runs until stopped.
    pub(crate) fn run(mut self, pulse: &Pulse) {
        // Of this thread alone. Without the right to be nice it is merely less polite.
        let _ = rustix::process::nice(SEAL_NICENESS);
        while !self.shared.stopping() {
            pulse.beat();
            let busy = self.take_events() | self.take_repaired() | self.take_own_verdicts();
            let now = self.shared.clock.now_ns();
            if self.sealer.next_tick_ns().is_some_and(|due| due <= now) {
                self.sealer.on_tick(now);
            }
            // Before the actions: whoever sees a batch given up sees why, too.
            self.shared.metrics.repair.show(self.sealer.repair_stats());
            self.shared.metrics.seal.show_lanes(self.sealer.lane_stats());
            let acted = self.act();
            let waiting = self.flush_commands();
            if !busy && !acted && !self.tend_store() {
                std::thread::park_timeout(self.sleep(waiting));
            }
        }
    }

    fn take_events(&mut self) -> bool {
        let mut any = false;
        for index in 0..self.queues.len() {
            // A ring's worth per turn: no queue starves the others.
            for _ in 0..crate::poll::EVENTS_MAX {
                let port = self.queues.get_mut(index);
                let Some(Ok(event)) = port.map(|p| p.events.pop()) else { break };
                let now = self.shared.clock.now_ns();
                if let QueueEvent::Close { batch, .. } = &event {
                    self.remember_close(*batch, now);
                }
                self.sealer.on_event(index, event, now);
                any = true;
            }
        }
        any
    }

    fn take_own_verdicts(&mut self) -> bool {
        self.own.take(&mut self.sealer, &self.shared)
    }

    /// Takes what the SCC sent again: some at a time, between events of the queues.
    fn take_repaired(&mut self) -> bool {
        let mut any = false;
        for _ in 0..crate::poll::EVENTS_MAX {
            let Ok(message) = self.from_scc.try_recv() else { break };
            any = true;
            match message {
                FromScc::Repairs(available) => self.sealer.on_repairs(available),
                FromScc::Frame(bytes) => {
                    self.sealer.on_frame(&bytes, self.shared.clock.now_ns());
                }
                FromScc::NotKept(batch) => self.sealer.on_not_kept(batch),
            }
        }
        any
    }

    /// A CLOSE that comes when its batch is finished stays here: the oldest makes room.
    fn remember_close(&mut self, batch: BatchId, now_ns: u64) {
        self.closed_ns.entry(batch).or_insert(now_ns);
        if self.closed_ns.len() > CLOSED_MAX {
            let oldest = self.closed_ns.iter().min_by_key(|entry| *entry.1).map(|entry| *entry.0);
            oldest.map(|oldest| self.closed_ns.remove(&oldest));
        }
    }

    fn act(&mut self) -> bool {
        let mut any = false;
        while let Some(action) = self.sealer.next_action() {
            any = true;
            match action {
                SealAction::Queue(index, command) => self.command(index, command),
                SealAction::Sealed(batch) => self.on_sealed(*batch),
                SealAction::Repair { batch, close, ranges } => {
                    tracing::debug!(batch, close, ranges = ranges.len(), "asking for frames");
                    self.report(ToScc::Missing(Missing { batch, close, ranges }));
                }
                SealAction::Incomplete(batch, reason) => {
                    self.closed_ns.remove(&batch);
                    self.shared.metrics.seal.incomplete(reason);
                    if reason == IncompleteReason::Loss {
                        self.own.tell_lost(batch);
                        continue;
                    }
                    self.own.on_failed(batch, &self.shared);
                    let reason = incomplete_label(reason);
                    tracing::warn!(batch, reason, "batch given up: it has no filter");
                }
            }
        }
        any
    }

    fn command(&mut self, index: usize, command: QueueCommand) {
        if let Some(port) = self.queues.get_mut(index) {
            port.give(command);
        }
    }

    /// Moves commands into the rings and wakes the queues; true where a ring is still full.
    fn flush_commands(&mut self) -> bool {
        let mut waiting = false;
        for port in &mut self.queues {
            waiting |= port.flush();
        }
        waiting
    }

    fn on_sealed(&mut self, batch: SealedBatch) {
        let now = self.shared.clock.now_ns();
        let closed = self.closed_ns.remove(&batch.batch).unwrap_or(now);
        let seconds = now.saturating_sub(closed) as f64 / 1e9;
        self.shared.metrics.seal.sealed.inc();
        self.shared.metrics.seal.seconds.observe(seconds);
        log_closed(&batch, seconds);
        self.warnings.look_at(&batch);
        let offer = Offer { batch: batch.batch, records: batch.records, hash: batch.hash };
        let inserted = self.shared.store().insert(Arc::new(batch));
        let evicted = match inserted {
            Ok(evicted) => evicted,
            Err(error) => {
                tracing::warn!(batch = offer.batch, %error, "no filter for this batch");
                self.own.on_failed(offer.batch, &self.shared);
                if error == InsertError::OtherContent {
                    // The one that was held is rejected, too.
                    self.shared.announce(Outcome::Gone(&[offer.batch]));
                }
                return;
            }
        };
        self.shared.announce(Outcome::Gone(&evicted));
        if self.shared.is_deleted(offer.batch) {
            self.shared.delete(&[offer.batch]);
            tracing::debug!(batch = offer.batch, "deleted by the SCC before it was sealed");
            return;
        }
        if let (Some(first), Some(last)) = (evicted.first(), evicted.last()) {
            tracing::debug!(first, last, batches = evicted.len(), "evicted the oldest batches");
        }
        self.own.on_sealed(offer.batch, &self.shared);
        self.report(ToScc::Sealed(offer));
    }

    fn report(&self, report: ToScc) {
        // Fails only when the control thread has ended, and the node with it.
        let _ = self.reports.blocking_send(report);
    }

    /// Slices or splits groups for a millisecond at most; false where there is nothing to do.
    fn tend_store(&self) -> bool {
        let more = self.shared.store().step();
        if more {
            // Verdicts wait for the store's lock meanwhile.
            std::thread::yield_now();
        }
        more
    }

    fn sleep(&self, waiting: bool) -> Duration {
        if waiting {
            return BACKLOG_RETRY;
        }
        let now = self.shared.clock.now_ns();
        let due = self.sealer.next_tick_ns().map(|due| due.saturating_sub(now));
        due.map_or(IDLE_WAIT, |ns| Duration::from_nanos(ns).min(IDLE_WAIT))
    }
}

fn log_closed(batch: &SealedBatch, seconds: f64) {
    let kinds: Vec<String> =
        batch.columns.iter().map(|c| format!("{:?}", c.filter.kind())).collect();
    let hash: String = batch.hash.digest.iter().take(16).map(|b| format!("{b:02x}")).collect();
    tracing::info!(
        batch = batch.batch,
        records = batch.records,
        filter_bytes = batch.filter_bytes(),
        hash,
        hash_algorithm = ?batch.hash.algorithm,
        kinds = kinds.join(","),
        seal_ms = (seconds * 1e3) as u64,
        "batch closed"
    );
}

/// Niceness added to the seal thread: after ingest, lookups and control.
const SEAL_NICENESS: i32 = 10;
/// Longest sleep; events wake the thread earlier.
const IDLE_WAIT: Duration = Duration::from_millis(100);
/// Sleep while a command ring is full.
const BACKLOG_RETRY: Duration = Duration::from_millis(1);
/// Batches whose CLOSE is remembered.
const CLOSED_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use bloomrf_netio::Link;
    use bloomrf_netio::link::mem;

    use super::*;

    #[test]
    fn no_question_to_a_queue_that_is_behind_is_dropped() {
        let (_events, events) = rtrb::RingBuffer::new(1);
        let (commands, mut ring) = rtrb::RingBuffer::new(4);
        let waker = mem::pair(1).1.waker();
        let mut port = QueuePort { events, commands, waker, backlog: VecDeque::new() };
        (0..1_000).for_each(|batch| port.give(QueueCommand::Take(batch)));
        let mut asked = Vec::new();
        loop {
            let waiting = port.flush();
            while let Ok(QueueCommand::Take(batch)) = ring.pop() {
                asked.push(batch);
            }
            if !waiting {
                break;
            }
        }
        assert_eq!(asked, (0..1_000).collect::<Vec<_>>());
    }
}
