//! The store by itself: bounds, eviction, verdicts, reasons, what readers hold.

use super::*;
use crate::filter::{ColumnFlags, ColumnZone, Filter, SealedColumn};
use crate::verify::{BatchHash, HashAlgorithm};
use bloomrf_kernels::Zone;

/// A batch with a filter of `bytes` bytes (a multiple of eight).
pub(super) fn batch(id: BatchId, bytes: usize) -> Arc<SealedBatch> {
    let blocks = vec![id; bytes / 8].into_boxed_slice();
    Arc::new(SealedBatch {
        batch: id,
        records: 1,
        hash: BatchHash { algorithm: HashAlgorithm::Xxh3, digest: [0; 32] },
        columns: vec![Arc::new(SealedColumn {
            flags: ColumnFlags::default(),
            zone: ColumnZone::Narrow(Zone::default()),
            filter: Filter::Blocked { seed: 0, blocks },
        })],
    })
}

pub(super) fn store(retain_batches: usize, arena_bytes: usize) -> Store {
    Store::new(StoreConfig { retain_batches, arena_bytes })
}

/// Inserts and verifies.
pub(super) fn put(store: &mut Store, id: BatchId, bytes: usize) -> Vec<BatchId> {
    let evicted = store.insert(batch(id, bytes)).unwrap();
    store.judge(id, Verdict::Verified);
    evicted
}

pub(super) fn is_live(snapshot: &Snapshot, id: BatchId) -> bool {
    snapshot.place(id).is_some_and(|place| {
        let chunk = &snapshot.chunks()[place.chunk as usize];
        chunk.live() >> place.slot & 1 == 1
            && chunk.slot(place.slot as usize).is_some_and(|held| held.batch == id)
    })
}

pub(super) fn held(store: &Store) -> Vec<BatchId> {
    store.list().iter().map(|(batch, _)| batch.batch).collect()
}

#[test]
fn only_verified_batches_are_live() {
    let mut store = store(10, 1_000);
    for id in 1..=4 {
        assert_eq!(store.insert(batch(id, 64)), Ok(vec![]));
    }
    assert!(store.judge(2, Verdict::Verified));
    assert!(store.judge(3, Verdict::Mismatch));
    assert!(store.judge(4, Verdict::Unknown));
    assert!(!store.judge(9, Verdict::Verified), "an id that it does not hold");
    let snapshot = store.reader().load();
    assert_eq!([1, 2, 3, 4].map(|id| is_live(&snapshot, id)), [false, true, false, false]);
    assert_eq!(snapshot.absence(1), Absence::Pending);
    assert_eq!(snapshot.absence(3), Absence::Rejected);
    assert_eq!(snapshot.absence(4), Absence::NoFilter);
    assert_eq!(snapshot.absence(9), Absence::NoFilter);
    let states: Vec<_> = store.list().iter().map(|(b, state)| (b.batch, *state)).collect();
    assert_eq!(states, [(1, BatchState::Pending), (2, BatchState::Verified)]);
}

#[test]
fn reasons_of_a_range_are_those_of_its_ids() {
    let mut store = store(3, 1_000);
    for id in [u64::MAX, 2, 5, 7, 9, 11] {
        store.insert(batch(id, 8)).unwrap();
    }
    store.judge(11, Verdict::Mismatch);
    store.judge(9, Verdict::Verified);
    let snapshot = store.reader().load();
    for (first, count) in [(0, 0), (0, 20), (2, 1), (6, 4), (8, 4), (u64::MAX - 1, 2)] {
        let mut expected: Vec<Absence> = (0..count)
            .map(|i| first + i)
            .filter(|&id| !is_live(&snapshot, id))
            .map(|id| snapshot.absence(id))
            .filter(|why| *why != Absence::NoFilter)
            .collect();
        let mut found: Vec<_> = snapshot.absences_in(first, count as u32).collect();
        expected.sort_unstable_by_key(|why| *why as u8);
        found.sort_unstable_by_key(|why| *why as u8);
        assert_eq!(found, expected, "{first} {count}");
    }
}

#[test]
fn a_verdict_reaches_readers_that_hold_an_older_snapshot() {
    let mut store = store(10, 1_000);
    store.insert(batch(1, 8)).unwrap();
    let before = store.reader().load();
    store.judge(1, Verdict::Verified);
    assert!(is_live(&before, 1));
    store.judge(1, Verdict::Mismatch);
    assert!(!is_live(&before, 1), "the live mask is the only authority");
}

#[test]
fn a_rejected_batch_gives_its_memory_back() {
    let mut store = store(10, 1_000);
    let weak = {
        let batch = batch(1, 800);
        store.insert(Arc::clone(&batch)).unwrap();
        Arc::downgrade(&batch)
    };
    assert_eq!(store.stats().bytes, 800);
    store.judge(1, Verdict::Mismatch);
    assert_eq!(weak.strong_count(), 0);
    let stats = store.stats();
    assert_eq!((stats.bytes, stats.rejected, stats.pending), (0, 1, 0));
}

#[test]
fn the_oldest_are_evicted_until_the_new_batch_fits_and_no_more() {
    let mut store = store(100, 1_000);
    for id in 1..=10 {
        assert!(put(&mut store, id, 96).is_empty());
    }
    assert_eq!(put(&mut store, 11, 40), [] as [u64; 0], "exactly full is not over");
    assert_eq!(put(&mut store, 12, 200), [1, 2, 3]);
    assert_eq!(held(&store), [4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let stats = store.stats();
    assert_eq!((stats.bytes, stats.verified, stats.evicted), (7 * 96 + 40 + 200, 9, 3));
    assert_eq!(store.reader().load().absence(2), Absence::Evicted);
}

#[test]
fn retention_counts_batches() {
    let mut store = store(3, 1_000);
    for id in 1..=3 {
        put(&mut store, id, 8);
    }
    assert_eq!(put(&mut store, 4, 8), [1]);
    assert_eq!(held(&store), [2, 3, 4]);
}

#[test]
fn a_batch_larger_than_the_arena_is_refused_and_nothing_is_evicted() {
    let mut store = store(10, 1_000);
    put(&mut store, 1, 96);
    let refused = InsertError::TooLarge { bytes: 1_008, arena_bytes: 1_000 };
    assert_eq!(store.insert(batch(2, 1_008)), Err(refused));
    assert_eq!(held(&store), [1]);
    assert_eq!(store.reader().load().absence(2), Absence::NoFilter);
    assert_eq!(put(&mut store, 3, 1_000), [1], "one as large as the arena is kept");
}

#[test]
fn an_id_that_was_seen_before_is_refused() {
    let mut store = store(2, 1_000);
    put(&mut store, 1, 8);
    assert_eq!(store.insert(batch(1, 16)), Err(InsertError::SeenBefore), "held");
    assert_eq!(store.stats().bytes, 8, "the first one stays");
    assert!(is_live(&store.reader().load(), 1));
    store.insert(batch(2, 8)).unwrap();
    store.judge(2, Verdict::Mismatch);
    assert_eq!(store.insert(batch(2, 8)), Err(InsertError::SeenBefore), "rejected");
    put(&mut store, 3, 8);
    put(&mut store, 4, 8);
    assert_eq!(store.insert(batch(1, 8)), Err(InsertError::SeenBefore), "evicted");
}

/// Another batch under the same id.
fn other(id: BatchId) -> Arc<SealedBatch> {
    let mut other = SealedBatch::clone(&batch(id, 8));
    other.hash.digest = [9; 32];
    Arc::new(other)
}

#[test]
fn an_id_with_two_contents_has_no_filter() {
    let mut store = store(4, 1_000);
    put(&mut store, 1, 8);
    let before = store.reader().load();
    assert_eq!(store.insert(other(1)), Err(InsertError::OtherContent));
    assert!(!is_live(&before, 1), "which of the two is asked about?");
    assert_eq!(store.reader().load().absence(1), Absence::Rejected);
    assert_eq!(store.insert(batch(1, 8)), Err(InsertError::SeenBefore), "and none comes back");
    assert_eq!(store.stats().rejected, 1);
}

#[test]
fn a_verdict_on_another_sealing_of_the_id_changes_nothing() {
    let mut store = store(4, 1_000);
    store.insert(batch(1, 8)).unwrap();
    for verdict in [Verdict::Verified, Verdict::Mismatch, Verdict::Unknown] {
        assert!(!store.judge_report(1, &other(1).hash, verdict));
        assert!(!is_live(&store.reader().load(), 1));
    }
    assert!(store.judge_report(1, &batch(1, 8).hash, Verdict::Verified));
    assert!(is_live(&store.reader().load(), 1));
}

#[test]
fn bytes_that_a_reader_still_holds_are_counted() {
    let mut store = store(100, 1_000);
    for id in 1..=5 {
        put(&mut store, id, 200);
    }
    let reader = store.reader();
    let snapshot = reader.load();
    assert_eq!(put(&mut store, 6, 200), [1]);
    assert_eq!(store.stats().bytes, 1_200, "the reader still holds the first one");
    assert!(!is_live(&snapshot, 1), "and must not consult it");
    drop(snapshot);
    assert_eq!(store.stats().bytes, 1_000);
}

#[test]
fn a_reader_that_does_not_let_go_neither_empties_the_store_nor_breaks_the_arena() {
    let mut store = store(100, 1_000);
    for id in 1..=10 {
        put(&mut store, id, 96);
    }
    let reader = store.reader();
    let snapshot = reader.load();
    let mut refused = 0_u32;
    for id in 11..=60 {
        match store.insert(batch(id, 96)) {
            Ok(evicted) => assert!(evicted.len() <= 1, "more than it needs: {evicted:?}"),
            Err(InsertError::HeldByReaders { retired_bytes }) if retired_bytes > 250 => {
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
        let stats = store.stats();
        assert!(stats.bytes <= 1_000 + 250 + 96, "{} bytes", stats.bytes);
        assert!(stats.verified + stats.pending >= 9);
    }
    assert!(refused > 0);
    drop(snapshot);
    assert!(store.insert(batch(61, 96)).is_ok(), "and all is well when it lets go");
    assert!(store.stats().bytes <= 1_000);
}

#[test]
fn chunks_fill_in_order_of_arrival_and_empty_ones_leave() {
    let mut store = store(1_000, 1 << 20);
    // Ids in no order: the slot follows arrival, the index the id.
    let ids: Vec<BatchId> = (0..200).map(|i| (i * 77) % 200 + 1).collect();
    for &id in &ids {
        put(&mut store, id, 8);
    }
    let snapshot = store.reader().load();
    assert_eq!(snapshot.chunks().len(), 4);
    for (i, &id) in ids.iter().enumerate() {
        let place = Place { chunk: i as u32 / 64, slot: i as u32 % 64 };
        assert_eq!(snapshot.place(id), Some(place));
        assert!(is_live(&snapshot, id));
    }
    assert!(snapshot.batches().eq(1..=200));
    store.delete(&ids[..128]);
    let snapshot = store.reader().load();
    assert_eq!(snapshot.chunks().len(), 2, "two chunks are empty");
    assert!(ids[..128].iter().all(|&id| snapshot.place(id).is_none()));
    assert!(ids[128..].iter().all(|&id| is_live(&snapshot, id)));
}

#[test]
fn batches_that_are_all_rejected_do_not_pile_up_chunks() {
    let mut store = store(10, 1 << 20);
    put(&mut store, 0, 8);
    for id in 1..=1_000 {
        store.insert(batch(id, 8)).unwrap();
        store.judge(id, Verdict::Mismatch);
    }
    let snapshot = store.reader().load();
    assert!(snapshot.chunks().len() <= 2, "{} chunks", snapshot.chunks().len());
    assert!(is_live(&snapshot, 0));
    assert_eq!(snapshot.absence(1_000), Absence::Rejected);
}

#[test]
fn a_schema_change_discards_everything() {
    let mut store = store(10, 1_000);
    put(&mut store, 1, 8);
    put(&mut store, 2, 8);
    store.clear();
    assert!(store.list().is_empty());
    assert_eq!(store.stats().bytes, 0);
    assert_eq!(store.reader().load().absence(1), Absence::NoFilter);
}
