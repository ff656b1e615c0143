//! Frames that were missed and come again from the SCC: what is known of one batch's repair, the
//! queue that takes the frames, and the counters.
//!
//! The queue is an [`ingest::Queue`](crate::ingest::Queue) like those of the links, so whatever
//! holds for received frames (digest, copies, conflicts, rows) holds for repaired ones. It is
//! small: few partials, small chunks, room for as many frames as are ever asked for.

use std::sync::Arc;

use crate::filter::Dedupe;
use crate::identity::BatchId;
use crate::ingest::{
    IngestConfig, IngestStats, Partial, Queue, QueueCommand, QueueEvent, RefuseReason, Tuning,
};
use crate::limits::{REPAIR_BATCHES_MAX, REPAIR_FRAMES_MAX};
use crate::wire::mac::KeyBook;

/// Why a batch could not be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepairFailure {
    /// More frames, or more gaps, than are ever asked for.
    TooMany,
    /// The SCC does not keep all of them.
    NotKept,
    /// They did not come in time.
    Time,
    /// No SCC that repairs was connected, or the connection ended.
    Away,
    /// Another batch needed its place.
    Crowded,
    /// What came did not make the batch whole, or contradicted it.
    Wrong,
}

impl RepairFailure {
    /// Number of reasons.
    pub const COUNT: usize = 6;

    /// All reasons with their metric labels, in index order.
    pub const LABELS: [&'static str; Self::COUNT] =
        ["too_many", "not_kept", "time", "scc_away", "crowded", "wrong"];

    /// Index into [`RepairStats::failed`] and [`RepairFailure::LABELS`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Counters of repair: `batches = repaired + sum(failed)` and those under way;
/// `frames = unasked + surplus + ingest.frames_in`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairStats {
    /// Batches with something missing after all waiting.
    pub batches: u64,
    /// Requests to the SCC, at most two per batch.
    pub requests: u64,
    /// Batches that became whole after all.
    pub repaired: u64,
    /// Batches that did not, by reason: indexed by [`RepairFailure::index`].
    pub failed: [u64; RepairFailure::COUNT],
    /// Frames that the SCC sent.
    pub frames: u64,
    /// Frames among them of batches that are not being repaired: dropped.
    pub unasked: u64,
    /// Frames past the number that was asked for: dropped.
    pub surplus: u64,
    /// What became of the others.
    pub ingest: IngestStats,
}

/// How far the repair of a batch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing is known to be missing for good.
    #[default]
    None,
    /// To be asked for as soon as fewer batches are.
    Wanted,
    /// Asked for; this may still come.
    Asked {
        /// DATA frames.
        left: u64,
        /// Its CLOSE.
        close: bool,
    },
    /// Its CLOSE came: the queues are asked for all that they have before frames are asked for.
    Closed,
    /// Failed, and counted.
    Failed,
}

/// The repair of one batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repair {
    pub(super) stage: Stage,
    /// When it is given up.
    pub(super) deadline_ns: u64,
    pub(super) asked_close: bool,
    pub(super) asked_frames: bool,
}

impl Repair {
    /// Whether it has begun and not ended.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Wanted | Stage::Asked { .. } | Stage::Closed)
    }

    /// Whether the batch waits for the SCC.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Wanted | Stage::Asked { .. })
    }

    pub(super) fn is_asked(&self) -> bool {
        matches!(self.stage, Stage::Asked { .. })
    }
}

/// The queue of repaired frames. What it has to say is there as soon as it is told something.
#[derive(Debug)]
pub(super) struct Desk {
    queue: Queue,
}

impl Desk {
    pub(super) fn new(ingest: &IngestConfig) -> Self {
        let tuning = Tuning { chunk_rows: CHUNK_ROWS, dedupe: Dedupe::Never, arena: None };
        let frames_max = ingest.frames_max.min(REPAIR_FRAMES_MAX);
        let config = IngestConfig { frames_max, tuning, ..ingest.clone() };
        Desk { queue: Queue::with_partials(config, PARTIALS) }
    }

    /// Takes a frame; true where it contradicts its batch.
    pub(super) fn on_frame(&mut self, bytes: &[u8], now_ns: u64) -> bool {
        let conflicts = |queue: &Queue| queue.stats().refused[RefuseReason::Conflict.index()];
        let before = conflicts(&self.queue);
        self.queue.on_datagram(bytes, now_ns);
        conflicts(&self.queue) != before
    }

    /// DATA and CLOSE frames that were taken, ever.
    pub(super) fn taken(&self) -> (u64, u64) {
        let stats = self.queue.stats();
        (stats.data, stats.close)
    }

    pub(super) fn require_keys(&mut self, keys: Arc<KeyBook>) {
        self.queue.require_keys(keys);
    }

    pub(super) fn next_event(&mut self) -> Option<QueueEvent> {
        self.queue.next_event()
    }

    /// What it has of a batch.
    pub(super) fn take(&mut self, batch: BatchId) -> Option<Box<Partial>> {
        self.queue.on_command(QueueCommand::Take(batch), 0);
        match self.queue.next_event() {
            Some(QueueEvent::Taken { partial, .. }) => partial,
            _ => None,
        }
    }

    pub(super) fn command(&mut self, command: QueueCommand) {
        self.queue.on_command(command, 0);
    }

    pub(super) fn stats(&self) -> IngestStats {
        *self.queue.stats()
    }
}

/// Rows that wait in a chunk: repaired frames are few.
const CHUNK_ROWS: usize = 256;
/// One per batch that is asked for, held here or by the sealer, and one more.
const PARTIALS: usize = REPAIR_BATCHES_MAX + 1;
