//! Claims about the sealer, event by event.

use super::*;
use crate::ingest::Queue;
use crate::verify::HashAlgorithm;
use crate::wire::frame::{FrameHeader, LaneTotal, encode_data};

pub(super) const GRACE_NS: u64 = 1_000;
const RETRY_NS: u64 = 100;

pub(super) fn config() -> SealerConfig {
    let ingest = crate::ingest::tests::config();
    SealerConfig { ingest, queues: 2, grace_ns: GRACE_NS, retry_ns: RETRY_NS, repair_ns: 0 }
}

fn totals(frames: u32) -> BatchTotals {
    let lane = LaneTotal { frames, records: u64::from(frames) * 2 };
    BatchTotals::new(HashAlgorithm::Xxh3, [lane].into_iter())
}

/// A share of batch `batch` with these sequences of its only lane, two records each.
pub(super) fn share(config: &SealerConfig, batch: BatchId, sequences: &[u32]) -> Box<Partial> {
    let mut queue = Queue::new(config.ingest.clone());
    for &sequence in sequences {
        let header = FrameHeader {
            cluster: config.ingest.cluster,
            fingerprint: config.ingest.schema.fingerprint(),
            batch,
            hash: HashAlgorithm::Xxh3,
            lane: 0,
            lanes: 1,
            sequence,
        };
        let mut frame = Vec::new();
        encode_data(&mut frame, &header, 6, &[sequence as u8; 12]);
        queue.on_datagram(&frame, 0);
    }
    queue.on_command(QueueCommand::Take(batch), 0);
    match queue.next_event() {
        Some(QueueEvent::Taken { partial: Some(partial), .. }) => partial,
        other => panic!("no share: {other:?}"),
    }
}

/// What the sealer wants, in short.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Want {
    Take(usize, BatchId),
    Forget(usize, BatchId),
    Recycle(usize),
    Sealed(BatchId, u64),
    Repair(BatchId, bool, u64),
    Incomplete(BatchId, IncompleteReason),
}

pub(super) fn wants(sealer: &mut Sealer) -> Vec<Want> {
    std::iter::from_fn(|| sealer.next_action())
        .map(|action| match action {
            SealAction::Queue(queue, QueueCommand::Take(batch)) => Want::Take(queue, batch),
            SealAction::Queue(queue, QueueCommand::Forget(batch)) => Want::Forget(queue, batch),
            SealAction::Queue(queue, QueueCommand::Recycle(_)) => Want::Recycle(queue),
            SealAction::Sealed(batch) => Want::Sealed(batch.batch, batch.records),
            SealAction::Repair { batch, close, ranges } => {
                Want::Repair(batch, close, ranges.iter().map(|r| u64::from(r.count)).sum())
            }
            SealAction::Incomplete(batch, reason) => Want::Incomplete(batch, reason),
        })
        .collect()
}

pub(super) fn close(batch: BatchId, frames: u32) -> QueueEvent {
    QueueEvent::Close { batch, totals: totals(frames) }
}

pub(super) fn taken(batch: BatchId, partial: Option<Box<Partial>>) -> QueueEvent {
    QueueEvent::Taken { batch, partial }
}

#[test]
fn whole_batch_is_sealed_when_every_queue_has_answered() {
    let config = config();
    let mut sealer = Sealer::new(config.clone());
    sealer.on_event(0, close(7, 3), 0);
    sealer.on_event(1, close(7, 3), 0);
    assert_eq!(wants(&mut sealer), [Want::Take(0, 7), Want::Take(1, 7)], "asked once");
    sealer.on_event(0, taken(7, Some(share(&config, 7, &[2, 0, 1]))), 1);
    assert_eq!(wants(&mut sealer), [], "queue 1 may hold a differing copy");
    sealer.on_event(1, taken(7, None), 2);
    let done = [Want::Sealed(7, 6), Want::Recycle(0), Want::Forget(0, 7), Want::Forget(1, 7)];
    assert_eq!(wants(&mut sealer), done);
    assert_eq!(sealer.next_tick_ns(), None);
    assert_eq!(config.ingest.board.agree(1), 50, "the next batch is sized by this one");
    sealer.on_event(1, taken(7, Some(share(&config, 7, &[1]))), 3);
    sealer.on_event(1, close(7, 9), 3);
    assert_eq!(wants(&mut sealer), [Want::Recycle(1)], "what comes later is only recycled");
}

#[test]
fn frames_on_two_queues_count_once_and_later_shares_fill_the_gap() {
    let config = config();
    let mut sealer = Sealer::new(config.clone());
    sealer.on_event(1, close(7, 4), 0);
    wants(&mut sealer);
    sealer.on_event(0, taken(7, Some(share(&config, 7, &[0, 1]))), 1);
    sealer.on_event(1, taken(7, Some(share(&config, 7, &[1, 3]))), 1);
    assert_eq!(wants(&mut sealer), [], "one share of each queue stays until the batch is sealed");
    assert_eq!(sealer.next_tick_ns(), Some(RETRY_NS));
    sealer.on_tick(RETRY_NS);
    assert_eq!(wants(&mut sealer), [Want::Take(0, 7), Want::Take(1, 7)]);
    sealer.on_tick(2 * RETRY_NS);
    assert_eq!(wants(&mut sealer), [], "one question in flight");
    sealer.on_event(1, taken(7, Some(share(&config, 7, &[1, 2]))), 250);
    let done = [
        Want::Recycle(1),
        Want::Sealed(7, 8),
        Want::Recycle(0),
        Want::Recycle(1),
        Want::Forget(0, 7),
        Want::Forget(1, 7),
    ];
    assert_eq!(wants(&mut sealer), done);
}

#[test]
fn gap_is_given_up_after_the_last_call() {
    let config = config();
    let mut sealer = Sealer::new(config.clone());
    sealer.on_event(0, close(7, 3), 0);
    sealer.on_event(0, taken(7, Some(share(&config, 7, &[0, 2]))), 1);
    wants(&mut sealer);
    // Queue 1 has not answered the first question when the last call comes.
    sealer.on_tick(GRACE_NS);
    assert_eq!(wants(&mut sealer), [Want::Take(0, 7)]);
    sealer.on_event(0, taken(7, None), GRACE_NS + 1);
    sealer.on_event(1, taken(7, None), GRACE_NS + 2);
    assert_eq!(wants(&mut sealer), [Want::Take(1, 7)], "its answer was older than the call");
    sealer.on_event(1, taken(7, None), GRACE_NS + 3);
    let gap = Want::Incomplete(7, IncompleteReason::Gap);
    assert_eq!(wants(&mut sealer), [gap, Want::Recycle(0), Want::Forget(0, 7), Want::Forget(1, 7)]);
}

#[test]
fn dead_queue_is_not_waited_for_for_ever() {
    for (frames, end) in [(2, Want::Sealed(7, 4)), (3, Want::Incomplete(7, IncompleteReason::Gap))]
    {
        let config = config();
        let mut sealer = Sealer::new(config.clone());
        sealer.on_event(0, close(7, frames), 0);
        sealer.on_event(0, taken(7, Some(share(&config, 7, &[0, 1]))), 1);
        let mut now_ns = 0;
        while let Some(next_ns) = sealer.next_tick_ns() {
            assert!(next_ns > now_ns, "time goes on");
            now_ns = next_ns;
            sealer.on_tick(now_ns);
        }
        assert!(now_ns <= 2 * GRACE_NS);
        assert!(wants(&mut sealer).contains(&end));
    }
}

#[test]
fn a_lost_batch_is_given_up_before_and_after_its_close_and_never_sealed() {
    let config = config();
    let lost = Want::Incomplete(7, IncompleteReason::Loss);
    for closed in [false, true] {
        let mut sealer = Sealer::new(config.clone());
        if closed {
            sealer.on_event(0, close(7, 2), 0);
            wants(&mut sealer);
        }
        assert!(sealer.on_lost(7));
        let expected = [lost.clone(), Want::Forget(0, 7), Want::Forget(1, 7)];
        assert_eq!(wants(&mut sealer), expected);
        sealer.on_event(0, close(7, 2), 1);
        sealer.on_event(0, taken(7, Some(share(&config, 7, &[0, 1]))), 1);
        sealer.on_event(1, taken(7, None), 1);
        assert_eq!(wants(&mut sealer), [Want::Recycle(0)], "nothing comes of it, closed: {closed}");
        assert!(!sealer.on_lost(7), "told once");
    }
}

#[test]
fn batch_without_records_is_sealed_empty() {
    let config = config();
    let mut sealer = Sealer::new(config.clone());
    sealer.on_event(0, close(7, 0), 0);
    wants(&mut sealer);
    sealer.on_event(0, taken(7, None), 0);
    sealer.on_event(1, taken(7, None), 0);
    let Some(SealAction::Sealed(sealed)) = sealer.next_action() else { panic!("not sealed") };
    assert_eq!((sealed.records, sealed.columns.len()), (0, 2));
    assert!(sealed.filter_bytes() <= 64, "{}", sealed.filter_bytes());
}

#[test]
fn contradictions_are_never_sealed() {
    let config = config();
    let conflict = Want::Incomplete(7, IncompleteReason::Conflict);
    let run = |events: Vec<(usize, QueueEvent)>| {
        let mut sealer = Sealer::new(config.clone());
        for (queue, event) in events {
            sealer.on_event(queue, event, 0);
        }
        wants(&mut sealer)
    };
    let whole = || taken(7, Some(share(&config, 7, &[0, 1])));
    let more = run(vec![(0, close(7, 1)), (0, whole())]);
    assert!(more.contains(&conflict), "more frames than the totals say");
    let closes = run(vec![(0, close(7, 2)), (1, close(7, 3)), (0, whole()), (1, taken(7, None))]);
    assert!(closes.contains(&conflict), "two CLOSE frames disagree");
    assert!(!closes.iter().any(|want| matches!(want, Want::Sealed(..))));
    for change in [
        |p: &mut Partial| p.refused = true,
        |p: &mut Partial| p.lanes = 2,
        |p: &mut Partial| p.hash = HashAlgorithm::Blake3,
    ] {
        let mut other = share(&config, 7, &[1]);
        change(&mut other);
        let got = run(vec![(0, close(7, 2)), (0, whole()), (1, taken(7, Some(other)))]);
        assert!(got.contains(&conflict));
    }
    let mut changed = share(&config, 7, &[0]);
    changed.frames.clear();
    let entry = crate::ingest::FrameEntry { lane: 0, sequence: 0, records: 2, digest: [1; 32] };
    changed.frames.offer(entry);
    let got = run(vec![(0, close(7, 2)), (0, whole()), (1, taken(7, Some(changed)))]);
    assert!(got.contains(&conflict), "copies on two queues differ");
}

#[test]
fn rows_that_are_not_the_record_total_are_never_sealed() {
    let config = config();
    for change in [1u64, u64::MAX] {
        let mut sealer = Sealer::new(config.clone());
        let mut wrong = share(&config, 7, &[0, 1]);
        wrong.rows = wrong.rows.wrapping_add(change);
        sealer.on_event(0, close(7, 2), 0);
        sealer.on_event(0, taken(7, Some(wrong)), 0);
        assert!(wants(&mut sealer).contains(&Want::Incomplete(7, IncompleteReason::Rows)));
    }
}

#[test]
fn ended_batch_waits_for_its_close() {
    let config = config();
    let ended = || QueueEvent::Ended { batch: 7, partial: share(&config, 7, &[0, 1]) };
    let mut sealer = Sealer::new(config.clone());
    sealer.on_event(0, ended(), 0);
    assert_eq!(wants(&mut sealer), []);
    assert_eq!(sealer.next_tick_ns(), Some(GRACE_NS));
    sealer.on_event(1, close(7, 2), GRACE_NS - 1);
    sealer.on_event(1, taken(7, None), GRACE_NS - 1);
    assert!(wants(&mut sealer).contains(&Want::Sealed(7, 4)));

    let mut sealer = Sealer::new(config.clone());
    sealer.on_event(0, ended(), 0);
    sealer.on_tick(GRACE_NS);
    assert!(wants(&mut sealer).contains(&Want::Incomplete(7, IncompleteReason::NoClose)));
}

#[test]
fn flood_of_foreign_closes_is_bounded() {
    let config = config();
    let mut sealer = Sealer::new(config.clone());
    let count = 5 * SEALING_BATCHES_MAX as u64;
    for batch in 0..count {
        sealer.on_event(0, close(batch, 1), 0);
        assert!(sealer.sealing.len() <= SEALING_BATCHES_MAX);
    }
    let given_up = wants(&mut sealer)
        .iter()
        .filter(|want| matches!(want, Want::Incomplete(_, IncompleteReason::Gap)))
        .count();
    assert_eq!(given_up, count as usize - SEALING_BATCHES_MAX);
}
