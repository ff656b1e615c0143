//! All (lo, hi) pairs of a 1,024-key window at the bottom, the middle and the top of the domain.

use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::{Layers, RangePlan};

use crate::built::{Built, FREE};
use crate::seeded::Splitmix;

/// Keys of a window.
const WINDOW: u64 = 1024;

/// `count` keys of the window at `base`; two keys are its ends.
fn keys_in(random: &mut Splitmix, base: u64, count: usize) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..count).map(|_| base + random.below(WINDOW)).collect();
    if count == 2 {
        keys = vec![base, base + (WINDOW - 1)];
    }
    keys
}

/// The windows of a domain: bottom, across the middle, top.
fn windows(layers: &Layers) -> [u64; 3] {
    let max = layers.key_max();
    [0, (max / 2).saturating_sub(WINDOW / 2), max - (WINDOW - 1)]
}

/// For each key of the window, the offset of the first inserted key from it on.
/// `WINDOW`: there is none.
fn next_keys(base: u64, keys: &[u64]) -> Vec<u64> {
    let mut next = vec![WINDOW; WINDOW as usize + 1];
    for at in (0..WINDOW).rev() {
        let here = keys.contains(&(base + at));
        next[at as usize] = if here { at } else { next[at as usize + 1] };
    }
    next
}

/// Every pair of ends in every window, in filters of 0 to 40 keys, fresh and folded.
fn all_pairs(layers: &Layers, random: &mut Splitmix) {
    let mut plan = RangePlan::default();
    for base in windows(layers) {
        let cases: Vec<_> = [0, 1, 2, 5, 40]
            .map(|count| {
                let keys = keys_in(random, base, count);
                let fresh = Built::new(*layers, 60, &keys);
                let folded = fresh.folded(3);
                (next_keys(base, &keys), fresh, folded)
            })
            .into();
        for a in 0..WINDOW {
            for b in a..WINDOW {
                let (lo, hi) = (base + a, base + b);
                plan.build(layers, lo, hi, FREE);
                for (next, fresh, folded) in &cases {
                    let truth = next[a as usize] <= b;
                    fresh.check(&plan, lo, hi, truth);
                    folded.check(&plan, lo, hi, truth);
                }
            }
            // The same at once on every kernel set: every pair in the filter of five keys, every
            // eighth start in the others. What they are held to was held to the truth above.
            let ranges: Vec<_> = (a..WINDOW).map(|b| (base + a, base + b)).collect();
            for (index, (_, fresh, folded)) in cases.iter().enumerate() {
                if index == 3 || a % 8 == index as u64 {
                    fresh.check_many(&ranges);
                }
                if a % 8 == index as u64 {
                    folded.check_many(&ranges);
                }
            }
        }
        let window: Vec<_> = (0..WINDOW).map(|at| base + at).collect();
        for (_, fresh, folded) in &cases {
            fresh.check_keys(&window);
            folded.check_keys(&window);
        }
    }
}

fn all_pairs_of(name: &str, domain_bits: u8, widths: &[u8], exact_top: bool) {
    let mut random = Splitmix::of(name);
    let layers = Layers::new(domain_bits, widths, exact_top, random.next()).expect("valid widths");
    all_pairs(&layers, &mut random);
}

#[test]
fn every_key_is_found_in_two_wide_layers() {
    all_pairs_of("every_key_is_found_in_two_wide_layers", 64, &[7, 7], false);
}

#[test]
fn every_key_is_found_in_three_wide_layers() {
    all_pairs_of("every_key_is_found_in_three_wide_layers", 64, &[7, 7, 7], false);
}

#[test]
fn every_key_is_found_in_narrowing_layers() {
    all_pairs_of("every_key_is_found_in_narrowing_layers", 64, &[7, 4, 2, 2], false);
}

#[test]
fn every_key_is_found_in_layers_of_one_interval_a_word() {
    all_pairs_of(
        "every_key_is_found_in_layers_of_one_interval_a_word",
        64,
        &[1, 1, 1, 1, 2, 3],
        false,
    );
}

#[test]
fn every_key_is_found_in_equal_narrow_layers() {
    all_pairs_of("every_key_is_found_in_equal_narrow_layers", 64, &[2, 2, 2, 2, 2], false);
}

#[test]
fn every_key_is_found_in_widening_layers() {
    all_pairs_of("every_key_is_found_in_widening_layers", 64, &[3, 5, 7], false);
}

#[test]
fn every_key_is_found_in_layers_that_fill_a_small_domain() {
    all_pairs_of("every_key_is_found_in_layers_that_fill_a_small_domain", 10, &[7, 3], false);
}

#[test]
fn every_key_is_found_under_an_exact_top() {
    all_pairs_of("every_key_is_found_under_an_exact_top", 32, &[7, 4, 2, 2, 1], true);
}

#[test]
fn every_key_is_found_in_the_sets_of_the_column_types() {
    let mut random = Splitmix::of("every_key_is_found_in_the_sets_of_the_column_types");
    for domain_bits in [32, 48, 64] {
        let layers = layers_for(domain_bits, random.next());
        all_pairs(&layers, &mut random);
    }
}
