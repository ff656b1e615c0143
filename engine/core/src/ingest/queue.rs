//! The ingest state machine of one receive queue.
//!
//! Hot path: no allocation, no lock, no syscall per frame; work bounded by the frame, and by the
//! size of the filters where it opens a batch.
//!
//! A batch's way: unknown → *open* (its first frame) → taken by the sealer, or ended here as the
//! oldest of three or as idle → late (forgotten). Frames that come between *taken* and *late*
//! open a second partial, which does not count against the batches in progress: a straggler must
//! not end a healthy batch.

use std::collections::VecDeque;
use std::sync::Arc;

use bloomrf_kernels::arena::Arena;
use bloomrf_kernels::columns;

use super::frames::Offer;
use super::pending::{CHUNK_ROWS, PendingRows};
use super::recent::RecentBatches;
use super::{BatchTotals, FrameEntry, IngestStats, OpenBoard, Partial, RefuseReason};
use crate::filter::{Dedupe, FilterPolicy};
use crate::identity::{BatchId, ClusterId};
use crate::limits::{
    FRAME_BYTES_MAX, LATE_BATCHES_MAX, OPEN_BATCHES_MAX, PARTIALS_PER_QUEUE, QUEUE_EVENTS_MAX,
};
use crate::schema::Schema;
use crate::wire::frame::{self, Frame, FrameHeader};
use crate::wire::mac::KeyBook;

/// What all queues of a node share, fixed for a schema epoch.
#[derive(Clone, Debug)]
pub struct IngestConfig {
    /// Cluster.
    pub cluster: ClusterId,
    /// Schema.
    pub schema: Arc<Schema>,
    /// Filters.
    pub policy: Arc<FilterPolicy>,
    /// Agreement on sizes.
    pub board: Arc<OpenBoard>,
    /// Without a new frame for this long an open batch is ended as incomplete, nanoseconds.
    pub idle_ns: u64,
    /// Frames of one batch that a queue keeps digests of.
    pub frames_max: usize,
    /// What changes the speed and nothing else.
    pub tuning: Tuning,
}

/// How a queue works; no bit of a filter hangs on it.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Rows that are gathered before they are inserted together; at least those of one frame.
    pub chunk_rows: usize,
    /// Whether keys seen a moment ago are left out.
    pub dedupe: Dedupe,
    /// Where the open filters of the batches in progress lie; those of the others, and without
    /// an arena all of them, lie on the heap.
    pub arena: Option<Arena>,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { chunk_rows: CHUNK_ROWS, dedupe: Dedupe::Adaptive, arena: None }
    }
}

/// From a queue to the sealer.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "totals lie in place: no allocation per frame")]
pub enum QueueEvent {
    /// A CLOSE frame arrived.
    Close {
        /// Batch.
        batch: BatchId,
        /// Totals per lane, in lane order.
        totals: BatchTotals,
    },
    /// The answer to `Take`: this queue's share, if it has any.
    Taken {
        /// Batch.
        batch: BatchId,
        /// The share, or none.
        partial: Option<Box<Partial>>,
    },
    /// An open batch was ended here (third batch id, or idle too long): it is incomplete unless
    /// the sealer already has its totals and all frames. Carries this queue's share.
    Ended {
        /// Batch.
        batch: BatchId,
        /// The share.
        partial: Box<Partial>,
    },
}

/// From the sealer to a queue.
#[derive(Debug)]
pub enum QueueCommand {
    /// Hand over your share of this batch (and open a new one if more of it arrives).
    Take(BatchId),
    /// The batch is sealed or given up: frames of it are late from now on.
    Forget(BatchId),
    /// A used partial, to be emptied and used again.
    Recycle(Box<Partial>),
}

/// One receive queue.
#[derive(Debug)]
pub struct Queue {
    config: IngestConfig,
    /// Oldest first.
    open: Vec<OpenBatch>,
    #[expect(clippy::vec_box, reason = "partials travel in their boxes: moved, never copied")]
    spare: Vec<Box<Partial>>,
    partials_max: usize,
    /// Chunks of no batch: as many as can be open.
    spare_rows: Vec<PendingRows>,
    /// Taken and not yet forgotten.
    taken: RecentBatches,
    /// Ended here and not yet forgotten: DATA is late, a CLOSE may still complete the batch.
    ended: RecentBatches,
    late: RecentBatches,
    /// CLOSE frames passed on, to drop their repetitions.
    closes: VecDeque<(BatchId, BatchTotals)>,
    events: VecDeque<QueueEvent>,
    stats: IngestStats,
    /// Frames must be sealed with one of these.
    keys: Option<Arc<KeyBook>>,
}

#[derive(Debug)]
struct OpenBatch {
    partial: Box<Partial>,
    /// Rows of it that are not in the partial yet.
    rows: PendingRows,
    /// When its last new frame came.
    progress_ns: u64,
    /// The sealer took this batch before: these are its stragglers.
    reopened: bool,
}

/// Batches open at once: those in progress, and stragglers of as many.
const OPEN_MAX: usize = 2 * OPEN_BATCHES_MAX;
/// Frames of a burst whose rows are asked for ahead of time.
const FRAMES_AHEAD: usize = 3;
/// CLOSE frames remembered.
const CLOSES_MAX: usize = 16;

impl Queue {
    /// A queue with its partials reserved.
    #[must_use]
    pub fn new(config: IngestConfig) -> Self {
        Self::with_partials(config, PARTIALS_PER_QUEUE)
    }

    /// A queue with another number of partials: one whose batches are known to be few.
    #[must_use]
    pub fn with_partials(config: IngestConfig, partials_max: usize) -> Self {
        let Tuning { chunk_rows, dedupe, arena } = &config.tuning;
        let rows = || PendingRows::new(&config.schema, &config.policy, *chunk_rows, *dedupe);
        // The last one given back is the next one used: the first of them lie in the arena.
        let partials = (0..partials_max).rev().map(|rank| {
            let arena = arena.as_ref().filter(|_| rank < 2 * OPEN_BATCHES_MAX);
            Box::new(Partial::reserve(&config, arena))
        });
        Queue {
            open: Vec::with_capacity(OPEN_MAX),
            spare: partials.collect(),
            partials_max,
            spare_rows: (0..OPEN_MAX).map(|_| rows()).collect(),
            taken: RecentBatches::new(LATE_BATCHES_MAX),
            ended: RecentBatches::new(LATE_BATCHES_MAX),
            late: RecentBatches::new(LATE_BATCHES_MAX),
            closes: VecDeque::with_capacity(CLOSES_MAX),
            events: VecDeque::with_capacity(QUEUE_EVENTS_MAX),
            stats: IngestStats::default(),
            keys: None,
            config,
        }
    }

    /// From now on refuses every frame that is not sealed with one of `keys`.
    pub fn require_keys(&mut self, keys: Arc<KeyBook>) {
        self.keys = Some(keys);
    }

    /// Takes the datagrams of a burst, in order: as [`Queue::on_datagram`] of each, with the rows
    /// of the ones to come fetched ahead.
    pub fn on_burst(&mut self, datagrams: &[&[u8]], now_ns: u64) {
        let kernel = self.config.policy.kernel;
        for (at, bytes) in datagrams.iter().enumerate() {
            if let Some(ahead) = datagrams.get(at + FRAMES_AHEAD) {
                columns::prefetch(kernel, ahead);
            }
            self.on_datagram(bytes, now_ns);
        }
    }

    /// Takes one datagram.
    pub fn on_datagram(&mut self, bytes: &[u8], now_ns: u64) {
        self.stats.frames_in += 1;
        if let Err(reason) = self.take_frame(bytes, now_ns) {
            self.stats.refused[reason.index()] += 1;
        }
    }

    /// Takes records that the node made itself, as a DATA frame of `header` would bring them, and
    /// counts them the same; they are neither encoded nor summed, and need no key.
    ///
    /// # Errors
    /// Why a frame would have been refused: these records are in no batch.
    ///
    /// # Panics
    /// On our own mistake: not whole records, none, or more than a frame holds.
    pub fn on_own_records(
        &mut self,
        header: &FrameHeader,
        payload: &[u8],
        now_ns: u64,
    ) -> Result<(), RefuseReason> {
        let record_bytes = self.config.schema.record_bytes();
        let records = payload.len() / record_bytes;
        assert!(payload.len() <= FRAME_BYTES_MAX && records > 0, "no frame's worth of records");
        assert!(records * record_bytes == payload.len(), "not whole records");
        self.stats.frames_in += 1;
        // No frame holds more records than 16 bits say.
        let taken = self.take_data(header, records as u16, payload, now_ns);
        taken.inspect_err(|reason| self.stats.refused[reason.index()] += 1)
    }

    /// Ends a batch that the node made itself, as its CLOSE frame would.
    ///
    /// # Errors
    /// Why a frame would have been refused: the batch never closes.
    pub fn on_own_close(
        &mut self,
        batch: BatchId,
        totals: BatchTotals,
    ) -> Result<(), RefuseReason> {
        self.stats.frames_in += 1;
        let taken = self.take_close(batch, totals);
        taken.inspect_err(|reason| self.stats.refused[reason.index()] += 1)
    }

    /// Whether so many more batches can be opened without ending another, and their CLOSE be told.
    #[must_use]
    pub fn has_room_for(&self, batches: usize) -> bool {
        self.open.len() + batches <= OPEN_BATCHES_MAX
            && self.spare.len() >= batches
            && self.events.len() < QUEUE_EVENTS_MAX / 4
    }

    /// Counts a datagram that the link knows to be refused, without looking at it.
    pub fn refuse(&mut self, reason: RefuseReason) {
        self.stats.frames_in += 1;
        self.stats.refused[reason.index()] += 1;
    }

    /// Takes a command of the sealer.
    pub fn on_command(&mut self, command: QueueCommand, _now_ns: u64) {
        match command {
            QueueCommand::Take(batch) => {
                let partial = self.take_open(batch);
                if !self.late.contains(batch) && !self.ended.contains(batch) {
                    self.taken.insert(batch);
                }
                self.events.push_back(QueueEvent::Taken { batch, partial });
            }
            QueueCommand::Forget(batch) => {
                if let Some(at) = self.open.iter().position(|open| open.partial.batch == batch) {
                    let OpenBatch { partial, rows, .. } = self.open.remove(at);
                    self.spare_rows.push(rows);
                    self.recycle(partial);
                }
                self.taken.remove(batch);
                self.ended.remove(batch);
                self.late.insert(batch);
            }
            QueueCommand::Recycle(partial) => self.recycle(partial),
        }
    }

    /// Called between bursts: ends what has been idle too long.
    pub fn on_tick(&mut self, now_ns: u64) {
        let idle_ns = self.config.idle_ns;
        let is_idle = |open: &OpenBatch| now_ns.saturating_sub(open.progress_ns) >= idle_ns;
        while let Some(at) = self.open.iter().position(is_idle) {
            self.end(at);
        }
    }

    /// The next event for the sealer.
    pub fn next_event(&mut self) -> Option<QueueEvent> {
        self.events.pop_front()
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &IngestStats {
        &self.stats
    }

    fn take_frame(&mut self, bytes: &[u8], now_ns: u64) -> Result<(), RefuseReason> {
        let frame = Frame::parse(bytes, self.config.schema.record_bytes())
            .map_err(RefuseReason::Malformed)?;
        if let Some(keys) = &self.keys {
            frame::authenticate(bytes, &keys.load()).map_err(|_| RefuseReason::Key)?;
        }
        let (Frame::Data { header, .. } | Frame::Close { header, .. }) = frame;
        if header.cluster != self.config.cluster {
            return Err(RefuseReason::Cluster);
        }
        if header.fingerprint != self.config.schema.fingerprint() {
            return Err(RefuseReason::Schema);
        }
        match frame {
            Frame::Data { records, payload, .. } => {
                self.take_data(&header, records, payload, now_ns)
            }
            Frame::Close { totals, .. } => {
                self.take_close(header.batch, BatchTotals::new(header.hash, totals.iter()))
            }
        }
    }

    fn take_data(
        &mut self,
        header: &FrameHeader,
        records: u16,
        payload: &[u8],
        now_ns: u64,
    ) -> Result<(), RefuseReason> {
        let at = self.open_at(header, now_ns)?;
        let open = &mut self.open[at];
        let partial = &mut *open.partial;
        if !partial.agrees(header.hash, header.lanes) {
            partial.refused = true;
            return Err(RefuseReason::Conflict);
        }
        if open.rows.is_full_for(usize::from(records)) {
            partial.rows += open.rows.flush(&mut partial.columns);
        }
        let offer = partial.frames.offer(FrameEntry {
            lane: header.lane,
            sequence: header.sequence,
            records,
            digest: open.rows.append(header.hash, payload),
        });
        match offer {
            Offer::New => {
                open.rows.commit(&self.config.schema, payload, &mut partial.columns);
                open.progress_ns = now_ns;
                self.stats.data += 1;
                self.stats.records += u64::from(records);
                self.stats.bytes += payload.len() as u64;
            }
            Offer::Duplicate => self.stats.duplicate += 1,
            Offer::Conflict => {
                partial.refused = true;
                return Err(RefuseReason::Conflict);
            }
            Offer::Full => {
                partial.refused = true;
                return Err(RefuseReason::Full);
            }
        }
        Ok(())
    }

    fn take_close(&mut self, batch: BatchId, totals: BatchTotals) -> Result<(), RefuseReason> {
        if let Some(open) = self.open.iter_mut().find(|open| open.partial.batch == batch)
            && !open.partial.agrees(totals.hash(), totals.lanes())
        {
            open.partial.refused = true;
            return Err(RefuseReason::Conflict);
        }
        if self.closes.iter().any(|close| *close == (batch, totals)) {
            self.stats.duplicate += 1;
            return Ok(());
        }
        if self.late.contains(batch) {
            return Err(RefuseReason::Late);
        }
        if self.events.len() >= QUEUE_EVENTS_MAX / 2 {
            return Err(RefuseReason::Busy);
        }
        if self.closes.len() == CLOSES_MAX {
            self.closes.pop_front();
        }
        self.closes.push_back((batch, totals));
        self.events.push_back(QueueEvent::Close { batch, totals });
        self.stats.close += 1;
        Ok(())
    }

    /// The place of the frame's batch among the open ones; opens it where it is new.
    fn open_at(&mut self, header: &FrameHeader, now_ns: u64) -> Result<usize, RefuseReason> {
        if let Some(at) = self.open.iter().position(|open| open.partial.batch == header.batch) {
            return Ok(at);
        }
        if self.late.contains(header.batch) || self.ended.contains(header.batch) {
            return Err(RefuseReason::Late);
        }
        if self.spare.is_empty() {
            return Err(RefuseReason::Busy);
        }
        let reopened = self.taken.contains(header.batch);
        if self.open.iter().filter(|open| open.reopened == reopened).count() == OPEN_BATCHES_MAX
            && let Some(oldest) = self.open.iter().position(|open| open.reopened == reopened)
        {
            self.end(oldest);
        }
        // Whichever batches are open, there is a chunk for one more: the oldest has just ended.
        let mut partial = self.spare.pop().ok_or(RefuseReason::Busy)?;
        let mut rows = self.spare_rows.pop().ok_or(RefuseReason::Busy)?;
        partial.open(&self.config, header);
        rows.start();
        self.open.push(OpenBatch { partial, rows, progress_ns: now_ns, reopened });
        Ok(self.open.len() - 1)
    }

    /// Ends an open batch before the sealer asked for it.
    fn end(&mut self, at: usize) {
        let (partial, reopened) = self.let_go(at);
        let batch = partial.batch;
        if !reopened {
            // It was in progress and is given up here: more of it must not open it again, or
            // three interleaved batches would end each other for ever.
            self.ended.insert(batch);
        }
        self.events.push_back(QueueEvent::Ended { batch, partial });
    }

    fn take_open(&mut self, batch: BatchId) -> Option<Box<Partial>> {
        let at = self.open.iter().position(|open| open.partial.batch == batch)?;
        Some(self.let_go(at).0)
    }

    /// The partial of an open batch, with every row that came in it, and whether it was reopened.
    fn let_go(&mut self, at: usize) -> (Box<Partial>, bool) {
        let OpenBatch { mut partial, mut rows, reopened, .. } = self.open.remove(at);
        partial.rows += rows.finish(&mut partial.columns);
        self.spare_rows.push(rows);
        (partial, reopened)
    }

    fn recycle(&mut self, partial: Box<Partial>) {
        if self.spare.len() < self.partials_max {
            self.spare.push(partial);
        }
    }
}

#[cfg(test)]
mod tests;
