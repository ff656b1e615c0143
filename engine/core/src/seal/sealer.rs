//! The sealer: hears CLOSE from any queue, asks every queue for its share until the totals are
//! met or the grace time is over, then seals or gives up.
//!
//! A batch is sealed once its union is whole and every queue has answered (a queue that has not
//! may still hold a differing copy of a frame), or at the end of the grace time when it is whole.
//! It is given up for a gap only after a *last call*: every queue is asked once more when the
//! grace time is over, so that a sealer or a queue that was not scheduled for a while costs no
//! batch. A queue that does not answer the last call within another grace time is not waited for.
//! What is missing then is asked for again where an SCC repairs ([`repair`]); only what it does not
//! send either makes a batch incomplete.
//! Bounded: `SEALING_BATCHES_MAX` batches, one question per queue and batch in flight.

mod repair;

use std::collections::VecDeque;

use super::SealedBatch;
use super::lanes::{LaneHomes, LaneStats};
use super::repair::{Desk, Repair, RepairFailure, RepairStats};
use super::union::{Coverage, Union};
use crate::identity::BatchId;
use crate::ingest::{BatchTotals, IngestConfig, Partial, QueueCommand, QueueEvent, RecentBatches};
use crate::limits::{FINISHED_BATCHES_MAX, SEALING_BATCHES_MAX};
use crate::wire::stream::FrameRange;

/// How the sealer behaves.
#[derive(Clone, Debug)]
pub struct SealerConfig {
    /// The queues' shared configuration.
    pub ingest: IngestConfig,
    /// Number of queues.
    pub queues: usize,
    /// After CLOSE, how long to wait for frames that are still on their way, nanoseconds.
    pub grace_ns: u64,
    /// How often to ask again meanwhile, nanoseconds.
    pub retry_ns: u64,
    /// How long to wait for frames that are asked for again, nanoseconds; 0: they never are.
    pub repair_ns: u64,
}

/// Why a batch was given up. It reads "no filter" for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IncompleteReason {
    /// Frames are missing after the grace time.
    Gap,
    /// No CLOSE arrived before the batch was ended.
    NoClose,
    /// Copies of a frame differed, or frames disagreed about the batch.
    Conflict,
    /// Rows inserted are not the record total: our own mistake, never sealed.
    Rows,
    /// Of a tap: packets may have been lost while it was open.
    Loss,
}

/// What the sealer wants done.
#[derive(Debug)]
pub enum SealAction {
    /// Give a queue a command: in order, and none dropped (a lost `Take` is not repeated, a lost
    /// `Recycle` is a partial less).
    Queue(usize, QueueCommand),
    /// A batch is sealed: store it as pending and report its hash.
    Sealed(Box<SealedBatch>),
    /// Ask the SCC for frames, and hand what comes to [`Sealer::on_frame`].
    Repair {
        /// Batch.
        batch: BatchId,
        /// Whether its CLOSE is asked for.
        close: bool,
        /// DATA frames, in the order of a [`Missing`](crate::wire::stream::Missing).
        ranges: Vec<FrameRange>,
    },
    /// A batch was given up.
    Incomplete(BatchId, IncompleteReason),
}

/// The sealer's state machine. No I/O, no clock of its own.
#[derive(Debug)]
pub struct Sealer {
    config: SealerConfig,
    /// Oldest first.
    sealing: Vec<Sealing>,
    /// Sealed or given up lately: what comes of them is ignored.
    finished: RecentBatches,
    actions: VecDeque<SealAction>,
    /// `None`: nothing is ever repaired.
    desk: Option<Desk>,
    /// Whether an SCC that repairs is connected.
    available: bool,
    repairs: RepairStats,
    lanes: LaneHomes,
}

/// One batch at work.
#[derive(Debug)]
struct Sealing {
    batch: BatchId,
    totals: Option<BatchTotals>,
    union: Union,
    queues: Vec<QueueState>,
    deadline_ns: u64,
    retry_at_ns: u64,
    /// The grace time is over: the answers under way are the last ones.
    last_call: bool,
    repair: Repair,
}

/// What is known of one queue's part in a batch.
#[derive(Clone, Copy, Debug, Default)]
struct QueueState {
    /// A `Take` is on its way.
    asked: bool,
    /// To be asked once more when it has answered: the last call came in between.
    again: bool,
    /// It handed over its share, or said that it has none.
    answered: bool,
}

impl Sealing {
    /// Whether queues are asked again and again for what is missing.
    fn is_retried(&self) -> bool {
        self.totals.is_some() && (!self.last_call || self.repair.is_waiting())
    }

    /// Whether everybody has answered the last call.
    fn is_over(&self) -> bool {
        self.last_call && self.queues.iter().all(|state| !state.asked)
    }
}

impl Sealer {
    /// A sealer for a node.
    #[must_use]
    pub fn new(config: SealerConfig) -> Self {
        Sealer {
            desk: (config.repair_ns > 0).then(|| Desk::new(&config.ingest)),
            available: false,
            repairs: RepairStats::default(),
            lanes: LaneHomes::default(),
            config,
            sealing: Vec::with_capacity(SEALING_BATCHES_MAX),
            finished: RecentBatches::new(FINISHED_BATCHES_MAX),
            actions: VecDeque::new(),
        }
    }

    /// Takes an event of queue number `queue` (below `SealerConfig::queues`).
    pub fn on_event(&mut self, queue: usize, event: QueueEvent, now_ns: u64) {
        match event {
            QueueEvent::Close { batch, totals } => self.on_close(batch, totals, now_ns),
            QueueEvent::Taken { batch, partial } => self.on_taken(queue, batch, partial, now_ns),
            QueueEvent::Ended { batch, partial } => self.on_ended(queue, batch, partial, now_ns),
        }
    }

    /// Gives a batch up whose packets were not all seen, closed or not; false where it is finished
    /// already, and what came of it is for the caller to undo.
    pub fn on_lost(&mut self, batch: BatchId) -> bool {
        if self.finished.contains(batch) {
            return false;
        }
        match self.sealing.iter().position(|s| s.batch == batch) {
            Some(at) => self.give_up(at, IncompleteReason::Loss),
            None => {
                self.actions.push_back(SealAction::Incomplete(batch, IncompleteReason::Loss));
                self.forget(batch);
            }
        }
        true
    }

    /// Called regularly: asks again, gives up what is overdue.
    pub fn on_tick(&mut self, now_ns: u64) {
        while let Some(at) = self.sealing.iter().position(|s| s.deadline_ns <= now_ns) {
            let sealing = &mut self.sealing[at];
            if sealing.repair.is_waiting() {
                self.end_repair(at, RepairFailure::Time);
                continue;
            }
            if sealing.last_call || sealing.totals.is_none() {
                self.on_time_over(at, now_ns);
                continue;
            }
            sealing.last_call = true;
            sealing.deadline_ns = now_ns.saturating_add(self.config.grace_ns.max(1));
            sealing.queues.iter_mut().for_each(|state| state.again = state.asked);
            self.ask_queues(at);
        }
        for at in 0..self.sealing.len() {
            let sealing = &mut self.sealing[at];
            if sealing.is_retried() && sealing.retry_at_ns <= now_ns {
                sealing.retry_at_ns = now_ns.saturating_add(self.config.retry_ns.max(1));
                self.ask_queues(at);
            }
        }
    }

    /// The next thing to do.
    pub fn next_action(&mut self) -> Option<SealAction> {
        self.actions.pop_front()
    }

    /// When `on_tick` has something to do next, if anything is open.
    #[must_use]
    pub fn next_tick_ns(&self) -> Option<u64> {
        self.sealing
            .iter()
            .map(|s| if s.is_retried() { s.deadline_ns.min(s.retry_at_ns) } else { s.deadline_ns })
            .min()
    }

    /// What lanes did that was not expected, in all batches that are finished.
    #[must_use]
    pub fn lane_stats(&self) -> LaneStats {
        self.lanes.stats()
    }

    fn on_close(&mut self, batch: BatchId, totals: BatchTotals, now_ns: u64) {
        let Some(at) = self.sealing_at(batch, now_ns) else { return };
        let sealing = &mut self.sealing[at];
        match sealing.totals {
            Some(known) if known == totals => {}
            Some(_) => self.give_up(at, IncompleteReason::Conflict),
            None if sealing.repair.is_waiting() => {
                sealing.totals = Some(totals);
                self.close_repaired(at, now_ns);
                self.advance(at, now_ns);
            }
            None => {
                sealing.totals = Some(totals);
                sealing.deadline_ns = now_ns.saturating_add(self.config.grace_ns);
                sealing.retry_at_ns = now_ns.saturating_add(self.config.retry_ns.max(1));
                self.ask_queues(at);
                self.advance(at, now_ns);
            }
        }
    }

    fn on_taken(
        &mut self,
        queue: usize,
        batch: BatchId,
        partial: Option<Box<Partial>>,
        now_ns: u64,
    ) {
        let Some(at) = self.sealing.iter().position(|s| s.batch == batch) else {
            self.recycle(queue, partial);
            return;
        };
        if let Some(state) = self.sealing[at].queues.get_mut(queue) {
            let again = state.again;
            *state = QueueState { asked: again, answered: true, again: false };
            if again {
                self.actions.push_back(SealAction::Queue(queue, QueueCommand::Take(batch)));
            }
        }
        let kernel = self.config.ingest.policy.kernel;
        if let Some(partial) = partial {
            let used = self.sealing[at].union.absorb(queue, partial, kernel);
            self.recycle(queue, used);
        }
        self.advance(at, now_ns);
    }

    fn on_ended(&mut self, queue: usize, batch: BatchId, partial: Box<Partial>, now_ns: u64) {
        let Some(at) = self.sealing_at(batch, now_ns) else {
            self.recycle(queue, Some(partial));
            return;
        };
        let kernel = self.config.ingest.policy.kernel;
        let sealing = &mut self.sealing[at];
        if let Some(state) = sealing.queues.get_mut(queue) {
            // It refuses the batch from now on: there is nothing more to come from it.
            state.answered = true;
        }
        let used = sealing.union.absorb(queue, partial, kernel);
        self.recycle(queue, used);
        self.advance(at, now_ns);
    }

    /// The place of a batch at work; takes it up where it is new. `None` once it is finished.
    fn sealing_at(&mut self, batch: BatchId, now_ns: u64) -> Option<usize> {
        if let Some(at) = self.sealing.iter().position(|s| s.batch == batch) {
            return Some(at);
        }
        if self.finished.contains(batch) {
            return None;
        }
        if self.sealing.len() == SEALING_BATCHES_MAX {
            self.end_repair(0, RepairFailure::Crowded);
        }
        self.sealing.push(Sealing {
            batch,
            totals: None,
            union: Union::default(),
            queues: vec![QueueState::default(); self.config.queues],
            deadline_ns: now_ns.saturating_add(self.config.grace_ns),
            retry_at_ns: u64::MAX,
            last_call: false,
            repair: Repair::default(),
        });
        Some(self.sealing.len() - 1)
    }

    fn ask_queues(&mut self, at: usize) {
        let sealing = &mut self.sealing[at];
        for (queue, state) in sealing.queues.iter_mut().enumerate() {
            if !state.asked {
                state.asked = true;
                let take = QueueCommand::Take(sealing.batch);
                self.actions.push_back(SealAction::Queue(queue, take));
            }
        }
    }

    /// Seals or gives up a batch as soon as there is nothing to wait for.
    fn advance(&mut self, at: usize, now_ns: u64) {
        let sealing = &self.sealing[at];
        if sealing.union.has_conflict() {
            return self.give_up(at, IncompleteReason::Conflict);
        }
        let Some(totals) = &sealing.totals else { return };
        match sealing.union.coverage(totals) {
            Coverage::Missing if sealing.repair.is_waiting() => {}
            Coverage::Missing if sealing.is_over() => {
                self.repair_or_give_up(at, IncompleteReason::Gap, now_ns);
            }
            Coverage::Missing => {}
            Coverage::Whole if sealing.queues.iter().all(|state| state.answered) => {
                // A repaired frame may yet contradict the others.
                if self.collect(at) {
                    return self.advance(at, now_ns);
                }
                self.seal(at);
            }
            Coverage::Whole => {}
            Coverage::Conflict => self.give_up(at, IncompleteReason::Conflict),
            Coverage::Rows => self.give_up(at, IncompleteReason::Rows),
        }
    }

    /// The wait for the queues is over.
    fn on_time_over(&mut self, at: usize, now_ns: u64) {
        self.collect(at);
        let sealing = &self.sealing[at];
        match sealing.totals.as_ref().map(|totals| sealing.union.coverage(totals)) {
            Some(Coverage::Missing) => self.repair_or_give_up(at, IncompleteReason::Gap, now_ns),
            None => self.repair_or_give_up(at, IncompleteReason::NoClose, now_ns),
            Some(_) => self.conclude(at),
        }
    }

    /// Ends every wait for a batch: its time is over, or another needs its place.
    fn conclude(&mut self, at: usize) {
        let sealing = &self.sealing[at];
        match sealing.totals.as_ref().map(|totals| sealing.union.coverage(totals)) {
            Some(Coverage::Whole) => self.seal(at),
            Some(Coverage::Missing) => self.give_up(at, IncompleteReason::Gap),
            Some(Coverage::Conflict) => self.give_up(at, IncompleteReason::Conflict),
            Some(Coverage::Rows) => self.give_up(at, IncompleteReason::Rows),
            None => self.give_up(at, IncompleteReason::NoClose),
        }
    }

    fn seal(&mut self, at: usize) {
        let mut sealing = self.sealing.remove(at);
        self.repairs.repaired += u64::from(sealing.repair.is_open());
        if let Some(totals) = &sealing.totals {
            let sealed = sealing.union.seal(&self.config.ingest, sealing.batch, totals);
            self.config.ingest.board.expect(sealed.records);
            self.actions.push_back(SealAction::Sealed(Box::new(sealed)));
        }
        self.finish(sealing);
    }

    fn give_up(&mut self, at: usize, reason: IncompleteReason) {
        self.fail(at, RepairFailure::Wrong);
        let sealing = self.sealing.remove(at);
        self.actions.push_back(SealAction::Incomplete(sealing.batch, reason));
        self.finish(sealing);
    }

    fn finish(&mut self, sealing: Sealing) {
        self.lanes.look_at(sealing.union.lanes(), self.config.queues);
        for (queue, share) in sealing.union.into_shares() {
            self.recycle(queue, Some(share));
        }
        self.forget(sealing.batch);
        self.ask_scc();
    }

    /// From now on nobody takes anything of this batch.
    fn forget(&mut self, batch: BatchId) {
        self.finished.insert(batch);
        for queue in 0..self.config.queues {
            let forget = QueueCommand::Forget(batch);
            self.actions.push_back(SealAction::Queue(queue, forget));
        }
        if let Some(desk) = &mut self.desk {
            desk.command(QueueCommand::Forget(batch));
        }
    }

    fn recycle(&mut self, queue: usize, partial: Option<Box<Partial>>) {
        if let Some(mut partial) = partial {
            // Here, and not on the ingest core when it opens the next batch.
            partial.zero();
            let recycle = QueueCommand::Recycle(partial);
            match &mut self.desk {
                Some(desk) if queue == self.config.queues => desk.command(recycle),
                _ => self.actions.push_back(SealAction::Queue(queue, recycle)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
