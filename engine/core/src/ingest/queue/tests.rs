//! Claims about one queue, frame by frame.

use super::*;
use crate::identity::Fingerprint;
use crate::ingest::tests::config;
use crate::verify::HashAlgorithm;
use crate::wire::frame::{LaneTotal, encode_close, encode_data};

const IDLE_NS: u64 = 1_000;

fn queue(frames_max: usize) -> Queue {
    Queue::new(IngestConfig { idle_ns: IDLE_NS, frames_max, ..config() })
}

impl Queue {
    fn header(&self, batch: BatchId, sequence: u32) -> FrameHeader {
        FrameHeader {
            cluster: self.config.cluster,
            fingerprint: self.config.schema.fingerprint(),
            batch,
            hash: HashAlgorithm::Xxh3,
            lane: 0,
            lanes: 1,
            sequence,
        }
    }

    fn send(&mut self, header: FrameHeader, payload: &[u8], now_ns: u64) {
        let mut frame = Vec::new();
        encode_data(&mut frame, &header, 6, payload);
        self.on_datagram(&frame, now_ns);
        assert_eq!(self.stats.frames_in, self.stats.accounted());
    }

    fn data(&mut self, batch: BatchId, sequence: u32, now_ns: u64) {
        self.send(self.header(batch, sequence), &[sequence as u8; 18], now_ns);
    }

    fn close(&mut self, batch: BatchId, frames: u32) {
        let mut frame = Vec::new();
        let total = LaneTotal { frames, records: u64::from(frames) * 3 };
        encode_close(&mut frame, &self.header(batch, 0), &[total]);
        self.on_datagram(&frame, 0);
        assert_eq!(self.stats.frames_in, self.stats.accounted());
    }

    fn refused(&self, reason: RefuseReason) -> u64 {
        self.stats.refused[reason.index()]
    }

    fn ended(&mut self) -> Option<(BatchId, Box<Partial>)> {
        match self.next_event()? {
            QueueEvent::Ended { batch, partial } => Some((batch, partial)),
            other => panic!("not an end: {other:?}"),
        }
    }

    fn take(&mut self, batch: BatchId) -> Option<Box<Partial>> {
        self.on_command(QueueCommand::Take(batch), 0);
        match self.next_event() {
            Some(QueueEvent::Taken { batch: of, partial }) if of == batch => partial,
            other => panic!("not the answer: {other:?}"),
        }
    }
}

#[test]
fn foreign_cluster_and_schema_are_refused_and_open_nothing() {
    let mut queue = queue(16);
    queue.send(FrameHeader { cluster: ClusterId(6), ..queue.header(1, 0) }, &[0; 6], 0);
    queue.send(FrameHeader { fingerprint: Fingerprint(0), ..queue.header(1, 0) }, &[0; 6], 0);
    queue.on_datagram(&[], 0);
    assert_eq!(queue.refused(RefuseReason::Cluster), 1);
    assert_eq!(queue.refused(RefuseReason::Schema), 1);
    assert_eq!(queue.stats.refused_sum(), 3);
    assert!(queue.open.is_empty() && queue.next_event().is_none());
}

#[test]
fn frame_is_inserted_once_however_often_it_comes() {
    let mut queue = queue(16);
    for _ in 0..3 {
        queue.data(1, 7, 0);
    }
    assert_eq!((queue.stats.data, queue.stats.duplicate), (1, 2));
    assert_eq!((queue.stats.records, queue.stats.bytes), (3, 18));
    let partial = queue.take(1).unwrap();
    assert_eq!((partial.rows, partial.frames.len(), partial.refused), (3, 1, false));
}

#[test]
fn differing_copies_lanes_and_hashes_mark_the_batch_refused() {
    let other_lanes = |h: FrameHeader| FrameHeader { lanes: 2, ..h };
    let other_hash = |h: FrameHeader| FrameHeader { hash: HashAlgorithm::Sha256, ..h };
    for change in [other_lanes, other_hash, |h| h] {
        let mut queue = queue(16);
        queue.data(1, 0, 0);
        queue.send(change(queue.header(1, 0)), &[9; 18], 0);
        assert_eq!(queue.refused(RefuseReason::Conflict), 1);
        let partial = queue.take(1).unwrap();
        assert!(partial.refused);
        assert_eq!(partial.rows, 3, "the refused copy was not inserted");
    }
    let mut queue = queue(16);
    queue.data(1, 0, 0);
    let mut close = Vec::new();
    let header = FrameHeader { lanes: 2, ..queue.header(1, 0) };
    encode_close(&mut close, &header, &[LaneTotal::default(); 2]);
    queue.on_datagram(&close, 0);
    assert_eq!(queue.refused(RefuseReason::Conflict), 1);
    assert!(queue.next_event().is_none() && queue.take(1).unwrap().refused);
}

#[test]
fn frames_past_the_table_mark_the_batch_refused() {
    let mut queue = queue(4);
    for sequence in 0..6 {
        queue.data(1, sequence, 0);
    }
    assert_eq!((queue.stats.data, queue.refused(RefuseReason::Full)), (4, 2));
    let partial = queue.take(1).unwrap();
    assert!(partial.refused);
    assert_eq!(partial.rows, 12);
}

#[test]
fn third_batch_ends_the_oldest_whose_frames_are_late_then() {
    let mut queue = queue(16);
    for batch in [8, 3, 5] {
        queue.data(batch, 0, 0);
    }
    let (batch, partial) = queue.ended().unwrap();
    assert_eq!((batch, partial.batch, partial.rows), (8, 8, 3), "oldest by arrival");
    queue.data(8, 1, 0);
    assert_eq!(queue.refused(RefuseReason::Late), 1);
    assert!(queue.ended().is_none(), "and it does not end another");
    queue.close(8, 1);
    assert!(matches!(queue.next_event(), Some(QueueEvent::Close { batch: 8, .. })));
    queue.on_command(QueueCommand::Forget(8), 0);
    queue.data(8, 2, 0);
    queue.close(8, 2);
    assert_eq!(queue.refused(RefuseReason::Late), 3);
}

#[test]
fn stragglers_of_a_taken_batch_do_not_end_batches_in_progress() {
    let mut queue = queue(16);
    queue.data(1, 0, 0);
    assert_eq!(queue.take(1).unwrap().rows, 3);
    queue.data(2, 0, 0);
    queue.data(3, 0, 0);
    queue.data(1, 1, 0);
    queue.data(1, 0, 0);
    assert!(queue.next_event().is_none());
    let again = queue.take(1).unwrap();
    assert_eq!(again.rows, 6, "a copy of a frame already handed over is the sealer's to find");
    assert!(queue.take(1).is_none());
    assert_eq!(queue.open.len(), 2);
}

#[test]
fn idle_batch_is_ended_and_duplicates_are_no_progress() {
    let mut queue = queue(16);
    queue.data(1, 0, 0);
    queue.data(2, 0, 500);
    queue.data(1, 0, 900);
    queue.on_tick(IDLE_NS - 1);
    assert!(queue.next_event().is_none());
    queue.on_tick(IDLE_NS);
    assert_eq!(queue.ended().map(|(batch, _)| batch), Some(1));
    queue.data(2, 1, IDLE_NS);
    queue.on_tick(IDLE_NS + 500);
    assert!(queue.ended().is_none());
}

#[test]
fn close_is_passed_on_once_even_for_a_batch_never_seen() {
    let mut queue = queue(16);
    for _ in 0..3 {
        queue.close(9, 0);
    }
    assert_eq!((queue.stats.close, queue.stats.duplicate), (1, 2));
    queue.close(9, 1);
    assert_eq!(queue.stats.close, 2, "a differing one is the sealer's to judge");
    assert_eq!(std::iter::from_fn(|| queue.next_event()).count(), 2);
    queue.on_command(QueueCommand::Forget(9), 0);
    queue.close(9, 1);
    assert_eq!((queue.stats.duplicate, queue.stats.refused_sum()), (3, 0), "a plain repetition");
}

#[test]
fn floods_of_batches_and_closes_stay_within_the_reserve() {
    let mut queue = queue(16);
    for batch in 0..1_000 {
        queue.data(batch, 0, 0);
        queue.close(batch, 1);
    }
    assert_eq!(queue.stats.data, PARTIALS_PER_QUEUE as u64);
    assert!(queue.refused(RefuseReason::Busy) > 0);
    assert!(queue.events.len() <= QUEUE_EVENTS_MAX, "no growth: {}", queue.events.len());
    while let Some(event) = queue.next_event() {
        if let QueueEvent::Ended { partial, .. } = event {
            queue.on_command(QueueCommand::Recycle(partial), 0);
        }
    }
    for batch in [998, 999] {
        queue.data(2_000 + batch, 0, 0);
    }
    assert_eq!(queue.stats.data, PARTIALS_PER_QUEUE as u64 + 2, "ingest goes on");
    for (batch, _) in std::mem::take(&mut queue.closes) {
        queue.on_command(QueueCommand::Forget(batch), 0);
    }
    for open in [2_998, 2_999] {
        queue.on_command(QueueCommand::Forget(open), 0);
    }
    while let Some(QueueEvent::Ended { partial, .. }) = queue.next_event() {
        queue.on_command(QueueCommand::Recycle(partial), 0);
    }
    assert_eq!(queue.spare.len(), PARTIALS_PER_QUEUE, "every partial came back");
}

#[test]
fn recycled_partial_starts_empty() {
    let mut queue = queue(16);
    for round in 0..3 * PARTIALS_PER_QUEUE as u64 {
        queue.data(round, round as u32, 0);
        let partial = queue.take(round).unwrap();
        let fresh = {
            let mut alone = self::queue(16);
            alone.data(round, round as u32, 0);
            alone.take(round).unwrap()
        };
        assert!(partial.columns == fresh.columns, "nothing of the batch before is left");
        assert_eq!((partial.rows, partial.frames.len()), (3, 1));
        queue.on_command(QueueCommand::Recycle(partial), 0);
        queue.on_command(QueueCommand::Forget(round), 0);
    }
}
