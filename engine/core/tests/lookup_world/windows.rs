//! The exhaustive suite of one column type: all pairs (lo, hi) of a window of neighbouring
//! values, and random wide ranges between keys that lie far apart, in every octave of width.

use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{ByteOrder, ColumnType};
use bloomrf_oracle::{Expr, FloatRule, Op, Value, matches_row};

use super::domain::{cell, last, literal, nan};
use super::{Cell, Splitmix, World, schema};
use crate::truth;

/// Keys of a batch that lie in the window.
const COUNTS: [usize; 5] = [0, 1, 2, 5, 40];
/// Values of a window: words of 64 intervals and parents of 128 end inside.
const WINDOW: u128 = 288;

/// Where the window lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Bottom,
    Middle,
    Top,
}

/// Runs the suite for one type in one byte order.
pub(crate) fn exhaust(name: &str, kind: ColumnType, order: Option<ByteOrder>, seed: u64) {
    // Another stream for every type and order, from one seed.
    let stream = name.bytes().fold(seed, |s, b| s.wrapping_mul(31) + u64::from(b));
    let mut rng = Splitmix::new(stream ^ u64::from(order == Some(ByteOrder::Big)) << 60);
    for part in [Part::Bottom, Part::Middle, Part::Top] {
        window(name, kind, order, part, &mut rng);
    }
    octaves(name, kind, order, &mut rng);
}

fn base(kind: ColumnType, part: Part) -> u128 {
    let room = (last(kind) + u128::from(last(kind) < u128::MAX)).saturating_sub(WINDOW);
    match part {
        Part::Bottom => 0,
        // The middle is where signs change, and the window reaches over it by some.
        Part::Middle => (last(kind) / 2).saturating_sub(WINDOW / 2 - 13).min(room),
        Part::Top => room,
    }
}

/// Batches of few keys in the window: with keys at both ends of the domain or not, with null and
/// NaN or not, with filters that are folded far or not at all.
fn batches(world: &mut World, kind: ColumnType, window: &[u128], rng: &mut Splitmix) {
    for count in COUNTS {
        for far in [false, true] {
            // Not folded; folded far; a plain Bloom filter, equality only.
            for (opened_for, levels) in [(1, 4), (200_000, 4), (200_000, 1)] {
                world.policy.budget.levels = levels;
                let mut rows: Vec<Vec<Cell>> =
                    (0..count).map(|_| vec![Some(cell(kind, *rng.pick(window)))]).collect();
                if far {
                    rows.push(vec![Some(cell(kind, 0))]);
                    rows.push(vec![Some(cell(kind, last(kind)))]);
                }
                if count % 2 == 1 || levels == 1 {
                    rows.push(vec![None]);
                }
                if kind.is_float() && count != 2 {
                    rows.push(vec![Some(nan(kind, rng))]);
                }
                world.add_sized(&rows, opened_for);
            }
        }
    }
}

fn window(name: &str, kind: ColumnType, order: Option<ByteOrder>, part: Part, rng: &mut Splitmix) {
    let first = base(kind, part);
    let width = WINDOW.min(last(kind).saturating_add(1));
    let window: Vec<u128> = (first..=first + (width - 1)).collect();
    let literals: Vec<Literal> = window.iter().map(|&x| literal(kind, x)).collect();
    let mut world = World::new(schema(&[(name, order, true)]));
    batches(&mut world, kind, &window, rng);
    let matching_from = matching_from(&world, &literals);
    let (mut empty, mut by_zone, mut by_filter) = (0, 0, 0);
    for (lo, low) in literals.iter().enumerate() {
        for (hi, high) in literals.iter().enumerate().skip(lo) {
            let predicate = Predicate::Between { column: 0, low: low.clone(), high: high.clone() };
            let reply = world.ask(&predicate, FloatOrder::Unstated);
            by_zone += reply.excluded_zone_map;
            by_filter += reply.excluded_filter;
            for (batch, from) in matching_from.iter().enumerate() {
                let matches = hi >= from[lo];
                empty += u32::from(!matches);
                assert!(
                    !(matches && reply.is_excluded(batch)),
                    "FALSE NEGATIVE: {name} {order:?} {part:?} batch {batch} {predicate:?}"
                );
            }
            if rng.one_in(64) {
                for stated in other_forms(low, high) {
                    for order in [FloatOrder::Unstated, FloatOrder::Ieee, FloatOrder::Total] {
                        world.check(&stated, order);
                        world.check(&Predicate::Not(Box::new(stated.clone())), order);
                    }
                }
            }
        }
    }
    // A filter that found everything would be sound and useless.
    let asked = empty - by_zone;
    println!("{name} {order:?} {part:?}: {empty} empty, {asked} asked, {by_filter} excluded");
    let least = least_share(kind);
    assert!(f64::from(by_filter) >= f64::from(asked) * least, "{name} {part:?} excludes too few");
}

/// The least share of empty ranges between the bounds of a zone map that a filter excludes. Most
/// of them lie right beside a key, where a bloomRF is at its weakest; wide columns are asked for
/// points only.
fn least_share(kind: ColumnType) -> f64 {
    match kind {
        _ if kind.width() <= 2 => 1.0,
        ColumnType::Bytes(_) | ColumnType::Ipv6 | ColumnType::Uuid => 0.005,
        _ => 0.05,
    }
}

/// Per batch and index of the lower bound: the least index of an upper bound with which a row
/// matches. From the oracle's own comparisons; both bounds under one rule at a time.
fn matching_from(world: &World, literals: &[Literal]) -> Vec<Vec<usize>> {
    let rules = truth::float_rules(FloatOrder::Unstated);
    let least = |batch| {
        let by_rule = rules.iter().map(|&rule| matching_under(world, literals, batch, rule));
        by_rule.reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect())
    };
    (0..world.rows.len()).map(|batch| least(batch).expect("there are rules")).collect()
}

fn matching_under(
    world: &World,
    literals: &[Literal],
    batch: usize,
    rule: FloatRule,
) -> Vec<usize> {
    let holds = |op, row: &[Value], literal: &Literal| {
        let expr = Expr::Compare(0, op, truth::value(literal));
        matches_row(&expr, row, rule) == Some(true)
    };
    let rows = &world.rows[batch].1;
    // A value is at or below all literals from some one on, or (NaN) all of them or none.
    let first_le: Vec<usize> = rows
        .iter()
        .map(|row| literals.iter().position(|l| holds(Op::Le, row, l)).unwrap_or(usize::MAX))
        .collect();
    let from = |low| {
        let above = rows.iter().zip(&first_le).filter(|(row, _)| holds(Op::Ge, row, low));
        above.map(|(_, &first)| first).min().unwrap_or(usize::MAX)
    };
    literals.iter().map(from).collect()
}

/// The same bounds in other words.
fn other_forms(low: &Literal, high: &Literal) -> Vec<Predicate> {
    let compare =
        |op, literal: &Literal| Predicate::Compare { column: 0, op, literal: literal.clone() };
    vec![
        Predicate::Between { column: 0, low: low.clone(), high: high.clone() },
        Predicate::And(vec![compare(CompareOp::Gt, low), compare(CompareOp::Lt, high)]),
        Predicate::Or(vec![compare(CompareOp::Lt, low), compare(CompareOp::Gt, high)]),
        compare(CompareOp::Le, low),
        compare(CompareOp::Ge, high),
        compare(CompareOp::Eq, low),
        compare(CompareOp::Ne, high),
        Predicate::In { column: 0, list: vec![high.clone(), low.clone(), high.clone()] },
    ]
}

/// Random ranges of every octave of width between keys that lie far apart.
fn octaves(name: &str, kind: ColumnType, order: Option<ByteOrder>, rng: &mut Splitmix) {
    let mut world = World::new(schema(&[(name, order, true)]));
    let end = last(kind);
    let random =
        |rng: &mut Splitmix| if end == u128::MAX { rng.wide() } else { rng.wide() % (end + 1) };
    let mut keys = Vec::new();
    for count in [2, 40] {
        for opened_for in [1, 200_000] {
            let mut ordinals: Vec<u128> = (0..count).map(|_| random(rng)).collect();
            ordinals.extend([0, end]);
            let rows: Vec<Vec<Cell>> =
                ordinals.iter().map(|&x| vec![Some(cell(kind, x))]).collect();
            world.add_sized(&rows, opened_for);
            keys.extend(ordinals);
        }
    }
    let octaves = 128 - end.leading_zeros();
    for octave in 0..octaves {
        for _ in 0..12 {
            let width = (1u128 << octave) | (rng.wide() & ((1u128 << octave) - 1));
            let key = *rng.pick(&keys);
            // From anywhere; from a key; just past a key; up to a key; just short of one.
            let below = key.saturating_sub(width);
            for lo in [random(rng), key, key.saturating_add(1), below, below.saturating_sub(1)] {
                let lo = lo.min(end);
                let hi = lo.saturating_add(width - 1).min(end);
                let (low, high) = (literal(kind, lo), literal(kind, hi));
                world.check(&Predicate::Between { column: 0, low, high }, FloatOrder::Unstated);
            }
        }
    }
}
