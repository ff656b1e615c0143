//! The time budget against a real clock: 512 batches of 12 columns and a question that would
//! take far longer than it may.

mod lookup_world;
mod truth;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use bloomrf_engine::env::Clock;
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::wire::lookup::{LookupReply, LookupRequest, LookupStatus};
use lookup_world::{CLUSTER, Cell, Splitmix, World, check_counts, schema};

const BATCHES: u32 = 512;
const COLUMNS: u16 = 12;

struct Real(Instant);

impl Clock for Real {
    fn now_ns(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
    fn unix_us(&self) -> i64 {
        0
    }
}

/// Time that stands still, and how often it was asked for.
struct Counted(AtomicU32);

impl Clock for Counted {
    fn now_ns(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        0
    }
    fn unix_us(&self) -> i64 {
        0
    }
}

fn world(rng: &mut Splitmix) -> World {
    let mut world = World::new(schema(&[("u64", None, false); COLUMNS as usize]));
    for _ in 0..BATCHES {
        let rows: Vec<Vec<Cell>> = (0..8)
            .map(|_| (0..COLUMNS).map(|_| Some(rng.next().to_le_bytes().to_vec())).collect())
            .collect();
        world.add(&rows);
    }
    world
}

fn ask(world: &World, request: &LookupRequest, budget_us: u32) -> LookupReply {
    let mut evaluator = Evaluator::new(LookupConfig {
        cluster: CLUSTER,
        schema: world.schema.clone(),
        probes_max: 256,
        budget_us,
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
    });
    let reply = evaluator.answer(request, &world.reader.load(), &Real(Instant::now()));
    check_counts(&reply);
    reply
}

#[test]
fn a_costly_question_ends_with_its_budget_and_a_plain_one_far_before() {
    let mut rng = Splitmix::from_env(51);
    let world = world(&mut rng);
    let point = |column, value| Predicate::Compare {
        column,
        op: CompareOp::Eq,
        literal: Literal::Unsigned(value),
    };
    let plain = Predicate::Or((0..COLUMNS).map(|c| point(c, rng.next())).collect());
    let request = world.request(&plain, FloatOrder::Unstated);
    // The best of some: other programs share this machine.
    let fastest = (0..20).map(|_| ask(&world, &request, 1_000_000)).min_by_key(|r| r.micros);
    let fastest = fastest.unwrap();
    println!("plain: {} us, {} excluded", fastest.micros, fastest.excluded_filter);
    assert_eq!(fastest.status, LookupStatus::Ok);
    assert!(fastest.micros < 10_000, "{} us for {BATCHES} x {COLUMNS} points", fastest.micros);

    let list = |rng: &mut Splitmix| (0..4_096).map(|_| Literal::Unsigned(rng.next())).collect();
    let costly = Predicate::Or(
        (0..COLUMNS).map(|column| Predicate::In { column, list: list(&mut rng) }).collect(),
    );
    let request = world.request(&costly, FloatOrder::Unstated);
    let late = (0..5).map(|_| ask(&world, &request, 10_000)).min_by_key(|r| r.micros).unwrap();
    println!("costly: {:?} after {} us", late.status, late.micros);
    assert_eq!(late.status, LookupStatus::TimedOut);
    assert!(late.micros < 50_000, "{} us of a budget of 10,000", late.micros);
}

#[test]
fn values_that_no_batch_can_hold_are_charged_to_the_clock() {
    let mut rng = Splitmix::from_env(52);
    let mut world = World::new(schema(&[("u64", None, false), ("bytes(16)", None, false)]));
    world.policy.exact_keys_max = 0;
    // Keys at both ends of the domain, nothing between them.
    let cell =
        |key: u64| vec![Some(key.to_le_bytes().to_vec()), Some([key.to_be_bytes(); 2].concat())];
    for batch in 0..64u64 {
        let end = if batch % 2 == 0 { 0 } else { 1 << 60 };
        let rows: Vec<Vec<Cell>> = (0..60).map(|_| cell(end + rng.below(1 << 40))).collect();
        world.add(&rows);
    }
    let snapshot = world.reader.load();
    assert!(snapshot.chunks()[0].columns().iter().all(|column| column.group().is_some()));
    // One value within the bounds of the lower batches, one within those of the upper ones.
    let keys = |i: u64| if i == 0 { 1 << 39 } else { (1 << 41) + i };
    let keys: Vec<u64> = (0..4_095).map(keys).chain([(1 << 60) + (1 << 39)]).collect();
    let wide = |key: &u64| Literal::Bytes([key.to_be_bytes(); 2].concat());
    let lists: [Vec<Literal>; 2] =
        [keys.iter().map(|&key| Literal::Unsigned(key)).collect(), keys.iter().map(wide).collect()];
    for (column, list) in (0..).zip(lists) {
        let request = world.request(&Predicate::In { column, list }, FloatOrder::Unstated);
        let clock = Counted(AtomicU32::new(0));
        let reply = world.evaluator.answer(&request, &snapshot, &clock);
        assert!(reply.excluded_filter > 0, "the groups were asked");
        let asked = clock.0.into_inner();
        assert!(asked > 60, "column {column}: {asked} looks at the clock for 4,096 values");
    }
}
