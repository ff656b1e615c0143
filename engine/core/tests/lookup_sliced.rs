//! Lookups over full chunks, whose filters are bit-sliced: against the plain form of the same
//! batches, against the oracle, on every kernel set.

mod lookup_world;
mod truth;

use std::collections::HashSet;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::{Evaluator, LookupConfig, NoOpinion, Outcome};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::store::Snapshot;
use bloomrf_engine::wire::lookup::{Candidates, IdRange, LookupReply, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::Kernel;
use lookup_world::trees::{settled, tree};
use lookup_world::worlds::world_of;
use lookup_world::{CLUSTER, Frozen, Splitmix, World, check_counts, schema, seal};

/// An evaluator on that kernel set.
fn evaluator(world: &World, kernel: Kernel, probes_max: u32) -> Evaluator {
    Evaluator::new(LookupConfig {
        cluster: CLUSTER,
        schema: world.schema.clone(),
        probes_max,
        budget_us: 10_000,
        kernel,
    })
}

/// Slots of the snapshot that a group answers for, over all columns.
fn sliced_slots(snapshot: &Snapshot) -> u32 {
    let columns = snapshot.chunks().iter().flat_map(|chunk| chunk.columns());
    columns.filter_map(|column| column.group()).map(|group| group.slots.count_ones()).sum()
}

/// Takes some batches away: rejected, deleted or not judged any more. Returns their ids.
fn kill_some(world: &mut World, rng: &mut Splitmix) -> HashSet<BatchId> {
    let mut dead = HashSet::new();
    let batches = world.rows.len() as u64;
    for _ in 0..rng.below(1 + batches / 8) {
        let id = 1 + rng.below(batches);
        let verdict = if rng.one_in(2) { Verdict::Mismatch } else { Verdict::Unknown };
        for store in [&mut world.store, &mut world.plain] {
            if !dead.contains(&id) {
                assert!(store.judge(id, verdict));
            }
        }
        dead.insert(id);
    }
    dead
}

/// Candidates of any shape over the ids of the world and some that it does not hold.
fn candidates(batches: u64, rng: &mut Splitmix) -> Candidates {
    let ids = |n: u64, rng: &mut Splitmix| -> Vec<BatchId> {
        (0..rng.below(n)).map(|_| rng.below(batches + 9)).collect()
    };
    match rng.below(8) {
        0..=2 => Candidates::Range { first: 1, count: batches as u32 },
        3 => Candidates::Range { first: rng.below(batches), count: rng.below(700) as u32 },
        4 => {
            let range = |rng: &mut Splitmix| IdRange {
                first: rng.below(batches),
                count: rng.below(150) as u32,
            };
            Candidates::Ranges((0..rng.below(6)).map(|_| range(rng)).collect())
        }
        // Few and scattered; many in any order, some of them twice; sorted.
        5 => Candidates::List(ids(8, rng)),
        6 => Candidates::List(ids(900, rng)),
        _ => {
            let mut sorted = ids(600, rng);
            sorted.sort_unstable();
            Candidates::List(sorted)
        }
    }
}

/// Answers of all kernel sets, which must be one; with the counts of what was undecided.
fn answer_of_all(
    evaluators: &mut [Evaluator],
    request: &LookupRequest,
    snapshot: &Snapshot,
) -> LookupReply {
    let mut answers = evaluators.iter_mut().map(|evaluator| {
        let reply = evaluator.answer(request, snapshot, &Frozen);
        (reply, *evaluator.undecided())
    });
    let first = answers.next().expect("there is a kernel set");
    check_counts(&first.0);
    assert!(answers.all(|other| other == first), "kernel sets differ: {:?}", request.predicate);
    first.0
}

#[test]
fn sliced_chunks_answer_like_plain_ones_with_holes_and_dead_slots_on_every_kernel_set() {
    let mut rng = Splitmix::from_env(71);
    let (mut sliced, mut excluded, mut undecided) = (0, 0, 0);
    for round in 0..12u64 {
        let batches = if round % 3 == 0 { 1 + rng.below(600) } else { 60 + rng.below(90) };
        // Chunks of other seeds and kinds beside each other, and a few such batches in a chunk.
        let levels = if rng.one_in(5) { 1 } else { 4 };
        let (mut world, pools) = world_of(batches, &mut rng, |world, rng| {
            let chunk = world.rows.len() as u64 / 64;
            let is_other = rng.one_in(40) || (round % 2 == 0 && chunk % 4 == 3);
            world.policy.budget.levels = if is_other { 5 - levels } else { levels };
            world.policy.seed = 42 + if rng.one_in(40) { 1 } else { chunk % 3 };
        });
        let dead = kill_some(&mut world, &mut rng);
        while world.store.step() {}
        sliced += sliced_slots(&world.reader.load());
        let probes_max = *rng.pick(&[3, 256, 256]);
        let mut evaluators: Vec<_> =
            Kernel::all().into_iter().map(|kernel| evaluator(&world, kernel, probes_max)).collect();
        world.evaluator = evaluator(&world, Kernel::Scalar, probes_max);
        for _ in 0..40 {
            let predicate = tree(&pools, 4, &mut rng);
            let mut request = world.request(&predicate, FloatOrder::Unstated);
            request.candidates = candidates(batches, &mut rng);
            let reply = answer_of_all(&mut evaluators, &request, &world.reader.load());
            assert_eq!(reply, world.answer(&request));
            undecided += world.evaluator.undecided().iter().sum::<u64>();
            let explained = world.evaluator.explain(&request, &world.reader.load(), &Frozen);
            let readings: Vec<_> =
                [true, false].map(|t| truth::expr(&settled(&predicate, t)).unwrap()).into();
            for (i, id) in request.candidates.iter().enumerate() {
                let outcome = &explained[i].outcome;
                assert_eq!(outcome.is_excluded(), reply.is_excluded(i), "{id}: {predicate:?}");
                let is_held = (1..=batches).contains(&id) && !dead.contains(&id);
                assert!(is_held || !reply.is_excluded(i), "batch {id} is not live");
                let is_found = is_held
                    && readings.iter().any(|expr| {
                        world.truly_matches(id as usize - 1, expr, FloatOrder::Unstated)
                    });
                assert!(!is_found || !reply.is_excluded(i), "FALSE NEGATIVE: {id} {predicate:?}");
            }
            excluded += reply.excluded_filter;
        }
    }
    println!("{sliced} sliced slots, {excluded} excluded by filters, {undecided} undecided");
    assert!(sliced > 2_000 && excluded > 1_000 && undecided > 1_000);
}

/// The keys of one batch, column by column, sorted.
type Keys = [Vec<u64>; 4];

/// Batches of one u64, one u32, one u16 and one u8 column and 4,000 rows: all kinds of groups.
fn large_world(rng: &mut Splitmix, levels: u32) -> (World, Vec<Keys>) {
    let columns = ["u64", "u32", "u16", "u8"].map(|kind| (kind, None, false));
    let mut world = World::new(schema(&columns));
    world.policy.budget.levels = levels;
    let mut all = Vec::new();
    for id in 1..=BATCHES {
        let mut keys = Keys::default();
        let mut records = Vec::new();
        for _ in 0..if id % 50 == 0 { 40 } else { 4_000 } {
            let draw = rng.next();
            let row = [draw, draw >> 13 & 0xffff_ffff, draw >> 3 & 0xffff, (draw & 7) * id % 256];
            let mut record = row[0].to_le_bytes().to_vec();
            record.extend((row[1] as u32).to_le_bytes());
            record.extend((row[2] as u16).to_le_bytes());
            record.push(row[3] as u8);
            records.push(record);
            keys.iter_mut().zip(row).for_each(|(keys, key)| keys.push(key));
        }
        keys.iter_mut().for_each(|keys| keys.sort_unstable());
        world.put(seal(&world.schema, &world.policy, id, &records, 4_000));
        world.rows.push((id, Vec::new()));
        all.push(keys);
    }
    (world, all)
}

/// A full chunk, and some more.
const BATCHES: u64 = 70;

fn any_of(column: u16, ranges: &[(u64, u64)]) -> Predicate {
    let literal = Literal::Unsigned;
    match *ranges {
        [(lo, hi)] if lo != hi => {
            Predicate::Between { column, low: literal(lo), high: literal(hi) }
        }
        [(value, _)] => Predicate::Compare { column, op: CompareOp::Eq, literal: literal(value) },
        _ => Predicate::In { column, list: ranges.iter().map(|&(v, _)| literal(v)).collect() },
    }
}

#[test]
fn groups_of_every_kind_find_what_was_inserted_and_answer_like_plain_filters() {
    let mut rng = Splitmix::from_env(72);
    for levels in [4, 1] {
        let (mut world, keys) = large_world(&mut rng, levels);
        let groups = world.reader.load().chunks()[0].columns().iter().all(|c| c.group().is_some());
        assert!(groups, "every column of a full chunk is sliced");
        let mut evaluators: Vec<_> =
            Kernel::all().into_iter().map(|kernel| evaluator(&world, kernel, 256)).collect();
        let mut excluded = 0;
        for _ in 0..300 {
            let column = rng.below(4) as u16;
            let stored = &rng.pick(&keys)[usize::from(column)];
            let value = if rng.one_in(2) { *rng.pick(stored) } else { rng.next() };
            let value = value & (u64::MAX >> [0, 32, 48, 56][usize::from(column)]);
            let width = 1u64 << rng.below(20);
            let high = value.saturating_add(width);
            let ranges: Vec<(u64, u64)> = match rng.below(4) {
                0 => vec![(value, high)],
                1 => (0..30).map(|i| value.wrapping_add(i * i * width)).map(|v| (v, v)).collect(),
                _ => vec![(value, value)],
            };
            let request = world.request(&any_of(column, &ranges), FloatOrder::Unstated);
            let reply = answer_of_all(&mut evaluators, &request, &world.reader.load());
            assert_eq!(reply, world.answer(&request));
            excluded += reply.excluded_filter;
            for (i, keys) in keys.iter().enumerate() {
                let keys = &keys[usize::from(column)];
                let is_found = ranges.iter().any(|&(lo, hi)| {
                    keys.get(keys.partition_point(|&key| key < lo)).is_some_and(|&key| key <= hi)
                });
                let predicate = &request.predicate;
                assert!(!is_found || !reply.is_excluded(i), "FALSE NEGATIVE: {i} {predicate:?}");
            }
        }
        println!("levels {levels}: {excluded} excluded by filters");
        assert!(excluded > 5_000, "{excluded}");
    }
}

#[test]
fn no_opinion_of_a_group_keeps_the_batch_and_is_counted_and_explained() {
    let mut rng = Splitmix::from_env(73);
    let between = |low, high| Predicate::Between {
        column: 0,
        low: Literal::Unsigned(low),
        high: Literal::Unsigned(high),
    };
    for (levels, why, predicate) in [
        (4, NoOpinion::Budget, between(1 << 62, (3 << 62) - 1)),
        (1, NoOpinion::NotFiltered, between(1 << 63, (1 << 63) + 1)),
    ] {
        let (mut world, _) = large_world(&mut rng, levels);
        world.evaluator = evaluator(&world, Kernel::best(), 0);
        let mut request = world.request(&predicate, FloatOrder::Unstated);
        let reply = world.answer(&request);
        assert_eq!((reply.excluded_filter, reply.excluded_zone_map), (0, 0), "{why}");
        // Zone maps may be certain of a few.
        let counted = world.evaluator.undecided()[why.index()];
        assert!(counted > 60, "{why}: {counted}");
        request.candidates = Candidates::Range { first: 1, count: 64 };
        let explained = world.evaluator.explain(&request, &world.reader.load(), &Frozen);
        let same = explained.iter().filter(|e| e.outcome == Outcome::NoOpinion(why));
        assert!(same.count() > 50, "{why}");
        // What has no opinion under an OR keeps what everything else excludes.
        let other =
            Predicate::Compare { column: 2, op: CompareOp::Eq, literal: Literal::Unsigned(70_000) };
        let either = Predicate::Or(vec![other, predicate]);
        let reply = world.ask(&either, FloatOrder::Unstated);
        assert_eq!(reply.excluded_filter, 0, "{why}");
    }
}
