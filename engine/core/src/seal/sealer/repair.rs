//! The sealer's part in repair: what to ask for, when, and what to make of the answers.
//!
//! A batch is asked about once its last call is over (or its time, where no CLOSE came): at most
//! once for its CLOSE and once for frames, at most `REPAIR_BATCHES_MAX` batches at a time, within
//! `repair_ns` in all. Meanwhile its share is kept and the queues are asked on: what still comes by
//! broadcast counts, and the copy from the SCC is a duplicate.

use std::sync::Arc;

use super::{Coverage, IncompleteReason, SealAction, Sealer};
use crate::identity::BatchId;
use crate::ingest::QueueEvent;
use crate::limits::REPAIR_BATCHES_MAX;
use crate::seal::repair::{RepairFailure, RepairStats, Stage};
use crate::seal::union::TooMany;
use crate::wire::frame::Frame;
use crate::wire::mac::KeyBook;
use crate::wire::stream::Missing;

impl Sealer {
    /// Told at every change: whether an SCC is connected that answers `Missing`. At first none
    /// is. Where it goes away, batches that wait for it are given up.
    pub fn on_repairs(&mut self, available: bool) {
        self.available = available;
        while !available && let Some(at) = self.sealing.iter().position(|s| s.repair.is_waiting()) {
            self.end_repair(at, RepairFailure::Away);
        }
    }

    /// Takes a frame that the SCC sent again. One of a batch that was not asked for is dropped.
    pub fn on_frame(&mut self, bytes: &[u8], now_ns: u64) {
        self.repairs.frames += 1;
        let record_bytes = self.config.ingest.schema.record_bytes();
        let parsed = Frame::parse(bytes, record_bytes).map(|frame| frame.header().batch);
        let Some(desk) = &mut self.desk else {
            self.repairs.unasked += 1;
            return;
        };
        let Ok(batch) = parsed else {
            // Counted by the queue, with the reason.
            desk.on_frame(bytes, now_ns);
            return;
        };
        let asked = self.sealing.iter_mut().find(|s| s.batch == batch && s.repair.is_asked());
        let Some(sealing) = asked else {
            self.repairs.unasked += 1;
            return;
        };
        let Stage::Asked { left, close } = &mut sealing.repair.stage else { return };
        if *left == 0 && !*close {
            self.repairs.surplus += 1;
            return;
        }
        let taken_before = desk.taken();
        let conflict = desk.on_frame(bytes, now_ns);
        // A copy brings no batch nearer to its end.
        let taken = desk.taken();
        *left = left.saturating_sub(taken.0 - taken_before.0);
        *close &= taken.1 == taken_before.1;
        let is_all = *left == 0 && !*close;
        while let Some(event) = self.desk.as_mut().and_then(|desk| desk.next_event()) {
            if let QueueEvent::Close { batch, totals } = event {
                self.on_close(batch, totals, now_ns);
            }
        }
        if conflict || is_all {
            self.settle(batch, now_ns);
        }
    }

    /// The SCC does not keep all that was asked for of this batch.
    pub fn on_not_kept(&mut self, batch: BatchId) {
        let asked = |s: &super::Sealing| s.batch == batch && s.repair.is_asked();
        if let Some(at) = self.sealing.iter().position(asked) {
            self.end_repair(at, RepairFailure::NotKept);
        }
    }

    /// From now on refuses every frame of the SCC that is not sealed with one of `keys`: the same
    /// that the queues ask for.
    pub fn require_keys(&mut self, keys: Arc<KeyBook>) {
        if let Some(desk) = &mut self.desk {
            desk.require_keys(keys);
        }
    }

    /// What repair has come to.
    #[must_use]
    pub fn repair_stats(&self) -> RepairStats {
        let ingest = self.desk.as_ref().map(|desk| desk.stats()).unwrap_or_default();
        RepairStats { ingest, ..self.repairs }
    }

    /// Everything that was asked for has come, or a contradiction.
    fn settle(&mut self, batch: BatchId, now_ns: u64) {
        let at = |sealer: &Self| {
            sealer.sealing.iter().position(|s| s.batch == batch && s.repair.is_asked())
        };
        let Some(first) = at(self) else { return };
        self.collect(first);
        self.advance(first, now_ns);
        // Still there: frames are missing after all, or a queue is silent.
        if let Some(at) = at(self)
            && self.coverage(at) != Some(Coverage::Whole)
        {
            self.end_repair(at, RepairFailure::Wrong);
        }
    }

    /// Frames are missing and nobody else has them: asks for them, or gives the batch up.
    pub(super) fn repair_or_give_up(&mut self, at: usize, why: IncompleteReason, now_ns: u64) {
        if self.desk.is_none() {
            return self.give_up(at, why);
        }
        let sealing = &mut self.sealing[at];
        let repair = &mut sealing.repair;
        if repair.stage == Stage::None {
            self.repairs.batches += 1;
            repair.deadline_ns = now_ns.saturating_add(self.config.repair_ns);
            repair.stage = Stage::Wanted;
        }
        let failure = match &sealing.totals {
            _ if !self.available => Some(RepairFailure::Away),
            None if repair.asked_close => Some(RepairFailure::Wrong),
            None => None,
            Some(_) if repair.asked_frames => Some(RepairFailure::Wrong),
            Some(totals) => match sealing.union.missing(totals) {
                Ok(_) => None,
                Err(TooMany) => Some(RepairFailure::TooMany),
            },
        };
        if let Some(failure) = failure {
            self.fail(at, failure);
            return self.give_up(at, why);
        }
        repair.stage = Stage::Wanted;
        sealing.deadline_ns = repair.deadline_ns;
        sealing.retry_at_ns = now_ns.saturating_add(self.config.retry_ns.max(1));
        self.ask_scc();
    }

    /// Asks about waiting batches, oldest first, as long as few enough are asked about.
    pub(super) fn ask_scc(&mut self) {
        let mut asked = self.sealing.iter().filter(|s| s.repair.is_asked()).count();
        for sealing in &mut self.sealing {
            if asked >= REPAIR_BATCHES_MAX {
                break;
            }
            if sealing.repair.stage != Stage::Wanted {
                continue;
            }
            let (close, ranges) = match &sealing.totals {
                None => (true, Vec::new()),
                // More than when it was wanted are never missing.
                Some(totals) => (false, sealing.union.missing(totals).unwrap_or_default()),
            };
            let missing = Missing { batch: sealing.batch, close, ranges };
            if !missing.is_sound() {
                // It became whole while it waited, and a queue has not answered yet.
                sealing.repair.stage = Stage::Closed;
                continue;
            }
            sealing.repair.stage = Stage::Asked { left: missing.frames(), close };
            sealing.repair.asked_close |= close;
            sealing.repair.asked_frames |= !close;
            asked += 1;
            self.repairs.requests += 1;
            let Missing { batch, close, ranges } = missing;
            self.actions.push_back(SealAction::Repair { batch, close, ranges });
        }
    }

    /// The CLOSE of a batch came, by whichever way, while it was asked for: now every queue is
    /// asked for what it has, for the last time before frames are asked for.
    pub(super) fn close_repaired(&mut self, at: usize, now_ns: u64) {
        let sealing = &mut self.sealing[at];
        let left_ns = sealing.repair.deadline_ns.saturating_sub(now_ns);
        sealing.repair.stage = Stage::Closed;
        sealing.last_call = true;
        // A queue that does not answer leaves time to ask for its frames.
        sealing.deadline_ns = now_ns.saturating_add(self.config.grace_ns.min(left_ns / 2));
        sealing.queues.iter_mut().for_each(|state| state.again = state.asked);
        self.ask_queues(at);
        self.ask_scc();
    }

    /// Moves repaired frames of a batch into its union; false where there are none.
    pub(super) fn collect(&mut self, at: usize) -> bool {
        let (batch, kernel) = (self.sealing[at].batch, self.config.ingest.policy.kernel);
        let Some(share) = self.desk.as_mut().and_then(|desk| desk.take(batch)) else {
            return false;
        };
        let queue = self.config.queues;
        let used = self.sealing[at].union.absorb(queue, share, kernel);
        self.recycle(queue, used);
        true
    }

    /// Ends the wait for the SCC: the batch is sealed if it is whole, else given up.
    pub(super) fn end_repair(&mut self, at: usize, failure: RepairFailure) {
        self.collect(at);
        if self.coverage(at) != Some(Coverage::Whole) {
            self.fail(at, failure);
        }
        self.conclude(at);
        self.ask_scc();
    }

    /// Counts a repair that failed; once per batch.
    pub(super) fn fail(&mut self, at: usize, failure: RepairFailure) {
        let repair = &mut self.sealing[at].repair;
        if repair.is_open() {
            repair.stage = Stage::Failed;
            self.repairs.failed[failure.index()] += 1;
        }
    }

    fn coverage(&self, at: usize) -> Option<Coverage> {
        let sealing = &self.sealing[at];
        sealing.totals.as_ref().map(|totals| sealing.union.coverage(totals))
    }
}

#[cfg(test)]
mod tests;
