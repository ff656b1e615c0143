//! What comes back at start, and what does not.

use super::*;
use crate::store::InsertError;
use crate::store::writer::tests::{batch, held, is_live, put, store};

#[test]
fn restored_batches_are_verified_at_once_and_in_the_order_given() {
    let mut store = store(512, 1 << 20);
    let reader = store.reader();
    let before = reader.load();
    // Ids in no order: age is the place in the list.
    let ids: Vec<BatchId> = (0..200).map(|i| (i * 77) % 200 + 1).collect();
    assert_eq!(store.restore(ids.iter().map(|&id| batch(id, 64)).collect()), NONE);
    assert_eq!(held(&store), ids);
    let snapshot = reader.load();
    assert!(ids.iter().all(|&id| is_live(&snapshot, id)));
    assert!(ids.iter().all(|&id| !is_live(&before, id)), "an older snapshot holds none of them");
    let stats = store.stats();
    assert_eq!((stats.verified, stats.pending, stats.bytes), (200, 0, 200 * 64));
    assert_eq!(put(&mut store, 1_000, 64), [] as [BatchId; 0], "and the store goes on behind them");
    assert!(is_live(&reader.load(), 1_000));
}

#[test]
fn of_more_than_the_store_may_hold_the_newest_come_back() {
    let mut by_count = store(3, 1 << 20);
    assert_eq!(by_count.restore((1..=5).map(|id| batch(id, 64)).collect()), [1, 2]);
    assert_eq!(held(&by_count), [3, 4, 5]);
    assert_eq!(put(&mut by_count, 6, 64), [3], "retention goes on");

    let mut by_bytes = store(100, 1_000);
    let sizes = [(1, 8), (2, 400), (3, 5_000), (4, 400), (5, 304), (6, 200)];
    let batches = sizes.iter().map(|&(id, bytes)| batch(id, bytes)).collect();
    assert_eq!(by_bytes.restore(batches), [1, 2, 3], "what is too large takes no other's place");
    assert_eq!(held(&by_bytes), [4, 5, 6]);
    assert_eq!(by_bytes.stats().bytes, 904);
    assert_eq!(by_bytes.reader().load().absence(2), Absence::NoFilter);
}

#[test]
fn an_id_comes_back_once_and_not_beside_the_one_that_is_there() {
    let mut store = store(10, 1 << 20);
    put(&mut store, 7, 64);
    assert_eq!(store.restore(vec![batch(1, 64), batch(7, 128), batch(2, 8), batch(1, 16)]), NONE);
    assert_eq!(held(&store), [7, 2, 1]);
    assert_eq!(store.stats().bytes, 64 + 8 + 16, "of two the later one");
    assert_eq!(store.insert(batch(1, 8)), Err(InsertError::SeenBefore));
    assert_eq!(store.restore(vec![]), NONE);
}

#[test]
fn what_is_restored_leaves_room_to_be_sliced() {
    // 64 KiB a batch, 4 MiB a chunk: an eighth of the arena is as much. Groups are aligned.
    let arena_bytes = (32 << 20) + 1_024;
    let mut store = store(10_000, arena_bytes);
    let left_out = store.restore((1..=600).map(|id| batch(id, 64 << 10)).collect());
    assert_eq!(left_out, (1..=600 - 448).collect::<Vec<_>>(), "one group's room is kept free");
    while store.step() {}
    let stats = store.stats();
    // The oldest chunk stays plain: the next batch will need its room.
    assert_eq!((stats.groups, stats.sliced_batches), (6, 384));
    assert!(stats.bytes as usize <= arena_bytes);
}

/// No batch.
const NONE: [BatchId; 0] = [];

#[test]
fn what_left_because_it_changed_in_memory_comes_back_and_nothing_else_that_left() {
    let mut store = store(4, 1 << 20);
    put(&mut store, 1, 64);
    put(&mut store, 2, 64);
    store.judge(2, crate::wire::stream::Verdict::Mismatch);
    store.drop_corrupt(0, 1);
    assert_eq!(held(&store), [] as [BatchId; 0]);
    assert_eq!(store.restore(vec![batch(1, 64), batch(2, 64)]), NONE);
    assert_eq!(held(&store), [1]);
    let snapshot = store.reader().load();
    assert!(is_live(&snapshot, 1));
    assert_eq!(snapshot.absence(2), Absence::Rejected);
}

#[test]
fn what_the_scc_gave_up_while_it_was_out_of_memory_does_not_come_back() {
    use crate::wire::stream::Verdict;
    let mut store = store(8, 1 << 20);
    (1..=4).for_each(|id| drop(put(&mut store, id, 64)));
    let hash = batch(2, 64).hash;
    store.drop_corrupt(0, 0b1111);
    // What is in the folder is being read meanwhile.
    assert!(!store.judge(1, Verdict::Mismatch));
    assert!(!store.judge_report(2, &hash, Verdict::Unknown));
    store.delete(&[3]);
    assert!(!store.judge(4, Verdict::Verified));
    store.restore((1..=4).map(|id| batch(id, 64)).collect());
    assert_eq!(held(&store), [4]);
    let snapshot = store.reader().load();
    let why = [1, 2, 3].map(|id| snapshot.absence(id));
    assert_eq!(why, [Absence::Rejected, Absence::NoFilter, Absence::NoFilter]);
}
