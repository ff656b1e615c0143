//! Cases from public reports of filters that lost rows, crashed or stalled.

mod lookup_world;
mod truth;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bloomrf_engine::env::Clock;
use bloomrf_engine::filter::{ColumnZone, Filter};
use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::lookup::{NoOpinion, Outcome};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::store::{Store, StoreConfig};
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest, LookupStatus};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_kernels::Zone;
use lookup_world::{Cell, Frozen, Splitmix, World, check_counts, evaluator, record, schema, seal};

fn equals(column: u16, value: u64) -> Predicate {
    Predicate::Compare { column, op: CompareOp::Eq, literal: Literal::Unsigned(value) }
}

fn u16s(values: impl IntoIterator<Item = u16>) -> Vec<Vec<Cell>> {
    values.into_iter().map(|v| vec![Some(v.to_le_bytes().to_vec())]).collect()
}

/// Batches of one u16 column: batch i holds i and 60,000.
fn world(batches: u16) -> World {
    let mut world = World::new(schema(&[("u16", None, false)]));
    for i in 1..=batches {
        world.add(&u16s([0, i, 60_000]));
    }
    world
}

fn answer(world: &mut World, request: &LookupRequest) -> LookupReply {
    world.answer(request)
}

#[test]
fn negative_integers_and_ranges_across_zero_are_found() {
    let mut world = World::new(schema(&[("i64", None, false)]));
    let values = [i64::MIN, -1, 0, 1, i64::MAX];
    let rows: Vec<Vec<Cell>> =
        values.iter().map(|v| vec![Some(v.to_le_bytes().to_vec())]).collect();
    world.add(&rows);
    for value in values {
        let predicate =
            Predicate::Compare { column: 0, op: CompareOp::Eq, literal: Literal::Signed(value) };
        assert!(!world.check(&predicate, FloatOrder::Unstated).is_excluded(0), "{value}");
    }
    let (low, high) = (Literal::Signed(-1), Literal::Signed(1));
    let across = Predicate::Between { column: 0, low, high };
    assert!(!world.check(&across, FloatOrder::Unstated).is_excluded(0));
}

#[test]
fn is_null_keeps_batches_with_nulls_and_excludes_those_without() {
    let mut world = World::new(schema(&[("u8", None, true)]));
    world.add(&[vec![None], vec![Some(vec![1])]]);
    world.add(&[vec![Some(vec![1])]]);
    world.add(&[vec![None]]);
    world.add(&[]);
    assert_eq!(world.excludes(&Predicate::IsNull { column: 0 }), [false, true, false, true]);
    assert_eq!(world.excludes(&Predicate::IsNotNull { column: 0 }), [false, false, true, true]);
}

#[test]
fn is_not_null_is_true_of_nan() {
    let mut world = World::new(schema(&[("f64", None, true)]));
    world.add(&[vec![Some(f64::NAN.to_le_bytes().to_vec())], vec![None]]);
    assert_eq!(world.excludes(&Predicate::IsNotNull { column: 0 }), [false]);
}

#[test]
fn a_column_that_is_not_filtered_still_has_its_zone_map() {
    let mut world = World::new(schema(&[("u16", None, false)]));
    world.policy.filtered = vec![false];
    world.add(&u16s([10, 20]));
    assert_eq!(world.excludes(&equals(0, 21)), [true]);
    assert_eq!(world.excludes(&equals(0, 15)), [false]);
    let outcome = world.explain(&equals(0, 15), FloatOrder::Unstated).remove(0).outcome;
    assert_eq!(outcome, Outcome::NoOpinion(NoOpinion::NotFiltered));
}

#[test]
fn unknown_columns_and_operators_keep_everything() {
    let mut world = world(3);
    for predicate in [
        equals(9, 1),
        Predicate::IsNull { column: 9 },
        Predicate::Unknown,
        Predicate::Not(Box::new(Predicate::Unknown)),
        Predicate::Or(vec![equals(0, 9), Predicate::Unknown]),
        Predicate::And(vec![Predicate::Unknown, Predicate::Unknown]),
    ] {
        assert_eq!(world.excludes(&predicate), [false; 3], "{predicate:?}");
    }
}

#[test]
fn a_batch_that_lacks_the_column_is_kept() {
    let mut world = World::new(schema(&[("u16", None, false), ("u8", None, false)]));
    let records = [record(&world.schema, &[Some(vec![1, 0]), Some(vec![1])])];
    let mut sealed = seal(&world.schema, &world.policy, 1, &records, 1);
    sealed.columns.pop();
    world.put(sealed);
    world.rows.push((1, Vec::new()));
    assert_eq!(world.excludes(&equals(1, 99)), [false]);
    assert_eq!(world.excludes(&equals(0, 99)), [true]);
}

#[test]
fn odd_candidate_lists_are_answered_as_sent() {
    let mut world = world(70);
    let hit = equals(0, 5);
    let lists: [Vec<u64>; 5] = [
        vec![],
        vec![5],
        vec![5, 5, 6, 5, 6],
        vec![70, 1, u64::MAX, 5, 0, 69, 5, 12_345],
        (0..100_000).rev().collect(),
    ];
    for ids in lists {
        let mut request = world.request(&hit, FloatOrder::Unstated);
        request.candidates = Candidates::List(ids.clone());
        let reply = answer(&mut world, &request);
        assert_eq!(reply.candidates as usize, ids.len());
        for (i, &id) in ids.iter().enumerate() {
            let is_known = (1..=70).contains(&id);
            assert_eq!(reply.is_excluded(i), is_known && id != 5, "candidate {i}, batch {id}");
        }
        assert_eq!(reply.no_filter as usize, ids.iter().filter(|i| !(1..=70).contains(*i)).count());
    }
    let mut request = world.request(&hit, FloatOrder::Unstated);
    request.candidates = Candidates::Range { first: 3, count: 131_072 };
    assert_eq!(answer(&mut world, &request).evaluated, 68);
}

#[test]
fn another_cluster_or_schema_excludes_nothing() {
    let mut world = world(3);
    let good = world.request(&equals(0, 99), FloatOrder::Unstated);
    assert_eq!(answer(&mut world, &good).excluded_filter, 3);
    let mut other_cluster = good.clone();
    other_cluster.cluster = ClusterId(8);
    let mut other_schema = good.clone();
    other_schema.fingerprint = Fingerprint(good.fingerprint.0 ^ 1);
    for request in [other_cluster, other_schema] {
        let reply = answer(&mut world, &request);
        assert_eq!(reply.status, LookupStatus::OtherSchema);
        assert_eq!((reply.evaluated, reply.no_filter, reply.excluded), (0, 3, vec![0]));
        let explained = world.evaluator.explain(&request, &world.reader.load(), &Frozen);
        let expected = Outcome::NoOpinion(NoOpinion::Schema);
        assert!(explained.len() == 3 && explained.iter().all(|e| e.outcome == expected));
    }
}

#[test]
fn batches_without_a_usable_filter_say_why() {
    let schema = Arc::new(schema(&[("u16", None, false)]));
    let mut store = Store::new(StoreConfig { retain_batches: 3, arena_bytes: 1 << 20 });
    for id in 1..=4 {
        let records = [record(&schema, &[Some(vec![1, 0])])];
        let policy = lookup_world::policy(&schema);
        store.insert(Arc::new(seal(&schema, &policy, id, &records, 1))).unwrap();
    }
    store.judge(2, Verdict::Verified);
    store.judge(3, Verdict::Mismatch);
    let request = LookupRequest {
        query_id: 5,
        cluster: lookup_world::CLUSTER,
        fingerprint: schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::Range { first: 1, count: 5 },
        predicate: equals(0, 99),
    };
    let mut evaluator = evaluator(&schema, 256);
    let reply = evaluator.answer(&request, &store.reader().load(), &Frozen);
    check_counts(&reply);
    assert_eq!((reply.query_id, reply.evaluated, reply.no_filter), (5, 1, 4));
    assert_eq!(reply.excluded, [0b00010]);
    let explained = evaluator.explain(&request, &store.reader().load(), &Frozen);
    let outcomes: Vec<Outcome> = explained.into_iter().map(|e| e.outcome).collect();
    let why = |why| Outcome::NoOpinion(why);
    assert_eq!(
        outcomes,
        [
            why(NoOpinion::Evicted),
            Outcome::ExcludedZoneMap,
            why(NoOpinion::Rejected),
            why(NoOpinion::Pending),
            why(NoOpinion::NoFilter),
        ]
    );
}

/// Time that advances by a step with every look.
struct Ticking {
    now_ns: AtomicU64,
    step_ns: u64,
}

impl Clock for Ticking {
    fn now_ns(&self) -> u64 {
        self.now_ns.fetch_add(self.step_ns, Ordering::Relaxed)
    }
    fn unix_us(&self) -> i64 {
        0
    }
}

#[test]
fn past_the_time_budget_the_rest_reads_found() {
    let mut world = world(640);
    let mut request = world.request(&equals(0, 50_000), FloatOrder::Unstated);
    let mut answers = Vec::new();
    for (budget_us, step_ns) in [(0, 1_000_000), (2_000, 1_000_000), (u32::MAX, 6_000_000)] {
        request.budget_us = budget_us;
        let clock = Ticking { now_ns: AtomicU64::new(7), step_ns };
        let reply = world.evaluator.answer(&request, &world.reader.load(), &clock);
        check_counts(&reply);
        assert_eq!(reply.status, LookupStatus::TimedOut, "{budget_us} us");
        assert_eq!(reply.evaluated, 640, "a usable filter is one, looked at or not");
        let excluded = reply.excluded_filter;
        assert!(excluded < 640, "all would be, with time");
        answers.push(excluded);
        let clock = Ticking { now_ns: AtomicU64::new(7), step_ns };
        let explained = world.evaluator.explain(&request, &world.reader.load(), &clock);
        let late = explained.iter().filter(|e| e.outcome == Outcome::NoOpinion(NoOpinion::Time));
        assert_eq!(late.count() as u32, 640 - excluded, "what was decided in time stands");
    }
    assert!(answers[0] > answers[1], "the smaller budget rules: {answers:?}");
    request.budget_us = 0;
    let reply = answer(&mut world, &request);
    assert_eq!((reply.status, reply.excluded_filter), (LookupStatus::Ok, 640));
}

#[test]
fn the_time_budget_holds_inside_one_chunk() {
    let mut world = World::new(schema(&[("u64", None, false)]));
    for i in 0..64u64 {
        let ends = [0, i, u64::MAX].map(|v| vec![Some(v.to_le_bytes().to_vec())]);
        world.add(&ends);
    }
    let list = (0..4_096).map(|i| Literal::Unsigned((i << 40) + 1_000_000)).collect();
    let mut request = world.request(&Predicate::In { column: 0, list }, FloatOrder::Unstated);
    request.budget_us = 1_000;
    let clock = Ticking { now_ns: AtomicU64::new(0), step_ns: 10_000 };
    let reply = world.evaluator.answer(&request, &world.reader.load(), &clock);
    assert_eq!(reply.status, LookupStatus::TimedOut);
    assert!(reply.excluded_filter < 2, "one batch takes more than half of the time");
    assert!(reply.micros < 1_100, "{} us", reply.micros);
}

#[test]
fn past_the_probe_budget_a_range_has_no_opinion_but_exact_kinds_answer() {
    let mut world =
        World::new(schema(&[("u64", None, false), ("u16", None, false), ("u32", None, false)]));
    let row = |a: u64, b: u16, c: u32| {
        vec![
            Some(a.to_le_bytes().to_vec()),
            Some(b.to_le_bytes().to_vec()),
            Some(c.to_le_bytes().to_vec()),
        ]
    };
    world.add(&[row(0, 0, 0), row(u64::MAX, u16::MAX, u32::MAX)]);
    let between = |column, low, high| Predicate::Between {
        column,
        low: Literal::Unsigned(low),
        high: Literal::Unsigned(high),
    };
    let wide = between(0, 1 << 20, 1 << 60);
    assert_eq!(world.excludes(&wide), [false]);
    let outcome = world.explain(&wide, FloatOrder::Unstated).remove(0).outcome;
    assert_eq!(outcome, Outcome::NoOpinion(NoOpinion::Budget));
    world.evaluator = evaluator(&world.schema, 0);
    assert_eq!(world.excludes(&between(1, 1, 65_534)), [true], "exact bitmap");
    assert_eq!(world.excludes(&between(0, 5, 5)), [false], "no probe at all is allowed");
    world.evaluator = evaluator(&world.schema, 16);
    assert_eq!(world.excludes(&between(2, 1 << 16, (200 << 24) - 1)), [true], "exact top 16 bits");
}

#[test]
fn damaged_filters_and_zone_maps_keep_the_batch() {
    let schema = schema(&[("u32", None, false), ("bytes(8)", None, false)]);
    let mut world = World::new(schema);
    let records: Vec<Vec<u8>> = [0u32, 77, 500_000]
        .iter()
        .map(|v| record(&world.schema, &[Some(v.to_le_bytes().to_vec()), Some(vec![9; 8])]))
        .collect();
    let whole = seal(&world.schema, &world.policy, 1, &records, 3);
    let mut damaged = vec![whole.clone(); 8];
    let mut columns = damaged.iter_mut().map(|batch| Arc::make_mut(&mut batch.columns[0]));
    let mut next = || columns.next().unwrap();
    next().filter = Filter::Bitmap8([0; 4]);
    next().filter = Filter::Bitmap16(vec![0; 3].into());
    next().filter = Filter::Blocked { seed: 1, blocks: vec![0; 9].into() };
    next().zone = ColumnZone::Narrow(Zone::default());
    next().zone = ColumnZone::Wide(Zone::default());
    next().flags.has_value = false;
    if let Filter::BloomRf { hashed, .. } = &mut next().filter {
        *hashed = Vec::new().into();
    }
    if let Filter::BloomRf { top, .. } = &mut next().filter {
        *top = bloomrf_engine::filter::Top16::None;
    }
    let damaged_count = damaged.len();
    for (i, mut batch) in damaged.into_iter().enumerate() {
        batch.batch = i as u64 + 1;
        world.put(batch);
        world.rows.push((i as u64 + 1, Vec::new()));
    }
    assert_eq!(world.excludes(&equals(0, 70_000)), vec![false; damaged_count]);
    for explain in world.explain(&equals(0, 70_000), FloatOrder::Unstated) {
        assert_eq!(explain.outcome, Outcome::NoOpinion(NoOpinion::Corrupt), "{}", explain.batch);
    }
}

#[test]
fn host_as_source_or_destination_excludes() {
    let mut world = World::new(schema(&[("ipv4", None, true), ("ipv4", None, true)]));
    world.add(&[vec![Some(vec![10, 0, 0, 1]), Some(vec![10, 0, 0, 2])]]);
    world.add(&[vec![Some(vec![10, 0, 0, 3]), Some(vec![10, 0, 0, 1])]]);
    world.add(&[vec![Some(vec![10, 0, 0, 3]), Some(vec![10, 0, 0, 4])]]);
    let host = |column| Predicate::Compare {
        column,
        op: CompareOp::Eq,
        literal: Literal::Ipv4([10, 0, 0, 1]),
    };
    assert_eq!(world.excludes(&Predicate::Or(vec![host(0), host(1)])), [false, false, true]);
}

#[test]
fn excluded_by_zone_map_means_that_it_alone_settles_the_whole_tree() {
    let mut world = World::new(schema(&[("u16", None, false)]));
    world.add(&u16s([100, 200]));
    let outcome = |world: &mut World, p: &Predicate| {
        let reply = world.ask(p, FloatOrder::Unstated);
        (reply.excluded_zone_map, reply.excluded_filter)
    };
    assert_eq!(outcome(&mut world, &equals(0, 99)), (1, 0));
    assert_eq!(outcome(&mut world, &equals(0, 150)), (0, 1));
    let both = Predicate::Or(vec![equals(0, 99), equals(0, 150)]);
    assert_eq!(outcome(&mut world, &both), (0, 1));
    let either = Predicate::And(vec![equals(0, 150), equals(0, 99)]);
    assert_eq!(outcome(&mut world, &either), (1, 0));
}

#[test]
fn an_explanation_of_very_many_candidates_is_bounded_and_still_agrees() {
    let mut world = world(64);
    let mut request = world.request(
        &Predicate::Or((0..20).map(|i| equals(0, 40_000 + i)).chain([equals(0, 7)]).collect()),
        FloatOrder::Unstated,
    );
    request.candidates = Candidates::List((0..10_000).map(|i| i % 66).collect());
    let reply = answer(&mut world, &request);
    let explained = world.evaluator.explain(&request, &world.reader.load(), &Frozen);
    assert!(explained.iter().map(|e| e.leaves.len()).sum::<usize>() <= 1 << 14);
    for (i, explain) in explained.iter().enumerate() {
        assert_eq!(explain.outcome.is_excluded(), reply.is_excluded(i), "candidate {i}");
    }
}

#[test]
fn predicates_past_the_limits_keep_everything() {
    let mut world = world(2);
    let mut deep = equals(0, 50_000);
    for _ in 0..100 {
        deep = Predicate::Not(Box::new(Predicate::Not(Box::new(deep))));
    }
    let broad = Predicate::Or(vec![equals(0, 50_000); 5_000]);
    let list = vec![Literal::Unsigned(50_000); 5_000];
    let long = Predicate::In { column: 0, list };
    for predicate in [deep, broad.clone(), Predicate::Or(vec![broad; 3]), long] {
        assert_eq!(world.excludes(&predicate), [false; 2]);
    }
}

#[test]
fn in_lists_of_any_order_and_length_find_every_value() {
    let mut rng = Splitmix::from_env(31);
    let mut world = World::new(schema(&[("u32", None, false)]));
    for _ in 0..20 {
        let rows: Vec<Vec<Cell>> =
            (0..50).map(|_| vec![Some((rng.next() as u32).to_le_bytes().to_vec())]).collect();
        world.add(&rows);
    }
    for length in [1, 2, 11, 300, 4_096] {
        let mut list: Vec<Literal> =
            (0..length).map(|_| Literal::Unsigned(rng.next() & 0xffff_ffff)).collect();
        world.check(&Predicate::In { column: 0, list: list.clone() }, FloatOrder::Unstated);
        let bloomrf_oracle::Value::Int(stored) = world.rows[7].1[3][0] else { panic!("an int") };
        list[length / 2] = Literal::Unsigned(stored as u64);
        let reply = world.check(&Predicate::In { column: 0, list }, FloatOrder::Unstated);
        assert!(!reply.is_excluded(7));
    }
    // More ranges than a lookup keeps plans of: the rest is hashed anew, and just as right.
    let bloomrf_oracle::Value::Int(stored) = world.rows[3].1[20][0] else { panic!("an int") };
    let many: Vec<Predicate> = (0..3)
        .map(|part| {
            let random = |rng: &mut Splitmix| Literal::Unsigned(rng.next() & 0xffff_ffff);
            let mut list: Vec<Literal> = (0..4_096).map(|_| random(&mut rng)).collect();
            if part == 2 {
                list[4_095] = Literal::Unsigned(stored as u64);
            }
            Predicate::In { column: 0, list }
        })
        .collect();
    let reply = world.ask(&Predicate::Or(many), FloatOrder::Unstated);
    assert!(!reply.is_excluded(3));
}
