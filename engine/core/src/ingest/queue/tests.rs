//! Claims about one queue, frame by frame.

use bloomrf_kernels::arena::ArenaConfig;

use super::*;
use crate::filter::OpenColumn;
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

impl Queue {
    /// What the queue's way must have made of `payloads`, one row after the other.
    fn columns_of(&self, payloads: &[Vec<u8>]) -> Vec<OpenColumn> {
        let schema = &self.config.schema;
        let shapes = self.config.policy.open_shapes(schema, self.config.board.agree(1));
        let columns = schema.columns().iter().zip(shapes);
        let built = columns.map(|(column, shape)| {
            let mut open = OpenColumn::new(column, shape);
            open.insert_rows(column, &payloads.concat(), schema.record_bytes());
            open
        });
        built.collect()
    }
}

/// Rows that differ from frame to frame.
fn payload(sequence: u32) -> Vec<u8> {
    (0..18u32).map(|i| (sequence * 31 + i * 7) as u8).collect()
}

#[test]
fn refused_frame_leaves_no_row_behind() {
    for frames in [1, 2, 40] {
        let mut queue = queue(64);
        for sequence in 0..frames {
            queue.send(queue.header(1, sequence), &payload(sequence), 0);
            queue.send(queue.header(1, sequence), &[0xEE; 18], 0);
            queue.send(FrameHeader { lanes: 2, ..queue.header(1, 99) }, &[0xDD; 12], 0);
        }
        assert_eq!(queue.refused(RefuseReason::Conflict), 2 * u64::from(frames));
        let partial = queue.take(1).unwrap();
        let expected = queue.columns_of(&(0..frames).map(payload).collect::<Vec<_>>());
        assert_eq!(partial.rows, 3 * u64::from(frames));
        assert!(partial.columns == expected && partial.refused);
    }
}

#[test]
fn rows_that_wait_go_with_their_partial_however_the_batch_ends() {
    let all: Vec<Vec<u8>> = (0..5).map(payload).collect();
    type Ending = fn(&mut Queue) -> Box<Partial>;
    let taken: Ending = |queue| queue.take(1).unwrap();
    let third: Ending = |queue| {
        queue.data(2, 0, 0);
        queue.data(3, 0, 0);
        queue.ended().unwrap().1
    };
    let idle: Ending = |queue| {
        queue.on_tick(IDLE_NS);
        queue.ended().unwrap().1
    };
    for chunk_rows in [1, 4, 4_096] {
        for ending in [taken, third, idle] {
            let tuning = Tuning { chunk_rows, ..Tuning::default() };
            let mut queue = Queue::new(IngestConfig { idle_ns: IDLE_NS, tuning, ..config() });
            for (sequence, payload) in (0..).zip(&all) {
                queue.send(queue.header(1, sequence), payload, 0);
            }
            let partial = ending(&mut queue);
            assert_eq!(partial.rows, 15, "chunks of {chunk_rows}");
            assert!(partial.columns == queue.columns_of(&all), "chunks of {chunk_rows}");
        }
    }
}

#[test]
fn same_keys_in_interleaved_batches_are_in_both() {
    let mut queue = queue(64);
    let all: Vec<Vec<u8>> = (0..20).map(payload).collect();
    for (sequence, payload) in (0..).zip(&all) {
        for batch in [1, 2] {
            queue.send(queue.header(batch, sequence), payload, 0);
        }
    }
    let expected = queue.columns_of(&all);
    for batch in [1, 2] {
        let partial = queue.take(batch).unwrap();
        assert!(partial.rows == 60 && partial.columns == expected, "batch {batch}");
        // And in the share of the stragglers, which is another partial of the same batch.
        queue.send(queue.header(batch, 99), &all[0], 0);
        let straggler = queue.take(batch).unwrap();
        assert!(straggler.columns == queue.columns_of(&all[..1]), "batch {batch}");
    }
}

#[test]
fn burst_does_what_its_datagrams_do_one_by_one() {
    for count in [0, 1, 2, 3, 4, 5, 64] {
        let (mut together, mut single) = (queue(64), queue(64));
        let frames: Vec<Vec<u8>> = (0..count)
            .map(|sequence| {
                let mut frame = Vec::new();
                let header = together.header(1, sequence % 50);
                encode_data(&mut frame, &header, 6, &payload(sequence % 50));
                frame.truncate(frame.len() - usize::from(sequence % 7 == 6));
                frame
            })
            .collect();
        let burst: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        together.on_burst(&burst, 5);
        frames.iter().for_each(|frame| single.on_datagram(frame, 5));
        assert_eq!(together.stats, single.stats);
        let columns = |queue: &mut Queue| queue.take(1).map(|partial| partial.columns);
        assert!(columns(&mut together) == columns(&mut single), "{count} datagrams");
    }
}

#[test]
fn partials_of_the_batches_in_progress_lie_in_the_arena() {
    let arena = Arena::new(ArenaConfig::new(4 << 20)).unwrap();
    let tuning = Tuning { arena: Some(arena.clone()), ..Tuning::default() };
    let mut queue = Queue::new(IngestConfig { tuning, ..config() });
    let used = arena.used_bytes();
    assert!(used > 0);
    for batch in 0..8 {
        queue.send(queue.header(batch, 0), &payload(7), 0);
        let partial = queue.take(batch).unwrap();
        assert!(partial.columns == queue.columns_of(&[payload(7)]));
        queue.on_command(QueueCommand::Recycle(partial), 0);
    }
    assert_eq!(arena.used_bytes(), used, "reserved at start, and nothing after");
    drop(queue);
    assert_eq!(arena.used_bytes(), 0, "and given back at the end");
}
