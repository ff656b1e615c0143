//! Ranges of every octave of width, between keys that lie far apart.
//!
//! Small windows cannot see a level that the search steps over: this is where a gap below the
//! exact top, or a lost interior, shows.

use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::{Answer, Layers, RangePlan};

use crate::built::Built;
use crate::seeded::Splitmix;

/// Enough for any interior that is not plainly over budget.
const PROBES_MAX: u32 = 4096;

/// Sorted keys, and the naive truth about them.
struct Oracle(Vec<u64>);

impl Oracle {
    fn holds(&self, lo: u64, hi: u64) -> bool {
        self.0[self.0.partition_point(|&key| key < lo)..].first().is_some_and(|&key| key <= hi)
    }
}

/// A few keys at random, many of them, keys of every magnitude, and both ends of the domain.
fn key_sets(layers: &Layers, random: &mut Splitmix) -> Vec<Oracle> {
    let unused = 64 - u32::from(layers.domain_bits());
    let mut uniform = |count: usize| (0..count).map(|_| random.next() >> unused).collect();
    let mut sets: Vec<Vec<u64>> = vec![uniform(3), uniform(300)];
    let magnitudes = |&key: &u64| key >> (key % u64::from(layers.domain_bits()));
    sets.push(sets[1].iter().map(magnitudes).collect());
    sets.push(vec![0, layers.key_max()]);
    for keys in &mut sets {
        keys.sort_unstable();
    }
    sets.into_iter().map(Oracle).collect()
}

/// One range: plan and direct search agree, and a key in it is never lost.
fn check(built: &Built, oracle: &Oracle, plan: &mut RangePlan, lo: u64, hi: u64) {
    plan.build(&built.layers, lo, hi, PROBES_MAX);
    let direct = built.range(lo, hi, PROBES_MAX);
    assert_eq!(built.run(plan), direct, "plan of {lo:#x}..={hi:#x}: {:?}", built.layers);
    assert!(
        direct.may_hold() || !oracle.holds(lo, hi),
        "lost {lo:#x}..={hi:#x}: {:?}",
        built.layers
    );
}

/// Ranges around keys and ranges anywhere, 2^octave to 2^(octave+1) keys wide.
fn every_octave(built: &Built, oracle: &Oracle, random: &mut Splitmix) {
    let max = built.layers.key_max();
    let mut plan = RangePlan::default();
    for octave in 0..u32::from(built.layers.domain_bits()) {
        let least = (1u64 << octave) - 1;
        for round in 0..600 {
            let span = least + random.below(least + 1);
            let key = oracle.0[random.below(oracle.0.len() as u64) as usize];
            let around = key.saturating_sub(random.below(span.saturating_add(1)));
            let lo = if round % 3 == 0 { random.below(max) } else { around };
            check(built, oracle, &mut plan, lo, lo.saturating_add(span).min(max));
        }
    }
}

/// Ranges that begin or end at a key, one beside it, or at the ends of an interval around it.
fn every_boundary(built: &Built, oracle: &Oracle) {
    let max = built.layers.key_max();
    let mut plan = RangePlan::default();
    for &key in oracle.0.iter().take(12) {
        for level in 0..u32::from(built.layers.domain_bits()) {
            let low = (1u64 << level) - 1;
            let (first, last) = (key & !low, key | low);
            let starts = [key, first, first.saturating_add(1).min(max), first.saturating_sub(1), 0];
            let ends = [key, last, last.saturating_sub(1), last.saturating_add(1).min(max), max];
            for lo in starts {
                for hi in ends {
                    if lo <= hi {
                        check(built, oracle, &mut plan, lo, hi);
                    }
                }
            }
        }
    }
}

fn wide(layers: Layers, random: &mut Splitmix) {
    for oracle in key_sets(&layers, random) {
        let built = Built::new(layers, 600, &oracle.0);
        for built in [built.folded(5), built] {
            every_octave(&built, &oracle, random);
            every_boundary(&built, &oracle);
        }
    }
}

#[test]
fn no_wide_range_of_64_bit_keys_is_lost() {
    let mut random = Splitmix::of("no_wide_range_of_64_bit_keys_is_lost");
    for widths in [&[7, 7, 7, 7, 4, 4, 2, 2][..], &[7; 8], &[1; 8], &[7]] {
        let layers = Layers::new(64, widths, false, random.next()).expect("valid widths");
        wide(layers, &mut random);
    }
}

#[test]
fn no_wide_range_of_48_bit_keys_is_lost() {
    let mut random = Splitmix::of("no_wide_range_of_48_bit_keys_is_lost");
    let layers = layers_for(48, random.next());
    wide(layers, &mut random);
}

#[test]
fn no_wide_range_under_an_exact_top_is_lost() {
    let mut random = Splitmix::of("no_wide_range_under_an_exact_top_is_lost");
    for widths in [&[6, 3, 3, 2, 2][..], &[7, 4, 2, 2, 1], &[2; 8], &[7, 7, 2]] {
        let layers = Layers::new(32, widths, true, random.next()).expect("valid widths");
        wide(layers, &mut random);
    }
}

#[test]
fn whole_upper_halves_are_answered_exactly_by_the_top() {
    let mut random = Splitmix::of("whole_upper_halves_are_answered_exactly_by_the_top");
    let layers = layers_for(32, random.next());
    let mut keys: Vec<u64> = (0..2_000).map(|_| random.next() >> 32).collect();
    keys.sort_unstable();
    let oracle = Oracle(keys);
    // One hashed word is full: only the top can exclude.
    let built = Built::new(layers, 1, &oracle.0);
    let mut plan = RangePlan::default();
    for _ in 0..20_000 {
        let (a, b) = (random.below(1 << 16), random.below(200));
        let (lo, hi) = (a << 16, ((a + b) << 16 | 0xFFFF).min(layers.key_max()));
        let expected = if oracle.holds(lo, hi) { Answer::Maybe } else { Answer::Absent };
        if a + b > a || !oracle.holds(lo, hi) {
            // No hashed word is read, so no budget is needed.
            assert_eq!(built.range(lo, hi, 0), expected, "{lo:#x}..={hi:#x}");
        }
        plan.build(&layers, lo, hi, 0);
        assert_eq!(built.run(&plan), expected, "{lo:#x}..={hi:#x}");
    }
}

#[test]
fn empty_ranges_are_absent_and_foreign_keys_are_doubt() {
    let layers = layers_for(32, 5);
    let built = Built::new(layers, 60, &[1, 2, 3]);
    let mut plan = RangePlan::default();
    for (lo, hi, expected) in [
        (2, 1, Answer::Absent),
        (u64::MAX, 0, Answer::Absent),
        (1 << 32, 1 << 32, Answer::Maybe),
        (1 << 31, u64::MAX, Answer::Maybe),
    ] {
        plan.build(&layers, lo, hi, 99);
        assert_eq!(built.run(&plan), expected, "{lo:#x}..={hi:#x}");
        assert_eq!(built.range(lo, hi, 99), expected, "{lo:#x}..={hi:#x}");
    }
    assert!(built.contains(1 << 32));
    // A plan that was never built proves nothing either.
    assert_eq!(built.run(&RangePlan::default()), Answer::Maybe);
}
