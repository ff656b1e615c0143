//! The probe budget: the question decides, direct search and plan alike.

use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::plan::{Probe, Step, TopBits};
use bloomrf_kernels::{Answer, Layers, RangePlan};

use crate::built::{Built, FREE};
use crate::seeded::Splitmix;

/// Hashed words that a plan may read, counted from its list.
fn hashed_probes(plan: &RangePlan) -> u32 {
    let reads =
        |p: &&Probe| !p.exact && !matches!(p.step, Step::EndLeft | Step::EndRight | Step::Yes);
    plan.probes().iter().filter(reads).count() as u32
}

#[test]
fn a_range_is_over_budget_exactly_when_its_plan_has_more_probes() {
    let mut random = Splitmix::of("a_range_is_over_budget_exactly_when_its_plan_has_more_probes");
    let sets = [
        layers_for(32, random.next()),
        layers_for(48, random.next()),
        layers_for(64, random.next()),
        Layers::new(64, &[1, 2, 7], false, random.next()).expect("valid widths"),
    ];
    for layers in sets {
        let unused = 64 - u32::from(layers.domain_bits());
        let keys: Vec<u64> = (0..50).map(|_| random.next() >> unused).collect();
        let built = Built::new(layers, 120, &keys);
        let mut plan = RangePlan::default();
        for _ in 0..4_000 {
            let key = keys[random.below(50) as usize];
            let span = random.next() >> (unused as u64 + 20 + random.below(u64::from(44 - unused)));
            let lo = key.saturating_sub(random.below(span.saturating_add(1)));
            let hi = lo.saturating_add(span).min(layers.key_max());
            plan.build(&layers, lo, hi, 1 << 20);
            if built.run(&plan) == Answer::OverBudget {
                continue;
            }
            let needed = hashed_probes(&plan);
            for probes_max in needed.saturating_sub(2)..=needed + 2 {
                plan.build(&layers, lo, hi, probes_max);
                let answer = built.run(&plan);
                assert_eq!(answer == Answer::OverBudget, needed > probes_max);
                assert_eq!(built.range(lo, hi, probes_max), answer, "{lo:#x}..={hi:#x}");
                assert!(plan.probes().len() <= (probes_max + 1_100) as usize);
            }
        }
    }
}

#[test]
fn the_whole_domain_neither_hangs_nor_fills_memory() {
    let narrowest = Layers::new(64, &[1], false, 1).expect("valid widths");
    for layers in [20, 48, 64].map(|bits| layers_for(bits, 1)).into_iter().chain([narrowest]) {
        let built = Built::new(layers, 120, &[7]);
        let mut plan = RangePlan::default();
        for (lo, hi) in [(0, layers.key_max()), (1, layers.key_max()), (0, layers.key_max() - 1)] {
            plan.build(&layers, lo, hi, 256);
            assert!(built.run(&plan).may_hold());
            assert_eq!(built.run(&plan), built.range(lo, hi, 256));
            assert!(plan.probes().len() <= 300);
        }
    }
}

#[test]
fn an_exact_top_answers_any_range_within_the_default_budget() {
    let layers = layers_for(32, 1);
    let mut random = Splitmix::of("an_exact_top_answers_any_range_within_the_default_budget");
    let mut plan = RangePlan::default();
    for _ in 0..20_000 {
        let (a, b) = (random.next() >> 32, random.next() >> 32);
        plan.build(&layers, a.min(b), a.max(b), 256);
        assert_ne!(plan.run(&[0], TopBits::List(&[])), Answer::OverBudget);
    }
}

#[test]
fn a_point_takes_one_probe_a_layer() {
    for bits in [32, 48, 64] {
        let layers = layers_for(bits, 1);
        let mut plan = RangePlan::default();
        plan.build(&layers, 12_345, 12_345, FREE);
        assert_eq!(hashed_probes(&plan), layers.hashed().len() as u32);
    }
}

#[test]
fn words_that_are_missing_read_as_found() {
    let layers = layers_for(32, 1);
    let none = Built { layers, hashed: vec![], top: vec![], list: vec![] };
    assert!(none.contains(9));
    assert_eq!(none.range(5, 90_000, 256), Answer::Maybe);
    let mut plan = RangePlan::default();
    plan.build(&layers, 5, 90_000, 256);
    assert_eq!(plan.run(&[], TopBits::None), Answer::Maybe);
    // The hashed words alone may still prove absence.
    assert_eq!(plan.run(&[0; 60], TopBits::None), Answer::Absent);
    assert_eq!(plan.run(&[], TopBits::Bitmap(&[])), Answer::Maybe);
}
