//! Random predicate trees to depth 5 over random schemas and batches, against brute force.

mod lookup_world;
mod truth;

use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::wire::lookup::Candidates;
use bloomrf_oracle::{Expr, FloatRule, matches_row};
use lookup_world::trees::{settled, tree};
use lookup_world::worlds::{extreme_world, world};
use lookup_world::{Splitmix, World};

const WORLDS: u64 = 120;
const TREES: u64 = 60;
const ORDERS: [FloatOrder; 3] = [FloatOrder::Unstated, FloatOrder::Ieee, FloatOrder::Total];

fn each_tree(default_seed: u64, mut body: impl FnMut(&mut World, &Predicate, &mut Splitmix)) {
    let mut rng = Splitmix::from_env(default_seed);
    for _ in 0..WORLDS {
        let (mut world, pools) = world(&mut rng);
        for _ in 0..TREES {
            let predicate = tree(&pools, 5, &mut rng);
            body(&mut world, &predicate, &mut rng);
        }
    }
}

#[test]
fn random_trees_exclude_no_batch_with_a_matching_row() {
    let (mut excluded, mut excludable) = (0u32, 0u32);
    each_tree(11, |world, predicate, rng| {
        let order = *rng.pick(&ORDERS);
        let reply = world.ask(predicate, order);
        let readings: Vec<Expr> =
            [true, false].iter().filter_map(|&t| truth::expr(&settled(predicate, t))).collect();
        for batch in 0..world.rows.len() {
            let matches = readings.iter().any(|expr| world.truly_matches(batch, expr, order));
            excludable += u32::from(!matches);
            excluded += u32::from(reply.is_excluded(batch));
            assert!(
                !(matches && reply.is_excluded(batch)),
                "FALSE NEGATIVE in batch {batch} under {order:?}: {predicate:?}\nrows {:?}",
                world.rows[batch].1
            );
        }
    });
    println!("{excluded} of {excludable} excluded");
    // Sound and useless would be easy.
    assert!(f64::from(excluded) > 0.6 * f64::from(excludable), "{excluded} of {excludable}");
}

#[test]
fn settings_at_their_ends_exclude_no_batch_with_a_matching_row() {
    let mut rng = Splitmix::from_env(15);
    let mut excluded = 0u32;
    for _ in 0..WORLDS {
        let (mut world, pools) = extreme_world(&mut rng);
        for _ in 0..TREES {
            let predicate = settled(&tree(&pools, 3, &mut rng), rng.one_in(2));
            let reply = world.check(&predicate, *rng.pick(&ORDERS));
            excluded += reply.excluded_filter;
        }
    }
    assert!(excluded > 1_000, "{excluded}: filters that never exclude prove little");
}

#[test]
fn true_false_and_unknown_rows_of_kept_batches_are_all_rows() {
    each_tree(12, |world, predicate, rng| {
        let predicate = settled(predicate, rng.one_in(2));
        let order = *rng.pick(&ORDERS);
        let negated = Predicate::Not(Box::new(predicate.clone()));
        let kept = world.ask(&predicate, order);
        let kept_negated = world.ask(&negated, order);
        let expr = truth::expr(&predicate).unwrap();
        for &rule in truth::float_rules(order) {
            let all = |_: usize| true;
            let in_kept = |i: usize| !kept.is_excluded(i);
            let in_kept_negated = |i: usize| !kept_negated.is_excluded(i);
            let is_true = count(world, &expr, rule, Some(true), in_kept);
            let is_false = count(world, &expr, rule, Some(false), in_kept_negated);
            let unknown = count(world, &expr, rule, None, all);
            assert_eq!(is_true, count(world, &expr, rule, Some(true), all), "{predicate:?}");
            assert_eq!(is_false, count(world, &expr, rule, Some(false), all), "{predicate:?}");
            let rows: usize = world.rows.iter().map(|(_, rows)| rows.len()).sum();
            assert_eq!(is_true + is_false + unknown, rows, "{predicate:?}");
        }
    });
}

/// Rows of the batches in `among` for which the expression is `wanted`.
fn count(
    world: &World,
    expr: &Expr,
    rule: FloatRule,
    wanted: Option<bool>,
    among: impl Fn(usize) -> bool,
) -> usize {
    let kept = world.rows.iter().enumerate().filter(|(i, _)| among(*i));
    kept.flat_map(|(_, (_, rows))| rows)
        .filter(|row| matches_row(expr, row, rule) == wanted)
        .count()
}

#[test]
fn bits_belong_to_candidates_as_sent_in_any_order_with_duplicates_and_unknown_ids() {
    each_tree(13, |world, predicate, rng| {
        let all = world.ask(predicate, FloatOrder::Unstated);
        let batches = world.rows.len() as u64;
        let ids: Vec<u64> = (0..rng.below(40)).map(|_| rng.below(batches + 4)).collect();
        let mut request = world.request(predicate, FloatOrder::Unstated);
        request.candidates = Candidates::List(ids.clone());
        let reply = world.answer(&request);
        let known = |id: u64| id >= 1 && id <= batches;
        assert_eq!(reply.evaluated as usize, ids.iter().filter(|&&id| known(id)).count());
        for (i, &id) in ids.iter().enumerate() {
            let expected = known(id) && all.is_excluded(id as usize - 1);
            assert_eq!(reply.is_excluded(i), expected, "candidate {i}, batch {id}");
        }
    });
}

#[test]
fn explain_agrees_with_answer_bit_for_bit() {
    each_tree(14, |world, predicate, rng| {
        let order = *rng.pick(&ORDERS);
        let reply = world.ask(predicate, order);
        let explained = world.explain(predicate, order);
        assert_eq!(explained.len(), reply.candidates as usize);
        for (i, explain) in explained.iter().enumerate() {
            assert_eq!(explain.outcome.is_excluded(), reply.is_excluded(i), "{predicate:?}");
        }
        let by_zone = explained
            .iter()
            .filter(|e| e.outcome == bloomrf_engine::lookup::Outcome::ExcludedZoneMap)
            .count();
        assert_eq!(by_zone, reply.excluded_zone_map as usize);
    });
}
