//! The slowest questions that the limits allow, as bytes: over UDP what fits a datagram, over TCP
//! what fits a message. From the first byte read to the last one written each takes its budget
//! and a constant, whatever it asks.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod lookup_world;
mod truth;

use std::time::Instant;

use bloomrf_engine::env::Clock;
use bloomrf_engine::limits::{CANDIDATES_MAX, DATAGRAM_BYTES_MAX, LOOKUP_BYTES_MAX};
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::wire::lookup::{Candidates, IdRange, LookupRequest, reply_bytes};
use lookup_world::{CLUSTER, Cell, Splitmix, World, check_counts, schema};

const BATCHES: u32 = 512;
const COLUMNS: u16 = 12;
/// Wide columns, of 16 bytes.
const WIDE: u16 = 4;
/// The node's budget in these tests, microseconds.
const BUDGET_US: u64 = 1_000;

struct Real(Instant);

impl Clock for Real {
    fn now_ns(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
    fn unix_us(&self) -> i64 {
        0
    }
}

fn world(rng: &mut Splitmix) -> World {
    let mut columns = vec![("u64", None, false); usize::from(COLUMNS)];
    columns.extend(vec![("bytes(16)", None, false); usize::from(WIDE)]);
    let mut world = World::new(schema(&columns));
    for _ in 0..BATCHES {
        let row = |rng: &mut Splitmix| -> Vec<Cell> {
            let narrow: Vec<Cell> =
                (0..COLUMNS).map(|_| Some(rng.next().to_le_bytes().to_vec())).collect();
            let wide = (0..WIDE).map(|_| Some([rng.next().to_be_bytes(); 2].concat()));
            narrow.into_iter().chain(wide).collect()
        };
        let rows: Vec<Vec<Cell>> = (0..8).map(|_| row(rng)).collect();
        world.add(&rows);
    }
    world
}

fn value(rng: &mut Splitmix) -> Literal {
    Literal::Unsigned(rng.next())
}

fn list(rng: &mut Splitmix, n: usize) -> Vec<Literal> {
    (0..n).map(|_| value(rng)).collect()
}

/// A narrow range somewhere in the middle: as many probes as a range may take.
fn range(rng: &mut Splitmix, column: u16) -> Predicate {
    let low = rng.next() >> 1;
    let high = low + (1 << (8 + rng.below(40)));
    Predicate::Between { column, low: Literal::Unsigned(low), high: Literal::Unsigned(high) }
}

/// Questions of `bytes` bytes at most, each of them slow in its own way.
fn predicates(rng: &mut Splitmix, bytes: usize) -> Vec<(&'static str, Predicate)> {
    let values = bytes / 9 - 2;
    let lists = values.div_ceil(4_096).min(4);
    let per_list = (values / lists).min(4_096);
    let column = |i: usize| (i % usize::from(COLUMNS)) as u16;
    let any = |n: usize, leaf: &mut dyn FnMut(usize) -> Predicate| {
        Predicate::Or((0..n).map(leaf).collect())
    };
    let nest = |leaf: Predicate| {
        let inner = (0..19).fold(leaf, |p, i| match i % 2 {
            0 => Predicate::Or(vec![p]),
            _ => Predicate::Not(Box::new(Predicate::Not(Box::new(p)))),
        });
        Predicate::And(vec![inner])
    };
    let mut all = vec![
        ("one list of values", {
            let mut leaf = |i| Predicate::In { column: column(i), list: list(rng, per_list - 1) };
            any(lists, &mut leaf)
        }),
        ("no value of a list", {
            let list = list(rng, per_list - 1);
            Predicate::Not(Box::new(Predicate::In { column: 0, list }))
        }),
        ("many ranges", any((bytes / 25 - 1).min(1_000), &mut |i| range(rng, column(i)))),
        (
            "many points",
            any((bytes / 17 - 1).min(1_000), &mut |i| Predicate::Compare {
                column: column(i),
                op: CompareOp::Eq,
                literal: value(rng),
            }),
        ),
        (
            "many nulls",
            any((bytes / 7 - 2).min(1_000), &mut |i| Predicate::IsNull { column: column(i) }),
        ),
        ("wide values", {
            let n = (bytes / 19 - 2).min(4_096);
            let wide = |rng: &mut Splitmix| Literal::Bytes([rng.next().to_be_bytes(); 2].concat());
            Predicate::In { column: COLUMNS, list: (0..n).map(|_| wide(rng)).collect() }
        }),
        ("the least literals", {
            let n = (bytes / 3 - 4).min(4_096);
            Predicate::In { column: 0, list: vec![Literal::Bytes(Vec::new()); n] }
        }),
    ];
    all.push(("depth", nest(range(rng, 3))));
    all
}

/// Candidates of at most `bytes` bytes, all of which may be held.
fn candidates(rng: &mut Splitmix, bytes: usize) -> Vec<(&'static str, Candidates)> {
    let n = (bytes / 2).min(CANDIDATES_MAX);
    let ranges = (bytes / 12).min(170_000);
    let mut shuffled: Vec<u64> = (0..n).map(|_| 1 + rng.below(u64::from(BATCHES))).collect();
    shuffled.reverse();
    let id = |rng: &mut Splitmix| 1 + rng.below(u64::from(BATCHES));
    vec![
        ("a list in no order", Candidates::List(shuffled)),
        (
            "ranges of one",
            Candidates::Ranges(
                (0..ranges.min(CANDIDATES_MAX))
                    .map(|_| IdRange { first: id(rng), count: 1 })
                    .collect(),
            ),
        ),
        (
            "empty ranges",
            Candidates::Ranges((0..ranges).map(|_| IdRange { first: id(rng), count: 0 }).collect()),
        ),
    ]
}

/// Microseconds from request bytes to reply bytes; the best of some, since others share the
/// machine.
fn took_us(world: &World, bytes: &[u8]) -> u64 {
    let mut evaluator = Evaluator::new(LookupConfig {
        cluster: CLUSTER,
        schema: world.schema.clone(),
        probes_max: 256,
        budget_us: BUDGET_US as u32,
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
    });
    let snapshot = world.reader.load();
    let mut out = Vec::with_capacity(LOOKUP_BYTES_MAX);
    (0..8)
        .map(|_| {
            let begin = Instant::now();
            let request = LookupRequest::parse(bytes).unwrap();
            let reply = evaluator.answer(&request, &snapshot, &Real(begin));
            out.clear();
            reply.encode(&mut out);
            let took = begin.elapsed();
            check_counts(&reply);
            took.as_micros() as u64
        })
        .min()
        .unwrap()
}

fn encoded(world: &World, candidates: Candidates, predicate: &Predicate) -> Vec<u8> {
    let mut request = world.request(predicate, FloatOrder::Unstated);
    request.candidates = candidates;
    let mut bytes = Vec::new();
    request.encode(&mut bytes, false);
    bytes
}

fn all_batches() -> Candidates {
    Candidates::Range { first: 1, count: BATCHES }
}

/// The slowest of all pairs, over its budget; every question is legal and fits `bytes_max`.
fn slowest_us(world: &World, rng: &mut Splitmix, bytes_max: usize) -> u64 {
    let mut slowest = 0;
    let mut judge = |what: &str, bytes: &[u8]| {
        assert!(bytes.len() <= bytes_max, "{what}: {} bytes", bytes.len());
        let took = took_us(world, bytes);
        println!("{:>8} bytes {took:>6} us  {what}", bytes.len());
        slowest = slowest.max(took);
    };
    for (what, predicate) in predicates(rng, bytes_max - 120) {
        judge(what, &encoded(world, all_batches(), &predicate));
    }
    let point = Predicate::Compare { column: 0, op: CompareOp::Eq, literal: value(rng) };
    for (what, candidates) in candidates(rng, bytes_max - 120) {
        assert!(reply_bytes(candidates.len()) <= bytes_max);
        judge(what, &encoded(world, candidates, &point));
    }
    // Both at once, half the bytes each.
    let (_, most) = candidates(rng, bytes_max / 2 - 120).swap_remove(0);
    for (what, predicate) in predicates(rng, bytes_max / 2 - 120) {
        judge(&format!("{what}, a list in no order"), &encoded(world, most.clone(), &predicate));
    }
    slowest.saturating_sub(BUDGET_US)
}

#[test]
fn the_slowest_datagram_takes_its_budget_and_little_more() {
    let mut rng = Splitmix::from_env(61);
    let world = world(&mut rng);
    let over = slowest_us(&world, &mut rng, DATAGRAM_BYTES_MAX);
    assert!(over < OVER_DATAGRAM_US, "{over} us over the budget");
}

#[test]
fn the_slowest_message_over_tcp_takes_its_budget_and_a_constant() {
    let mut rng = Splitmix::from_env(62);
    let world = world(&mut rng);
    let over = slowest_us(&world, &mut rng, LOOKUP_BYTES_MAX);
    assert!(over < OVER_MESSAGE_US, "{over} us over the budget");
}

/// Parsing, normalising and a window's worth of questions, of a datagram: some microseconds where
/// the machine is idle and the build optimised.
const OVER_DATAGRAM_US: u64 = 1_000;
/// The same of a message of 2 MiB, every byte of which is looked at, and every candidate.
const OVER_MESSAGE_US: u64 = 60_000;
