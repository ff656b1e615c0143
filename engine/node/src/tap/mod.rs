//! Tap use of a port: every packet is a record of the schema `packet`, batches are closed here by
//! count or time, and a batch is usable only where nothing was lost around it. So a node is of
//! use without any cluster.
//!
//! Hot path: per burst no allocation, no lock, no system call; a packet costs its headers and one
//! record of 80 bytes. Per batch, and some times a second while idle, the link's counters are
//! read, which may be a system call.
//!
//! Records are gathered into the payload of a DATA frame, which goes to the queue when it is full
//! or its batch ends: one lane, one queue per batch. A batch that is due goes on while the queue
//! has no room for another (the sealer is behind): nothing is refused for that. Which batches a
//! loss spoils is said in `losses`.

mod ids;
mod losses;
mod make;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bloomrf_engine::env::Clock;
use bloomrf_engine::identity::{BatchId, ClusterId, Fingerprint};
use bloomrf_engine::ingest::{BatchTotals, Queue};
use bloomrf_engine::limits::{FRAME_BYTES_MAX, FRAMES_PER_BATCH_MAX};
use bloomrf_engine::schema::PACKET_RECORD_BYTES;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame::{FrameHeader, HEADER_BYTES, LaneTotal};
use bloomrf_kernels::cycles;
use bloomrf_netio::{Burst, Link, LinkError};

use crate::packet::{self, PacketCounts, PacketView};
use crate::poll::StageNumbers;

pub(crate) use losses::{LostBatch, Span, TapVerdict};
pub(crate) use make::{RECORDS_MAX, Taps};

use ids::BatchIds;
use losses::{Losses, Mark};

/// How a tap cuts its stream of packets.
#[derive(Clone, Debug)]
pub(crate) struct TapConfig {
    /// Cluster id of the records.
    pub(crate) cluster: ClusterId,
    /// Fingerprint of the schema `packet`.
    pub(crate) fingerprint: Fingerprint,
    /// Chain hash.
    pub(crate) hash: HashAlgorithm,
    /// Records that end a batch.
    pub(crate) batch_records: u64,
    /// Time that ends a batch: between the packets' own times, or since it opened; nanoseconds.
    pub(crate) batch_ns: u64,
    /// Losses of the port may be told so much later than they happened, nanoseconds.
    pub(crate) settle_ns: u64,
    /// The packets can wait: a replay stands still rather than that a batch grows.
    pub(crate) is_patient: bool,
}

/// One queue's tap. Owned by its poll thread.
pub(crate) struct Tap {
    config: TapConfig,
    clock: Arc<dyn Clock>,
    ids: BatchIds,
    /// Of the frame being filled; its first `filled` bytes are records.
    payload: Box<[u8]>,
    filled: usize,
    open: Option<OpenBatch>,
    /// Handed over to the queue, its CLOSE not yet.
    ended: Option<OpenBatch>,
    losses: Losses,
    counts: PacketCounts,
}

/// A batch that is being filled.
#[derive(Clone, Copy, Debug)]
struct OpenBatch {
    id: BatchId,
    /// What had been lost before any of its packets.
    base: Mark,
    opened_ns: u64,
    first_ts_ns: i64,
    span: Span,
    frames: u32,
    /// Records of it were refused by the queue.
    is_lost: bool,
}

impl Tap {
    /// A tap whose batches have `ids`, and its verdicts' ring. `loss_mark` is the link's as it was
    /// when the port was opened: what is lost from then on counts.
    fn new(
        config: TapConfig,
        clock: Arc<dyn Clock>,
        ids: BatchIds,
        loss_mark: u64,
    ) -> (Self, rtrb::Consumer<TapVerdict>) {
        let (losses, verdicts) = Losses::new(config.settle_ns, loss_mark, clock.now_ns());
        let tap = Tap {
            clock,
            ids,
            payload: vec![0; PAYLOAD_BYTES].into(),
            filled: 0,
            open: None,
            ended: None,
            losses,
            counts: PacketCounts::default(),
            config,
        };
        (tap, verdicts)
    }

    /// One turn of the poll loop: receives a burst and takes it. Returns its length.
    pub(crate) fn turn(
        &mut self,
        link: &mut dyn Link,
        queue: &mut Queue,
        numbers: &mut StageNumbers,
        now_ns: u64,
    ) -> (usize, Result<(), LinkError>) {
        if self.must_wait(queue) {
            self.after_burst(link, queue, false, now_ns);
            std::thread::sleep(PATIENCE);
            return (0, Ok(()));
        }
        let begin = cycles::now();
        let mut burst = Burst::new();
        let outcome = link.rx_burst(&mut burst);
        let count = burst.len();
        if count == 0 {
            numbers.note_empty();
        } else {
            let received = cycles::now();
            self.on_burst(&burst, queue, now_ns);
            numbers.note(count, [begin, received, received, cycles::now()]);
        }
        drop(burst);
        if outcome.is_err() {
            // Nobody knows what was missed.
            self.losses.note();
        }
        self.after_burst(link, queue, count == 0 && outcome.is_ok(), now_ns);
        (count, outcome)
    }

    /// Takes the packets of a burst, in order. At most one batch ends within it.
    fn on_burst(&mut self, burst: &Burst<'_>, queue: &mut Queue, now_ns: u64) {
        let mut wall_ns = None;
        for received in burst.iter() {
            let mut view = PacketView::from(received);
            if view.ts_ns == 0 {
                let clock = &self.clock;
                view.ts_ns = *wall_ns.get_or_insert_with(|| clock.unix_us().saturating_mul(1_000));
            }
            self.take_packet(view, queue, now_ns);
        }
    }

    fn take_packet(&mut self, view: PacketView<'_>, queue: &mut Queue, now_ns: u64) {
        let config = &self.config;
        let is_due = self.open.as_ref().is_some_and(|open| {
            open.span.records >= config.batch_records
                || view.ts_ns.saturating_sub(open.first_ts_ns) as u64 >= config.batch_ns
                    && view.ts_ns > open.first_ts_ns
        });
        if is_due && self.can_end(queue) {
            self.end_batch(queue, now_ns);
        }
        let open = self.open.get_or_insert_with(|| OpenBatch {
            id: self.ids.next(),
            base: self.losses.base(),
            opened_ns: now_ns,
            first_ts_ns: view.ts_ns,
            span: Span { from_ns: view.ts_ns, to_ns: view.ts_ns, records: 0 },
            frames: 0,
            is_lost: false,
        });
        let Span { from_ns, to_ns, records } = &mut open.span;
        (*from_ns, *to_ns) = (view.ts_ns.min(*from_ns), view.ts_ns.max(*to_ns));
        *records += 1;
        let end = self.filled + PACKET_RECORD_BYTES;
        packet::encode(view, &mut self.payload[self.filled..end], &mut self.counts);
        self.filled = end;
        if self.filled + PACKET_RECORD_BYTES > PAYLOAD_BYTES {
            self.flush(queue, now_ns);
        }
    }

    /// After each burst, when the link is free again: closes what has ended, and judges what has
    /// been closed for long enough. `is_empty`: the port was found drained.
    fn after_burst(&mut self, link: &dyn Link, queue: &mut Queue, is_empty: bool, now_ns: u64) {
        let is_over = |open: &OpenBatch| {
            open.span.records >= self.config.batch_records
                || now_ns.saturating_sub(open.opened_ns) >= self.config.batch_ns
                || is_empty && link.is_exhausted()
        };
        if self.open.as_ref().is_some_and(is_over) && self.can_end(queue) {
            self.end_batch(queue, now_ns);
        }
        let may_advance = is_empty && self.losses.may_advance(now_ns);
        if self.ended.is_none() && !self.losses.is_due(now_ns) && !may_advance {
            return;
        }
        let mark = self.losses.mark(link.stats().loss_mark);
        if let Some(ended) = self.ended.take() {
            self.close(ended, mark, queue, now_ns);
        }
        self.losses.judge(mark, now_ns);
        if may_advance {
            self.losses.advance(mark, self.open.is_some(), self.clock.now_ns());
        }
    }

    /// Whether the link is to be left alone for now: its packets can wait, and there is no room for
    /// the batch that they belong to.
    fn must_wait(&self, queue: &Queue) -> bool {
        let is_full = |open: &OpenBatch| open.span.records >= self.config.batch_records;
        self.config.is_patient && self.open.as_ref().is_some_and(is_full) && !self.can_end(queue)
    }

    /// Packets taken, and those whose headers were not read in full by reason.
    pub(crate) fn counts(&self) -> &PacketCounts {
        &self.counts
    }

    fn can_end(&self, queue: &Queue) -> bool {
        // The queue may not know yet of the one that is open here.
        let is_known = self.open.as_ref().is_none_or(|open| open.frames > 0);
        let batches = if is_known { 1 } else { 2 };
        self.ended.is_none() && self.losses.has_room() && queue.has_room_for(batches)
    }

    fn end_batch(&mut self, queue: &mut Queue, now_ns: u64) {
        self.flush(queue, now_ns);
        self.ended = self.open.take();
    }

    /// Hands the records gathered so far to the queue.
    fn flush(&mut self, queue: &mut Queue, now_ns: u64) {
        let filled = std::mem::take(&mut self.filled);
        let (Some(open), true) = (&mut self.open, filled > 0) else { return };
        if open.frames as usize >= FRAMES_PER_BATCH_MAX {
            open.is_lost = true;
            return;
        }
        let header = FrameHeader {
            cluster: self.config.cluster,
            fingerprint: self.config.fingerprint,
            batch: open.id,
            hash: self.config.hash,
            lane: 0,
            lanes: 1,
            sequence: open.frames,
        };
        open.frames += 1;
        if queue.on_own_records(&header, &self.payload[..filled], now_ns).is_err() {
            open.is_lost = true;
        }
    }

    /// Ends a batch for the queue: with its CLOSE, or as lost where that is known already.
    fn close(&mut self, ended: OpenBatch, mark: Mark, queue: &mut Queue, now_ns: u64) {
        let OpenBatch { id, base, span, frames, is_lost, .. } = ended;
        let total = LaneTotal { frames, records: span.records };
        let totals = BatchTotals::new(self.config.hash, [total].into_iter());
        if is_lost || mark != base || queue.on_own_close(id, totals).is_err() {
            self.losses.spoilt(id, span, mark);
        } else {
            self.losses.closed(id, span, base, now_ns);
        }
    }
}

/// A replay that waits looks again after this.
const PATIENCE: Duration = Duration::from_micros(200);
/// Bytes of records in one frame.
const PAYLOAD_BYTES: usize =
    (FRAME_BYTES_MAX - HEADER_BYTES) / PACKET_RECORD_BYTES * PACKET_RECORD_BYTES;
