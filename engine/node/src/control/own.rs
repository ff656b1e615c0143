//! Verdicts of the node's own, where it is a tap: from the poll threads to sealer and store.
//!
//! A verdict may come before its batch is sealed, or after. One that is lost leaves the batch
//! pending, which is never consulted.

use std::collections::VecDeque;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::seal::{IncompleteReason, Sealer};
use bloomrf_engine::wire::stream::Verdict;

use super::Outcome;
use crate::shared::Shared;
use crate::tap::{LostBatch, TapVerdict};

/// The seal thread's end of all taps; of a node without any it does nothing.
pub(super) struct OwnVerdicts {
    rings: Vec<rtrb::Consumer<TapVerdict>>,
    /// Intact, and not sealed yet; oldest first.
    early: VecDeque<LostBatch>,
    /// Came to nothing for another reason, and not judged yet; oldest first.
    failed: VecDeque<BatchId>,
    /// Batches given up for a loss.
    lost: u64,
}

impl OwnVerdicts {
    pub(super) fn new(rings: Vec<rtrb::Consumer<TapVerdict>>) -> Self {
        OwnVerdicts { rings, early: VecDeque::new(), failed: VecDeque::new(), lost: 0 }
    }

    /// Says that a batch was given up for a loss; now and then, since one seldom comes alone.
    pub(super) fn tell_lost(&mut self, batch: BatchId) {
        self.lost += 1;
        if self.lost.is_power_of_two() {
            let so_far = self.lost;
            tracing::warn!(batch, so_far, "packets lost around this batch: it excludes nothing");
        }
    }

    /// Applies what the taps have judged; true where there was anything.
    pub(super) fn take(&mut self, sealer: &mut Sealer, shared: &Shared) -> bool {
        let mut any = false;
        for index in 0..self.rings.len() {
            while let Some(Ok(verdict)) = self.rings.get_mut(index).map(rtrb::Consumer::pop) {
                any = true;
                let TapVerdict { batch, is_intact, span } = verdict;
                let lost = LostBatch { batch, span };
                if !is_intact {
                    // Before it leaves: whoever lists batches finds it in one list at least.
                    shared.note_lost(lost);
                    self.give_up(batch, sealer, shared);
                } else if let Some(at) = self.failed.iter().position(|&failed| failed == batch) {
                    self.failed.remove(at);
                    shared.note_lost(lost);
                } else if !verify(batch, shared) {
                    self.remember(lost, shared);
                }
            }
        }
        any
    }

    fn remember(&mut self, lost: LostBatch, shared: &Shared) {
        if self.early.len() == EARLY_MAX
            && let Some(oldest) = self.early.pop_front()
        {
            shared.note_lost(oldest);
        }
        self.early.push_back(lost);
    }

    /// A batch came to nothing: nobody else knows of it, so it is listed as lost.
    pub(super) fn on_failed(&mut self, batch: BatchId, shared: &Shared) {
        if self.rings.is_empty() {
            return;
        }
        if let Some(at) = self.early.iter().position(|early| early.batch == batch) {
            self.early.remove(at).into_iter().for_each(|lost| shared.note_lost(lost));
            return;
        }
        if self.failed.len() == EARLY_MAX {
            self.failed.pop_front();
        }
        self.failed.push_back(batch);
    }

    fn give_up(&mut self, batch: BatchId, sealer: &mut Sealer, shared: &Shared) {
        if sealer.on_lost(batch) {
            // Told like every other batch that is given up.
            return;
        }
        // Sealed already: the loss was counted late.
        if shared.store().judge(batch, Verdict::Unknown) {
            shared.metrics.seal.incomplete(IncompleteReason::Loss);
            shared.announce(Outcome::Gone(&[batch]));
            self.tell_lost(batch);
        }
    }

    /// A batch was sealed and stored: verified where its verdict came before.
    pub(super) fn on_sealed(&mut self, batch: BatchId, shared: &Shared) {
        if let Some(at) = self.early.iter().position(|early| early.batch == batch) {
            self.early.remove(at);
            verify(batch, shared);
        }
    }
}

/// False where the store does not hold the batch (yet).
fn verify(batch: BatchId, shared: &Shared) -> bool {
    let held = shared.store().judge(batch, Verdict::Verified);
    if held {
        shared.announce(Outcome::Verified(batch));
    }
    held
}

/// Verdicts that may wait for their batch: more than the sealer has at work.
const EARLY_MAX: usize = 64;
