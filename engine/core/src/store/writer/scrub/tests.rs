//! Bits that flip in memory: found, told, and never believed again.

use bloomrf_kernels::arena::Words;
use bloomrf_kernels::exact::Exact;
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::sliced::BITMAP_ROWS;
use bloomrf_kernels::{Kernel, Zone};

use super::*;
use crate::filter::{ColumnFlags, ColumnZone, SealedColumn, Top16};
use crate::seal::SealedBatch;
use crate::store::writer::tests::{batch, held, is_live, store};
use crate::store::{ChunkZones, GroupForm, Snapshot};
use crate::wire::stream::Verdict;

/// Columns of every kind; no two batches are alike.
fn rich(id: BatchId) -> Arc<SealedBatch> {
    let words =
        |count: u64| -> Box<[u64]> { (0..count).map(|i| mix(id, i) & mix(i, id)).collect() };
    // Nearly as large as a bitmap: else the chunk would grow too much by slicing it.
    let list: Box<[u16]> = (0..3_900).map(|i| i * 16 + id as u16 % 16).collect();
    let keys: Vec<u64> = (0..200).map(|i| id + i * i * 70_001).collect();
    let filters = [
        Filter::BloomRf { layers: layers_for(64, 7), hashed: words(60), top: Top16::None },
        Filter::BloomRf {
            layers: layers_for(32, 7),
            hashed: words(120),
            top: Top16::List(list.clone()),
        },
        Filter::Bitmap8([id, !id, 3, 4]),
        Filter::List16(list.clone()),
        Filter::Blocked { seed: 3, blocks: words(if id.is_multiple_of(3) { 64 } else { 128 }) },
        Filter::Near16 { base: 9, offsets: Top16::List(list) },
        Filter::Exact(Exact::smallest(&keys, usize::MAX).unwrap()),
        Filter::None,
    ];
    let mut zone = Zone::default();
    zone.insert(id);
    zone.insert(id + 1_000);
    let flags = ColumnFlags { has_value: true, has_null: id.is_multiple_of(2), has_nan: false };
    let column = |filter| Arc::new(SealedColumn { flags, zone: ColumnZone::Narrow(zone), filter });
    let columns = filters.into_iter().map(column).collect();
    Arc::new(SealedBatch { columns, ..SealedBatch::clone(&batch(id, 8)) })
}

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) ^ a
}

/// Small ones of a few kinds.
fn lean(id: BatchId) -> Arc<SealedBatch> {
    let mut lean = SealedBatch::clone(&rich(id));
    lean.columns = [0, 2, 4].map(|ordinal| Arc::clone(&lean.columns[ordinal])).into();
    Arc::new(lean)
}

/// A store of verified batches `1..=count`.
fn filled(count: u64) -> Store {
    let mut store = store(1_000, 16 << 20);
    for id in 1..=count {
        store.insert(rich(id)).unwrap();
        store.judge(id, Verdict::Verified);
    }
    store
}

/// Puts a changed version of a batch in its place, as if its memory had changed: the digests stay.
fn rot(store: &mut Store, id: BatchId, change: impl FnOnce(&mut SealedBatch)) {
    let at = store.position(id).unwrap();
    let mut changed = SealedBatch::clone(&store.held[at].batch);
    change(&mut changed);
    let changed = Arc::new(changed);
    let (number, slot) = (store.held[at].chunk, store.held[at].slot);
    store.held[at].batch = Arc::clone(&changed);
    let at = store.chunk_at(number).unwrap();
    let chunk = &store.chunks[at].chunk;
    let group = chunk.columns()[0].group.clone();
    let chunk = chunk.with_group(0, group, [(slot, changed)]);
    store.chunks[at].replace(chunk);
    store.publish_versions();
}

fn rot_column(store: &mut Store, id: BatchId, ordinal: usize, change: fn(&mut SealedColumn)) {
    rot(store, id, |batch| {
        let mut column = SealedColumn::clone(&batch.columns[ordinal]);
        change(&mut column);
        batch.columns[ordinal] = Arc::new(column);
    });
}

fn flip_filter(column: &mut SealedColumn) {
    match &mut column.filter {
        Filter::BloomRf { hashed: words, .. } | Filter::Blocked { blocks: words, .. } => {
            words[17] ^= 1 << 40;
        }
        Filter::Bitmap8(words) => words[3] ^= 1,
        Filter::List16(list) | Filter::Near16 { offsets: Top16::List(list), .. } => list[5] ^= 1,
        Filter::Exact(keys) => {
            let mut all = keys.keys();
            all[70] ^= 1;
            *keys = Exact::smallest(&all, usize::MAX).unwrap();
        }
        other => *other = Filter::Bitmap8([0; 4]),
    }
}

/// Flips one bit of one row of a group.
fn rot_row(store: &mut Store, at: usize, ordinal: usize, row: usize, slot: usize, is_top: bool) {
    let chunk = Arc::clone(&store.chunks[at].chunk);
    let group = chunk.columns()[ordinal].group().unwrap();
    let copy = |rows: &Words, flip: bool| {
        let mut copy = Words::heap(rows.len());
        copy.copy_from_slice(rows);
        if flip {
            copy[row] ^= 1 << slot;
        }
        copy
    };
    let form = match &group.form {
        GroupForm::BloomRf { layers, hashed, top } => {
            let (hashed, top) = (copy(hashed, !is_top), copy(top, is_top));
            GroupForm::BloomRf { layers: *layers, hashed, top }
        }
        GroupForm::Bitmap16 { rows } => GroupForm::Bitmap16 { rows: copy(rows, true) },
        GroupForm::Bitmap8 { rows } => GroupForm::Bitmap8 { rows: copy(rows, true) },
        GroupForm::Blocked { seed, k, rows } => {
            GroupForm::Blocked { seed: *seed, k: *k, rows: copy(rows, true) }
        }
    };
    let group = ColumnGroup { slots: group.slots, form, digest: group.digest };
    store.chunks[at].replace(chunk.with_group(ordinal, Some(Arc::new(group)), []));
    store.publish_versions();
}

/// One whole round from wherever the scrubber is, and one more.
fn scrub_all(store: &mut Store) -> Vec<BatchId> {
    let mut corrupt = Vec::new();
    let mut rounds = 0;
    while rounds < 2 {
        let scrubbed = store.scrub(1 << 12);
        rounds += u32::from(scrubbed.is_round);
        corrupt.extend(scrubbed.corrupt);
    }
    corrupt
}

/// Batch `id` left as corrupt, for all who hold `before`, too; every other one of `1..=count` is
/// there, live, and what it was.
fn assert_only_left(store: &Store, before: &Snapshot, id: BatchId, count: u64) {
    assert!(!is_live(before, id), "lowered for those who hold an older snapshot");
    let snapshot = store.reader().load();
    assert_eq!((snapshot.place(id), snapshot.absence(id)), (None, Absence::Corrupt));
    let others: Vec<BatchId> = (1..=count).filter(|&other| other != id).collect();
    assert_eq!(held(store), others);
    for &other in &others {
        assert!(is_live(&snapshot, other), "batch {other}");
    }
    assert_eq!(store.stats().corrupt, 1);
}

#[test]
fn nothing_is_found_where_nothing_changed() {
    let mut store = filled(200);
    assert_eq!(scrub_all(&mut store), NONE);
    while store.step() {
        store.scrub(1 << 14);
    }
    assert!(store.stats().groups > 10);
    assert_eq!(scrub_all(&mut store), NONE);
    assert_eq!(store.stats().corrupt, 0);
    let snapshot = store.reader().load();
    for id in 1..=200 {
        assert_eq!(snapshot.plain(id).unwrap(), *rich(id), "batch {id}");
    }
}

#[test]
fn a_flipped_bit_of_a_plain_filter_of_any_kind_is_found() {
    for ordinal in 0..8 {
        let mut store = filled(10);
        rot_column(&mut store, 4, ordinal, flip_filter);
        let before = Arc::clone(&store.reader().load());
        assert!(is_live(&before, 4), "not seen yet");
        let plain = before.plain(4).unwrap();
        assert_eq!(plain.columns[ordinal].filter, Filter::None, "and not written to disk");
        assert_eq!(scrub_all(&mut store), [4], "column {ordinal}");
        assert_only_left(&store, &before, 4, 10);
    }
}

#[test]
fn a_whole_copy_of_a_batch_that_left_as_corrupt_comes_back() {
    let mut store = filled(10);
    rot_column(&mut store, 4, 1, flip_filter);
    assert_eq!(scrub_all(&mut store), [4]);
    store.judge(5, Verdict::Mismatch);
    assert_eq!(store.restore(vec![rich(4), rich(5)]), NONE);
    let snapshot = store.reader().load();
    assert!(is_live(&snapshot, 4));
    assert_eq!(snapshot.plain(4).unwrap(), *rich(4));
    assert_eq!(snapshot.absence(5), Absence::Rejected, "a rejected one does not");
    assert_eq!(held(&store), [1, 2, 3, 6, 7, 8, 9, 10, 4]);
}

#[test]
fn changed_bounds_and_flags_are_found() {
    let changes: [fn(&mut SealedColumn); 2] = [
        |column| column.flags.has_null ^= true,
        |column| {
            let mut zone = Zone::default();
            zone.insert(5);
            column.zone = ColumnZone::Narrow(zone);
        },
    ];
    for change in changes {
        let mut store = filled(70);
        while store.step() {}
        rot_column(&mut store, 9, 2, change);
        let before = Arc::clone(&store.reader().load());
        assert_eq!(before.plain(9), None, "and not written to disk");
        assert_eq!(scrub_all(&mut store), [9]);
        assert_only_left(&store, &before, 9, 70);
    }
}

#[test]
fn changed_arrays_of_bounds_are_found() {
    let mut store = filled(70);
    let mut chunk = Chunk::clone(&store.chunks[0].chunk);
    let ChunkZones::Narrow { max, .. } = Arc::make_mut(&mut chunk.columns_mut()[1].zones) else {
        panic!("narrow keys")
    };
    max[20] -= 1;
    store.chunks[0].replace(chunk);
    store.publish_versions();
    let before = Arc::clone(&store.reader().load());
    assert_eq!(scrub_all(&mut store), [21]);
    assert_only_left(&store, &before, 21, 70);
}

#[test]
fn a_flipped_bit_of_a_group_costs_the_batch_that_it_belongs_to() {
    for (ordinal, row, is_top) in [
        (0, 1_000, false),
        (1, 7_679, false),
        (1, 40_000, true),
        (2, 3, false),
        (3, 65_535, false),
        (4, 77, false),
    ] {
        let mut store = filled(70);
        while store.step() {}
        assert_eq!(store.chunks[0].groups().count(), 5);
        let slot = 33;
        rot_row(&mut store, 0, ordinal, row, slot, is_top);
        let before = Arc::clone(&store.reader().load());
        let plain = before.plain(slot as u64 + 1).unwrap();
        assert_eq!(plain.columns[ordinal].filter, Filter::None, "and not written to disk");
        assert_eq!(scrub_all(&mut store), [slot as u64 + 1], "column {ordinal}");
        assert_only_left(&store, &before, slot as u64 + 1, 70);
        let snapshot = store.reader().load();
        for id in (1..=70).filter(|&id| id != slot as u64 + 1) {
            assert_eq!(snapshot.plain(id).unwrap(), *rich(id), "batch {id}");
        }
        assert_eq!(scrub_all(&mut store), NONE);
    }
}

#[test]
fn the_repair_of_a_group_makes_no_pending_batch_live() {
    let mut store = store(1_000, 16 << 20);
    for id in 1..=70 {
        store.insert(rich(id)).unwrap();
        if id != 20 {
            store.judge(id, Verdict::Verified);
        }
    }
    while store.step() {}
    rot_row(&mut store, 0, 0, 1_000, 33, false);
    assert_eq!(scrub_all(&mut store), [34]);
    let snapshot = store.reader().load();
    assert_eq!([19, 20, 21].map(|id| is_live(&snapshot, id)), [true, false, true]);
}

#[test]
fn a_changed_summary_costs_the_group_alone() {
    let mut store = filled(70);
    while store.step() {}
    rot_row(&mut store, 0, 3, BITMAP_ROWS + 5, 12, false);
    assert_eq!(scrub_all(&mut store), NONE);
    let stats = store.stats();
    assert_eq!((stats.corrupt, stats.verified, store.chunks[0].groups().count()), (0, 70, 4));
    let snapshot = store.reader().load();
    assert!((1..=70).all(|id| is_live(&snapshot, id)));
    assert_eq!(snapshot.plain(13).unwrap(), *rich(13));
}

#[test]
fn a_corrupt_filter_is_not_sliced() {
    let mut store = filled(70);
    rot_column(&mut store, 8, 1, flip_filter);
    let before = Arc::clone(&store.reader().load());
    while store.step() {}
    assert_only_left(&store, &before, 8, 70);
    assert_eq!(store.scrub(1).corrupt, [8], "told by the next slice");
    assert_eq!(store.scrub(1).corrupt, NONE, "once");
}

#[test]
fn a_corrupt_filter_does_not_come_out_of_a_group_that_is_split() {
    let mut store = filled(70);
    while store.step() {}
    rot_row(&mut store, 0, 0, 3_000, 50, false);
    let before = Arc::clone(&store.reader().load());
    store.finish_split(steps::SplitChunk::new(0));
    assert_eq!(store.stats().groups, 0);
    assert_only_left(&store, &before, 51, 70);
}

#[test]
fn scrubbing_in_slices_finds_what_flips_in_a_store_that_changes() {
    let mut store = Store::on(
        crate::store::StoreConfig { retain_batches: 10_000, arena_bytes: 840 << 10 },
        Kernel::best(),
        None,
    );
    let (mut rotten, mut told) = (Vec::new(), Vec::new());
    let mut rounds_since = 0;
    for id in 1..=1_500_u64 {
        store.insert(lean(id)).unwrap();
        store.judge(id, Verdict::Verified);
        for _ in 0..mix(id, 1) % 30 {
            store.step();
        }
        let scrubbed = store.scrub(mix(id, 2) as usize % (1 << 17));
        told.extend(scrubbed.corrupt);
        rounds_since += u32::from(scrubbed.is_round);
        if id.is_multiple_of(40) {
            // What rotted two rounds ago was found, or was evicted first.
            let snapshot = store.reader().load();
            if rounds_since > 1 {
                assert!(rotten.iter().all(|&id| snapshot.place(id).is_none()), "{rotten:?}");
            }
            let newest = id - mix(id, 3) % 60;
            let Some(place) = snapshot.place(newest) else { continue };
            let group = snapshot.chunks()[place.chunk as usize].columns()[0].group();
            if group.is_some_and(|group| group.slots >> place.slot & 1 == 1) {
                rot_row(&mut store, place.chunk as usize, 0, 99, place.slot as usize, false);
            } else {
                rot_column(&mut store, newest, 0, flip_filter);
            }
            rotten.push(newest);
            rounds_since = 0;
        }
    }
    let stats = store.stats();
    assert!(told.len() > 10 && stats.groups > 0 && stats.evicted > 500, "{told:?} {stats:?}");
    assert!(told.iter().all(|id| rotten.contains(id)), "{told:?} of {rotten:?}");
}

/// No batch.
const NONE: [BatchId; 0] = [];
