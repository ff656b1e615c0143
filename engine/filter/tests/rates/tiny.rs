//! Rates too small to be counted: who passes probe j of those who passed the ones before.

use crate::is_full;
use crate::rule::{Bits, DOUBLED, OURS, Passes, Rule, at_least};
use crate::seeded::{Splitmix, mixed};
use crate::shapes::{self, HASHED, NUMBERS, Shape};

use bloomrf_kernels::classic::{self, fpr, shape_for};

/// Filters of `items` items at a rate of 1e-9, asked for other items of the same shape.
fn pass_rates(rule: Rule, shape: &Shape, items: u64, asked: u64, random: &mut Splitmix) -> Passes {
    let classic::Shape { bits, k } = shape_for(items, 1e-9).expect("a rate and a size");
    let mut passes = Passes::new(k);
    for _ in 0..4 {
        let start = random.below(NUMBERS - items - asked);
        let numbered = |i| (shape.item)(start + i);
        let mut filter = Bits::new(rule, k, bits);
        (0..items).for_each(|i| filter.insert(numbered(i)));
        let each = (items..items + asked).map(|i| filter.passed(numbered(i)));
        passes.add(filter.fill(), &at_least(k, each));
    }
    passes
}

fn sizes() -> Vec<u64> {
    if is_full() { (1..=500).collect() } else { vec![1, 2, 3, 7, 20, 50, 140, 500] }
}

#[test]
fn of_filters_for_1_to_500_items_at_1e_9_every_probe_passes_its_share() {
    let mut random =
        Splitmix::of("of_filters_for_1_to_500_items_at_1e_9_every_probe_passes_its_share");
    let mut found = 0.0;
    for shape in shapes::all() {
        for items in sizes() {
            let passes = pass_rates(OURS, shape, items, 10_000, &mut random);
            passes.check().unwrap_or_else(|why| panic!("{}, {items} items: {why}", shape.name));
            found += passes.found();
        }
    }
    // 6.4 million questions in CI, 4 * 10^8 in full.
    assert!(found <= 5.0, "{found} false positives at a rate of 1e-9");
}

#[test]
fn plain_double_hashing_fails_the_same_test() {
    let mut random = Splitmix::of("plain_double_hashing_fails_the_same_test");
    for shape in [&HASHED[0], &HASHED[3]] {
        let mut found = 0.0;
        for items in [20, 50, 140] {
            let passes = pass_rates(DOUBLED, shape, items, 100_000, &mut random);
            let why = passes.check().expect_err("it has a floor");
            println!("{}, {items} items: {why}", shape.name);
            found += passes.found();
        }
        println!("{}: {found} false positives of 1,200,000 at a rate of 1e-9", shape.name);
        assert!(found > 10.0, "{found}: the floor that others have measured");
    }
}

#[test]
fn from_full_to_empty_every_probe_passes_its_share_at_any_size() {
    let mut random = Splitmix::of("from_full_to_empty_every_probe_passes_its_share_at_any_size");
    let asked = if is_full() { 4_000_000 } else { 8_000 };
    // 500 items at 1e-9; 10^6 at 1e-6; past 2^32; 5 * 10^8 at 1e-12; the most there can be.
    for bits in [21_567, 28_755_176, (1 << 32) + 1, 28_755_175_133, classic::BITS_MAX] {
        for fill in [0.5, 0.9] {
            // Bits that no filter has, but a number says: no memory, and independent of any rule.
            let (salt, limit) = (random.next(), (fill * 2f64.powi(64)) as u64);
            let is_set = |at: u64| mixed(at ^ salt) < limit;
            for shape in shapes::all() {
                let start = random.below(NUMBERS - asked);
                let mut passes = Passes::new(40);
                let each = (start..start + asked).map(|i| {
                    let item = (shape.item)(i);
                    (0..40).take_while(|&probe| is_set(OURS(item, probe, bits))).count()
                });
                passes.add(fill_of(bits, fill, is_set), &at_least(40, each));
                let what = format!("{}, {bits} bits, fill {fill}", shape.name);
                passes.check().unwrap_or_else(|why| panic!("{what}: {why}"));
            }
        }
    }
}

/// The share of set bits: counted where they are few.
fn fill_of(bits: u64, fill: f64, is_set: impl Fn(u64) -> bool) -> f64 {
    if bits > 1 << 20 {
        return fill;
    }
    (0..bits).filter(|&at| is_set(at)).count() as f64 / bits as f64
}

#[test]
fn sizes_keep_the_mean_rate_of_the_smallest_filters() {
    for items in 1..=500 {
        let classic::Shape { bits, k } = shape_for(items, 1e-9).expect("a rate and a size");
        let rate = fpr(k, bits, items);
        assert!(rate < 1.3e-9, "{items} items: {rate:e} with {bits} bits");
    }
}
