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

use super::frames::Offer;
use super::recent::RecentBatches;
use super::{BatchTotals, FrameEntry, IngestStats, OpenBoard, Partial, RefuseReason};
use crate::filter::FilterPolicy;
use crate::identity::{BatchId, ClusterId};
use crate::limits::{LATE_BATCHES_MAX, OPEN_BATCHES_MAX, PARTIALS_PER_QUEUE, QUEUE_EVENTS_MAX};
use crate::schema::Schema;
use crate::verify::frame_digest;
use crate::wire::frame::{Frame, FrameHeader};

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
    /// Taken and not yet forgotten.
    taken: RecentBatches,
    /// Ended here and not yet forgotten: DATA is late, a CLOSE may still complete the batch.
    ended: RecentBatches,
    late: RecentBatches,
    /// CLOSE frames passed on, to drop their repetitions.
    closes: VecDeque<(BatchId, BatchTotals)>,
    events: VecDeque<QueueEvent>,
    stats: IngestStats,
}

#[derive(Debug)]
struct OpenBatch {
    partial: Box<Partial>,
    /// When its last new frame came.
    progress_ns: u64,
    /// The sealer took this batch before: these are its stragglers.
    reopened: bool,
}

/// CLOSE frames remembered.
const CLOSES_MAX: usize = 16;

impl Queue {
    /// A queue with its partials reserved.
    #[must_use]
    pub fn new(config: IngestConfig) -> Self {
        let partials = (0..PARTIALS_PER_QUEUE).map(|_| Box::new(Partial::reserve(&config)));
        Queue {
            open: Vec::with_capacity(2 * OPEN_BATCHES_MAX),
            spare: partials.collect(),
            taken: RecentBatches::new(LATE_BATCHES_MAX),
            ended: RecentBatches::new(LATE_BATCHES_MAX),
            late: RecentBatches::new(LATE_BATCHES_MAX),
            closes: VecDeque::with_capacity(CLOSES_MAX),
            events: VecDeque::with_capacity(QUEUE_EVENTS_MAX),
            stats: IngestStats::default(),
            config,
        }
    }

    /// Takes one datagram.
    pub fn on_datagram(&mut self, bytes: &[u8], now_ns: u64) {
        self.stats.frames_in += 1;
        if let Err(reason) = self.take_frame(bytes, now_ns) {
            self.stats.refused[reason.index()] += 1;
        }
    }

    /// Takes a command of the sealer.
    pub fn on_command(&mut self, command: QueueCommand, _now_ns: u64) {
        match command {
            QueueCommand::Take(batch) => {
                let partial = self.close_open(batch);
                if !self.late.contains(batch) && !self.ended.contains(batch) {
                    self.taken.insert(batch);
                }
                self.events.push_back(QueueEvent::Taken { batch, partial });
            }
            QueueCommand::Forget(batch) => {
                if let Some(partial) = self.close_open(batch) {
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
        let offer = partial.frames.offer(FrameEntry {
            lane: header.lane,
            sequence: header.sequence,
            records,
            digest: frame_digest(header.hash, payload),
        });
        match offer {
            Offer::New => {
                partial.insert_rows(&self.config.schema, payload);
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
        let mut partial = self.spare.pop().ok_or(RefuseReason::Busy)?;
        let reopened = self.taken.contains(header.batch);
        if self.open.iter().filter(|open| open.reopened == reopened).count() == OPEN_BATCHES_MAX
            && let Some(oldest) = self.open.iter().position(|open| open.reopened == reopened)
        {
            self.end(oldest);
        }
        partial.open(&self.config, header);
        self.open.push(OpenBatch { partial, progress_ns: now_ns, reopened });
        Ok(self.open.len() - 1)
    }

    /// Ends an open batch before the sealer asked for it.
    fn end(&mut self, at: usize) {
        let OpenBatch { partial, reopened, .. } = self.open.remove(at);
        let batch = partial.batch;
        if !reopened {
            // It was in progress and is given up here: more of it must not open it again, or
            // three interleaved batches would end each other for ever.
            self.ended.insert(batch);
        }
        self.events.push_back(QueueEvent::Ended { batch, partial });
    }

    fn close_open(&mut self, batch: BatchId) -> Option<Box<Partial>> {
        let at = self.open.iter().position(|open| open.partial.batch == batch)?;
        Some(self.open.remove(at).partial)
    }

    fn recycle(&mut self, partial: Box<Partial>) {
        if self.spare.len() < PARTIALS_PER_QUEUE {
            self.spare.push(partial);
        }
    }
}

#[cfg(test)]
mod tests;
