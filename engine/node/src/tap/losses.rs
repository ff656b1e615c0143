//! Which batches of a tap a loss spoils.
//!
//! Hot path: no allocation after `new`, no lock; nothing at all per packet.
//!
//! A loss is known as a counter that moved, some time after packets were lost at some place before
//! us. Which batch would have held them? Not simply the one that is open when the counter is read:
//!
//! - Packets wait in rings. Those of the next batch may have arrived *before* the loss, and be read
//!   after it was counted. So a batch is not compared with the counters of the moment when it
//!   opens, but with older ones (its *base*): read before the port was last found drained, and
//!   `GUARD_NS` earlier still for what a port keeps to itself for a moment. While nobody ever
//!   finds the port drained, a loss spoils every batch after it.
//! - Counters lag: some drivers refresh them every two seconds. So a batch is judged only when it
//!   has been closed for `settle_ns`.
//! - The base only moves on over losses that spoil some batch: one at work, or one that was judged
//!   by the same mark. So what is lost between two batches spoils the second one, and every
//!   movement of a counter lies between base and judgement of some batch.
//!
//! All of this errs to the side of "lost", which reads "found".

use std::collections::VecDeque;

use bloomrf_engine::identity::BatchId;

/// What becomes of a batch of a tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TapVerdict {
    /// Batch.
    pub(crate) batch: BatchId,
    /// Nothing was lost around it.
    pub(crate) is_intact: bool,
    /// What it holds.
    pub(crate) span: Span,
}

/// How many packets a batch holds, and from when to when they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Earliest, nanoseconds since 1970.
    pub(crate) from_ns: i64,
    /// Latest.
    pub(crate) to_ns: i64,
    /// Packets.
    pub(crate) records: u64,
}

/// A batch around which something was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostBatch {
    /// Batch.
    pub(crate) batch: BatchId,
    /// What was seen of it.
    pub(crate) span: Span,
}

/// What had been lost at some moment: a number that moves with each loss, for each place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    link: u64,
    own: u64,
}

/// Losses, and the batches that wait for their verdict.
pub(super) struct Losses {
    settle_ns: u64,
    /// Failures noted here.
    own: u64,
    base: Mark,
    /// The next base, and when it was read.
    next: (Mark, u64),
    /// What a batch was last compared with.
    covered: Mark,
    /// Oldest first, at most `WAITING_MAX`.
    waiting: VecDeque<Waiting>,
    verdicts: rtrb::Producer<TapVerdict>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    batch: BatchId,
    span: Span,
    base: Mark,
    due_ns: u64,
    is_lost: bool,
}

impl Losses {
    /// Nothing was lost since the link's mark was `loss_mark`, before anything arrived.
    pub(super) fn new(
        settle_ns: u64,
        loss_mark: u64,
        now_ns: u64,
    ) -> (Self, rtrb::Consumer<TapVerdict>) {
        let (verdicts, out) = rtrb::RingBuffer::new(VERDICTS_MAX);
        let base = Mark { link: loss_mark, own: 0 };
        let waiting = VecDeque::with_capacity(WAITING_MAX);
        let next = (base, now_ns);
        (Losses { settle_ns, own: 0, base, next, covered: base, waiting, verdicts }, out)
    }

    /// What a batch that opens now is compared with.
    pub(super) fn base(&self) -> Mark {
        self.base
    }

    /// The mark of this moment, the link's being `loss_mark`.
    pub(super) fn mark(&self, loss_mark: u64) -> Mark {
        Mark { link: loss_mark, own: self.own }
    }

    /// Something else may have been lost.
    pub(super) fn note(&mut self) {
        self.own = self.own.wrapping_add(1);
    }

    /// Whether two more batches may end.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() + 2 <= WAITING_MAX
    }

    /// A batch was closed; it is judged later.
    pub(super) fn closed(&mut self, batch: BatchId, span: Span, base: Mark, now_ns: u64) {
        let due_ns = now_ns.saturating_add(self.settle_ns);
        self.waiting.push_back(Waiting { batch, span, base, due_ns, is_lost: false });
    }

    /// A batch is known to be spoilt by what `mark` says, or by itself. Its partial is waited for:
    /// it goes first.
    pub(super) fn spoilt(&mut self, batch: BatchId, span: Span, mark: Mark) {
        self.covered = mark;
        let waiting = Waiting { batch, span, base: mark, due_ns: 0, is_lost: true };
        self.waiting.push_front(waiting);
    }

    /// Whether a verdict is due, and there is room for it.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        let is_due = |waiting: &Waiting| waiting.due_ns <= now_ns;
        self.waiting.front().is_some_and(is_due) && !self.verdicts.is_full()
    }

    /// Hands over the verdicts that are due at `now_ns`, by a `mark` read since then, as far as
    /// there is room for them.
    pub(super) fn judge(&mut self, mark: Mark, now_ns: u64) {
        while self.is_due(now_ns) {
            let Some(waiting) = self.waiting.pop_front() else { break };
            let Waiting { batch, span, base, is_lost, .. } = waiting;
            let is_intact = !is_lost && mark == base;
            self.covered = mark;
            // Cannot fail: there is room, and nobody else pushes.
            let _ = self.verdicts.push(TapVerdict { batch, is_intact, span });
        }
    }

    /// Whether a mark is wanted of a port that was found drained at `now_ns`.
    pub(super) fn may_advance(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.next.1) >= GUARD_NS
    }

    /// The port was found drained, and its mark read afterwards, not later than `read_ns`.
    pub(super) fn advance(&mut self, mark: Mark, is_batch_open: bool, read_ns: u64) {
        let is_at_work = is_batch_open || !self.waiting.is_empty();
        if is_at_work || mark == self.covered {
            self.base = self.next.0;
            self.next = (mark, read_ns);
        }
    }
}

/// Longest that a packet stays unseen in a port that hands out nothing, nanoseconds: a block of a
/// ring that is not full yet, the last few descriptors of a queue.
const GUARD_NS: u64 = 200_000_000;
/// Batches that may wait for their verdict at once.
const WAITING_MAX: usize = 4_096;
/// Room for verdicts on their way to the sealer; where it is full they wait.
const VERDICTS_MAX: usize = 256;
