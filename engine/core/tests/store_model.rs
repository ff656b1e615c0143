//! The store against a list: inserts, verdicts, deletions, evictions and slices of work in any
//! order, in tight arenas, with batches of mixed sizes and kinds. After every action the chunks
//! must say what the plain filters say that were put in, and bytes must be those within reach.
#![allow(clippy::unwrap_used, reason = "a test may panic; its support code, too")]

mod store_world;

use std::collections::BTreeMap;
use std::sync::Arc;

use bloomrf_engine::filter::Filter;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{
    BatchState, Chunk, GroupForm, InsertError, Snapshot, Store, StoreConfig,
};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::Kernel;
use bloomrf_kernels::arena::{Arena, ArenaConfig};
use store_world::{Kind, SEED, Splitmix, ask, batch, copy, key};

/// A world: what batches look like, and how tight it is.
struct World {
    store: Store,
    kernel: Kernel,
    arena: Option<Arena>,
    arena_bytes: usize,
    retain: usize,
    kinds: fn(&mut Splitmix) -> Vec<Kind>,
    keys_max: u64,
    /// Whether batches are rejected and deleted.
    is_judged: bool,
    /// What the store must hold, oldest first.
    held: Vec<(BatchId, bool)>,
    /// Every batch as it was inserted.
    originals: BTreeMap<BatchId, SealedBatch>,
    next_id: BatchId,
    /// Snapshots that readers hold, and what they may say.
    kept: Vec<Arc<Snapshot>>,
    seen: Seen,
}

/// What happened, so that a test that met nothing fails.
#[derive(Debug, Default)]
struct Seen {
    groups: u64,
    dead_bytes: u64,
    evicted: u64,
    splits: u64,
    folded: u64,
    unfolded: u64,
    beside: u64,
    sliced_answers: u64,
    taken_out: u64,
    sliced_at_end: u64,
}

impl World {
    fn new(
        arena_bytes: usize,
        retain: usize,
        keys_max: u64,
        kinds: fn(&mut Splitmix) -> Vec<Kind>,
        kernel: Kernel,
        arena: Option<Arena>,
    ) -> Self {
        let config = StoreConfig { retain_batches: retain, arena_bytes };
        World {
            store: Store::on(config, kernel, arena.clone()),
            arena,
            kernel,
            arena_bytes,
            retain,
            kinds,
            keys_max,
            is_judged: true,
            held: Vec::new(),
            originals: BTreeMap::new(),
            next_id: 1,
            kept: Vec::new(),
            seen: Seen::default(),
        }
    }

    fn insert(&mut self, rng: &mut Splitmix) {
        let id = self.next_id;
        self.next_id += 1 + rng.below(2);
        let kinds = (self.kinds)(rng);
        let keys = 1 + rng.below(self.keys_max) as usize;
        let made = batch(id, &kinds, keys, rng);
        let bytes = made.filter_bytes();
        let before = self.store.stats();
        let by_itself = |b: &Arc<SealedBatch>| (b.batch, b.filter_bytes());
        let sizes: BTreeMap<_, _> = self.store.list().iter().map(|(b, _)| by_itself(b)).collect();
        let fits = before.bytes as usize + bytes + self.arena_bytes * 3 / 16 <= self.arena_bytes;
        match self.store.insert(Arc::new(copy(&made))) {
            Ok(evicted) => {
                self.seen.splits += u64::from(self.store.stats().groups < before.groups);
                let oldest: Vec<_> = self.held.drain(..evicted.len()).map(|held| held.0).collect();
                assert_eq!(evicted, oldest, "the oldest go first");
                let by_count = (self.held.len() + evicted.len() + 1).saturating_sub(self.retain);
                let extra = &evicted[by_count.min(evicted.len())..];
                assert!(extra.is_empty() || !fits, "there was room: {extra:?}");
                let needless =
                    extra.split_last().map_or(0, |(_, rest)| rest.iter().map(|id| sizes[id]).sum());
                assert!(needless < bytes, "{bytes} B came, {needless} B and one more went");
                assert!(extra.len() < 2 || !self.held.is_empty() || bytes * 2 > self.arena_bytes);
                self.seen.evicted += evicted.len() as u64;
                self.held.push((id, false));
                self.originals.insert(id, made);
            }
            Err(InsertError::HeldByReaders { .. }) => assert!(!self.kept.is_empty()),
            Err(error) => panic!("batch {id}: {error}"),
        }
    }

    fn act(&mut self, rng: &mut Splitmix) {
        let any = |world: &Self, rng: &mut Splitmix| {
            (!world.held.is_empty()).then(|| rng.below(world.held.len() as u64) as usize)
        };
        match rng.below(100) {
            0..50 => self.insert(rng),
            50..70 => {
                let groups = self.store.stats().groups;
                for _ in 0..rng.below(40) {
                    if !self.store.step() {
                        break;
                    }
                }
                self.seen.splits += u64::from(self.store.stats().groups < groups);
            }
            70..90 => {
                let Some(at) = any(self, rng) else { return };
                self.held[at].1 = true;
                assert!(self.store.judge(self.held[at].0, Verdict::Verified));
            }
            90..93 if self.is_judged => {
                let Some(at) = any(self, rng) else { return };
                let verdict = *rng.pick(&[Verdict::Mismatch, Verdict::Unknown]);
                let (id, _) = self.held.remove(at);
                assert!(self.store.judge(id, verdict));
            }
            93..95 if self.is_judged => {
                let Some(at) = any(self, rng) else { return };
                let count = (1 + rng.below(9) as usize).min(self.held.len() - at);
                let ids: Vec<_> = self.held.drain(at..at + count).map(|held| held.0).collect();
                self.store.delete(&ids);
            }
            95..97 if self.kept.len() < 2 => {
                self.kept.push(Arc::clone(&self.store.reader().load()));
            }
            95 | 96 => {}
            _ => self.kept.clear(),
        }
    }

    /// Everything that must hold after every action.
    fn check(&mut self, rng: &mut Splitmix) {
        let state = |verified: bool| match verified {
            true => BatchState::Verified,
            false => BatchState::Pending,
        };
        let expected: Vec<_> = self.held.iter().map(|held| (held.0, state(held.1))).collect();
        let list: Vec<_> = self.store.list().iter().map(|(b, s)| (b.batch, *s)).collect();
        assert_eq!(list, expected);
        let snapshot = Arc::clone(&self.store.reader().load());
        self.check_bytes(&snapshot);
        let live = self.check_structure(&snapshot);
        let verified = self.held.iter().filter(|held| held.1).map(|held| held.0);
        let mut verified: Vec<_> = verified.collect();
        verified.sort_unstable();
        assert_eq!(live, verified, "live means verified and held");
        self.check_answers(&snapshot, rng);
        for kept in self.kept.clone() {
            let live = self.check_structure(&kept);
            assert!(live.iter().all(|id| verified.contains(id)), "what left is dead for ever");
            self.check_answers(&kept, rng);
        }
    }

    fn check_bytes(&mut self, snapshot: &Snapshot) {
        let stats = self.store.stats();
        let batches = || {
            snapshot.chunks().iter().flat_map(|chunk| (0..64).filter_map(|slot| chunk.slot(slot)))
        };
        let plain: usize =
            batches().flat_map(|b| &b.columns).map(|column| column.filter.own_bytes()).sum();
        let groups = || snapshot.chunks().iter().flat_map(|chunk| chunk.columns());
        let sliced: usize = groups().filter_map(|c| c.group()).map(|group| group.bytes()).sum();
        assert_eq!((stats.plain_bytes, stats.sliced_bytes), (plain as u64, sliced as u64));
        let counted = stats.bytes as usize;
        assert!(counted >= plain + sliced, "{counted} B are less than what is within reach");
        if self.next_id.is_multiple_of(8) {
            let reached = within_reach(self.kept.iter().map(Arc::as_ref).chain([snapshot]));
            assert!(counted >= reached, "{counted} B are less than the {reached} within reach");
        }
        if !self.is_judged {
            // Only the oldest chunk can have dead slots, and none is larger.
            let dead_max = self.arena_bytes as u64 / 8 * 3 / 2;
            assert!(stats.dead_bytes <= dead_max, "{stats:?}");
        }
        if let Some(arena) = &self.arena {
            let used = arena.used_bytes();
            assert!(used >= sliced && used <= counted + SLAB_SLACK, "{used} B of {counted}");
        }
        if self.kept.is_empty() {
            assert!(counted <= self.arena_bytes, "{counted} B pass the arena: {stats:?}");
        }
        self.seen.groups = self.seen.groups.max(stats.groups);
        self.seen.dead_bytes = self.seen.dead_bytes.max(stats.dead_bytes);
        assert!(batches().count() <= self.retain);
    }

    /// Slots, groups and what is left of sliced filters fit each other. Returns the live ids.
    fn check_structure(&mut self, snapshot: &Snapshot) -> Vec<BatchId> {
        let mut live = Vec::new();
        for (at, chunk) in snapshot.chunks().iter().enumerate() {
            for slot in (0..64).filter(|&slot| chunk.slot(slot).is_some()) {
                let batch = chunk.slot(slot).unwrap();
                let place = snapshot.place(batch.batch).unwrap();
                assert_eq!((place.chunk as usize, place.slot as usize), (at, slot));
                if chunk.live() >> slot & 1 == 1 {
                    live.push(batch.batch);
                }
                for (ordinal, column) in batch.columns.iter().enumerate() {
                    let group = chunk.columns()[ordinal].group();
                    let answers = group.is_some_and(|group| group.slots >> slot & 1 == 1);
                    let is_sliced = matches!(column.filter, Filter::Sliced(_));
                    assert_eq!(answers, is_sliced, "batch {} column {ordinal}", batch.batch);
                    self.seen.beside += u64::from(group.is_some() && !answers);
                }
            }
        }
        live.sort_unstable();
        live
    }

    /// A few questions about every live batch: as its plain filter answers.
    fn check_answers(&mut self, snapshot: &Snapshot, rng: &mut Splitmix) {
        let Some(chunk) = snapshot.chunks().get(rng.below(9) as usize) else { return };
        for slot in (0..64).filter(|slot| chunk.live() >> slot & 1 == 1) {
            let batch = chunk.slot(slot).unwrap();
            let original = &self.originals[&batch.batch];
            let ordinal = rng.below(original.columns.len() as u64) as usize;
            let (ours, theirs) = (&batch.columns[ordinal], &original.columns[ordinal]);
            assert_eq!((ours.flags, ours.zone), (theirs.flags, theirs.zone));
            if ordinal == 0 {
                self.seen.taken_out += check_plain(snapshot, original);
            }
            let words = words(&theirs.filter);
            let folded = match &ours.filter {
                Filter::Sliced(kept) => (kept.words as usize) < words,
                now => self::words(now) < words,
            };
            self.seen.folded += u64::from(folded);
            self.seen.unfolded += u64::from(is_unfolded(chunk, ordinal, &ours.filter));
            if !folded {
                assert_eq!(ours.filter.bytes(), theirs.filter.bytes());
                let fills = [&ours.filter, &theirs.filter].map(Filter::fill);
                assert!((fills[0] - fills[1]).abs() < 1e-12, "{fills:?} {:?} {words}", ours.filter);
                assert!((ours.filter.fpr() - theirs.filter.fpr()).abs() < 1e-12);
            }
            for _ in 0..3 {
                let (lo, hi) = question(&theirs.filter, rng);
                let expected = ask::plain(&theirs.filter, lo, hi);
                let found = ask::chunk(self.kernel, chunk, slot, ordinal, lo, hi);
                let is_right = found == expected || folded && found == Some(true);
                assert!(
                    is_right,
                    "batch {} column {ordinal} {lo}..={hi}: {found:?}, plain {expected:?}",
                    batch.batch
                );
                self.seen.sliced_answers += u64::from(matches!(ours.filter, Filter::Sliced(_)));
            }
        }
    }
}

/// What would be written to disk is what was inserted, or what that folds to. Returns the columns
/// that were taken out of groups.
fn check_plain(snapshot: &Snapshot, original: &SealedBatch) -> u64 {
    let id = original.batch;
    let out = snapshot.plain(id).unwrap();
    let place = snapshot.place(id).unwrap();
    let held = snapshot.chunks()[place.chunk as usize].slot(place.slot as usize).unwrap();
    assert_eq!((out.batch, out.records, out.hash), (id, held.records, held.hash));
    for (at, (out, theirs)) in out.columns.iter().zip(&original.columns).enumerate() {
        assert_eq!((out.flags, out.zone), (theirs.flags, theirs.zone), "batch {id}");
        assert!(is_or_was_folded_to(&theirs.filter, &out.filter), "batch {id} column {at}");
    }
    held.columns.iter().filter(|column| matches!(column.filter, Filter::Sliced(_))).count() as u64
}

/// `theirs`, or what is left of it where it was folded: whole words (or blocks) ORed.
fn is_or_was_folded_to(theirs: &Filter, out: &Filter) -> bool {
    let (theirs, out, unit) = match (theirs, out) {
        (Filter::BloomRf { top: a, .. }, Filter::BloomRf { top: b, .. }) if a != b => return false,
        (Filter::BloomRf { hashed: a, .. }, Filter::BloomRf { hashed: b, .. }) => (a, b, 1),
        (Filter::Blocked { blocks: a, .. }, Filter::Blocked { blocks: b, .. }) => (a, b, 8),
        _ => return theirs == out,
    };
    let factor = theirs.len() / out.len();
    let folded = |at: usize| {
        let (block, word) = (at / unit, at % unit);
        (0..factor).map(|i| theirs[(block * factor + i) * unit + word]).fold(0, |a, b| a | b)
    };
    theirs.len() == out.len() * factor && (0..out.len()).all(|at| out[at] == folded(at))
}

/// Bytes of all filters and groups of some snapshots, each counted once.
fn within_reach<'s>(snapshots: impl Iterator<Item = &'s Snapshot>) -> usize {
    let mut seen = BTreeMap::new();
    for chunk in snapshots.flat_map(Snapshot::chunks) {
        for column in (0..64).filter_map(|slot| chunk.slot(slot)).flat_map(|batch| &batch.columns) {
            seen.insert(Arc::as_ptr(column).addr(), column.filter.own_bytes());
        }
        for group in chunk.columns().iter().filter_map(|column| column.group()) {
            seen.insert(std::ptr::from_ref(group).addr(), group.bytes());
        }
    }
    seen.values().sum()
}

/// What an arena may use beyond what was asked of it: blocks are rounded to classes of size.
const SLAB_SLACK: usize = 256 << 10;

/// Hashed words.
fn words(filter: &Filter) -> usize {
    match filter {
        Filter::BloomRf { hashed, .. } => hashed.len(),
        Filter::Blocked { blocks, .. } => blocks.len(),
        _ => 0,
    }
}

/// Whether the group of a filter repeats its words.
fn is_unfolded(chunk: &Chunk, ordinal: usize, filter: &Filter) -> bool {
    let rows = match chunk.columns()[ordinal].group().map(|group| &group.form) {
        Some(GroupForm::BloomRf { hashed: rows, .. } | GroupForm::Blocked { rows, .. }) => rows,
        _ => return false,
    };
    matches!(filter, Filter::Sliced(kept) if (kept.words as usize) < rows.len() / 64)
}

/// A point or a range, among the values that batches have.
fn question(filter: &Filter, rng: &mut Splitmix) -> (u64, u64) {
    let (kind, widest) = match filter {
        Filter::Bitmap8(_) => (Kind::Bitmap8, 8),
        Filter::Bitmap16(_) | Filter::List16(_) => (Kind::Exact16, 16),
        Filter::Near16 { .. } => (Kind::Near, 16),
        Filter::BloomRf { layers, .. } if layers.has_exact_top() => (Kind::Top { words: 0 }, 32),
        Filter::BloomRf { .. } => (Kind::Wide { words: 0, seed: 0 }, 64),
        _ => (Kind::None, 64),
    };
    let max = u64::MAX >> (64 - widest);
    let lo = key(kind, rng).min(max);
    let width = if rng.one_in(2) { 0 } else { 1 << rng.below(widest) };
    (lo, lo.saturating_add(width).min(max))
}

/// Small filters of mixed sizes, seeds and kinds.
fn mixed(rng: &mut Splitmix) -> Vec<Kind> {
    let wide = |rng: &mut Splitmix| {
        let words = *rng.pick(&[60, 60, 60, 30, 20, 15, 120, 1, 48]);
        Kind::Wide { words, seed: if rng.one_in(40) { 7 } else { SEED } }
    };
    let second = match rng.below(12) {
        0 => Kind::Near,
        1 => Kind::None,
        2 => Kind::Keys,
        _ => wide(rng),
    };
    let blocked = Kind::Blocked { words: *rng.pick(&[48, 48, 24, 16, 8, 96, 120]) };
    vec![wide(rng), second, Kind::Bitmap8, blocked, Kind::None]
}

/// Filters of one size.
fn even(_: &mut Splitmix) -> Vec<Kind> {
    vec![Kind::Wide { words: 120, seed: SEED }, Kind::Bitmap8, Kind::Blocked { words: 64 }]
}

/// Exact sets of 16 bits, as lists and bitmaps, and 4-byte keys.
fn exact(rng: &mut Splitmix) -> Vec<Kind> {
    let second = if rng.one_in(20) { Kind::Near } else { Kind::Exact16 };
    vec![Kind::Top { words: *rng.pick(&[480, 480, 240]) }, second, Kind::Bitmap8]
}

fn run(mut world: World, mut rng: Splitmix, actions: usize) -> Seen {
    for _ in 0..actions {
        world.act(&mut rng);
        world.check(&mut rng);
    }
    // With nothing to do, bytes are exactly those within reach of the store and its readers.
    world.kept.push(Arc::clone(&world.store.reader().load()));
    (0..9).for_each(|_| world.insert(&mut rng));
    while world.store.step() {}
    let newest = Arc::clone(&world.store.reader().load());
    let reached = within_reach(world.kept.iter().chain([&newest]).map(Arc::as_ref));
    assert_eq!(world.store.stats().bytes as usize, reached, "with readers");
    drop(newest);
    world.kept.clear();
    while world.store.step() {}
    world.check(&mut rng);
    let stats = world.store.stats();
    assert_eq!(stats.bytes, stats.plain_bytes + stats.sliced_bytes);
    world.seen.sliced_at_end = stats.sliced_batches;
    println!("{:?} {stats:?}", world.seen);
    world.seen
}

#[test]
fn a_store_of_mixed_sizes_and_kinds_is_a_list_of_plain_filters() {
    let rng = Splitmix::from_env(1);
    let world = World::new(840 << 10, 2_000, 150, mixed, Kernel::best(), None);
    let seen = run(world, rng, 3_000);
    assert!(seen.groups > 4 && seen.splits > 0 && seen.sliced_answers > 1_000, "{seen:?}");
    assert!(seen.taken_out > 1_000, "{seen:?}");
    assert!(
        seen.folded > 0 && seen.unfolded > 0 && seen.beside > 0 && seen.dead_bytes > 0,
        "{seen:?}"
    );
}

#[test]
fn a_chunk_whose_slicing_was_given_up_keeps_the_groups_it_has() {
    // This seed found a second group made of what had stayed beside the first one.
    let rng = Splitmix::from_env(12);
    let world = World::new(840 << 10, 2_000, 150, mixed, Kernel::best(), None);
    assert!(run(world, rng, 3_000).splits > 0);
}

#[test]
fn a_tight_arena_splits_its_oldest_groups_and_evicts_no_more_than_it_must() {
    let rng = Splitmix::from_env(2);
    let mut world = World::new(1 << 20, 10_000, 100, even, Kernel::Scalar, None);
    world.is_judged = false;
    let seen = run(world, rng, 4_000);
    assert!(seen.splits > 2 && seen.evicted > 500, "{seen:?}");
    assert!(seen.sliced_at_end > 400, "most of some 640 batches: {seen:?}");
}

#[test]
fn exact_sets_become_rows_and_come_back_as_they_were() {
    let rng = Splitmix::from_env(3);
    let world = World::new(9 << 20, 1_000, 9_000, exact, Kernel::best(), None);
    let seen = run(world, rng, 1_600);
    assert!(seen.groups > 4 && seen.sliced_answers > 1_000, "{seen:?}");
}

#[test]
fn groups_of_an_arena_are_given_back_to_it() {
    let arena_bytes = 1 << 20;
    let rng = Splitmix::from_env(4);
    let arena = Arena::new(ArenaConfig::new(arena_bytes)).unwrap();
    let world = World::new(arena_bytes, 300, 100, even, Kernel::best(), Some(arena.clone()));
    run(world, rng, 2_000);
    assert_eq!(arena.used_bytes(), 0, "the store is gone");
}
