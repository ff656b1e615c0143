//! Blocked counting filters on every kernel set: the counters, tallies and answers of the scalar
//! reference, and that reference against a multiset.

use std::collections::HashMap;

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, counting};

use crate::seeded::Splitmix;

fn item(random: &mut Splitmix) -> Hash128 {
    Hash128 { lo: random.next(), hi: random.next() }
}

fn bit(found: &[u64], i: usize) -> bool {
    found[i / 64] >> (i % 64) & 1 != 0
}

#[test]
fn every_kernel_counts_up_and_down_and_finds_what_the_reference_does() {
    let mut random = Splitmix::of("every_kernel_counts_up_and_down_and_finds");
    let sizes = (0..70usize).chain((70..2_000).step_by(97)).chain(255..=258);
    for len in sizes {
        let k = 4 + random.below(5) as u32;
        let blocks = if len == 77 { 20_001 } else { 1 + random.below(1 + len as u64 / 6) as usize };
        let pool: Vec<Hash128> = (0..=len / 3).map(|_| item(&mut random)).collect();
        // Few of them often, so that counters stick.
        let mut draw = |from: usize| -> Vec<Hash128> {
            (0..len).map(|_| pool[random.below(from as u64) as usize]).collect()
        };
        let (ups, downs, asked) =
            (draw(pool.len().div_ceil(4)), draw(pool.len()), draw(pool.len()));
        let mut expected = vec![0; 8 * blocks];
        let mut added = counting::Added::default();
        ups.iter().for_each(|&item| added += counting::insert(k, &mut expected, item));
        let full = expected.clone();
        let mut taken = counting::Taken::default();
        let gone = |&item: &Hash128| {
            let one = counting::remove(k, &mut expected, item);
            taken += one;
            one.done == 0
        };
        let refusals: Vec<bool> = downs.iter().map(gone).collect();
        for kernel in Kernel::all() {
            // One word off the start of an allocation.
            let mut words = vec![0; 8 * blocks + 1];
            let words = &mut words[1..];
            assert_eq!(counting::insert_many(kernel, k, words, &ups), added, "{kernel} {len}");
            assert!(*words == full, "{kernel}, k {k}, {len} items, {blocks} blocks");
            let mut refused = vec![u64::MAX; len.div_ceil(64) + 1];
            let now = counting::remove_many(kernel, k, words, &downs, &mut refused);
            assert_eq!(now, taken, "{kernel}, k {k}, {len} items");
            assert!(*words == expected, "{kernel}, k {k}, {len} items, {blocks} blocks");
            let mut found = vec![u64::MAX; len.div_ceil(64) + 1];
            counting::contains_many(kernel, k, words, &asked, &mut found);
            for i in 0..len {
                assert_eq!(bit(&refused, i), refusals[i], "{kernel}, item {i} of {len}");
                let holds = counting::contains(k, &expected, asked[i]);
                assert_eq!(bit(&found, i), holds, "{kernel}, item {i} of {len}");
            }
            assert!((len..found.len() * 64).all(|i| !bit(&found, i) && !bit(&refused, i)));
        }
    }
}

#[test]
fn no_item_that_is_still_owed_is_ever_missed() {
    let mut random = Splitmix::of("no_item_that_is_still_owed_is_ever_missed");
    for k in counting_k() {
        let (mut words, mut owed) = (vec![0; 8 * 12], HashMap::<Hash128, u32>::new());
        let pool: Vec<Hash128> = (0..300).map(|_| item(&mut random)).collect();
        let (mut lost, mut refused) = (0, 0);
        for step in 0..20_000 {
            // Waves, so that it fills and empties; the first items far more often.
            let at = random.below(pool.len() as u64) * random.below(300) / 300;
            let item = pool[at as usize];
            let count = owed.entry(item).or_default();
            if random.below(10) < if step / 1_000 % 2 == 0 { 7 } else { 3 } {
                *count += 1;
                lost += counting::insert(k, &mut words, item).lost;
            } else if *count > 0 {
                *count -= 1;
                let taken = counting::remove(k, &mut words, item);
                assert_eq!(taken.done, 1, "k {k}, step {step}: refused one that was owed");
            } else if !counting::contains(k, &words, item) {
                let before = words.clone();
                assert_eq!(counting::remove(k, &mut words, item), counting::Taken::default());
                assert!(words == before, "a refused removal changed something");
                refused += 1;
            }
            if step % 50 == 0 {
                let missed = owed
                    .iter()
                    .find(|(item, owed)| **owed > 0 && !counting::contains(k, &words, **item));
                assert_eq!(missed, None, "k {k}, step {step}");
            }
        }
        assert!(lost > 100 && refused > 5, "k {k}: {lost} lost, {refused} refused: too tame");
    }
}

fn counting_k() -> std::ops::RangeInclusive<u32> {
    4..=8
}

#[test]
fn twenty_inserts_and_fifteen_removals_leave_the_item_there() {
    let item = Hash128 { lo: 5 << 40, hi: 77 };
    for k in counting_k() {
        let mut words = vec![0; 8];
        let lost: u64 = (0..20).map(|_| counting::insert(k, &mut words, item).lost).sum();
        assert_eq!(lost, 5 * u64::from(k));
        for _ in 0..40 {
            let taken = counting::remove(k, &mut words, item);
            assert_eq!(taken, counting::Taken { done: 1, gone: 0, stuck: 1 });
        }
        assert!(counting::contains(k, &words, item), "stuck for ever");
    }
}

#[test]
fn an_item_has_k_counters_of_its_own_and_they_are_the_same_for_ever() {
    // Part of the stored format: no change of code may change these.
    let item = Hash128 { lo: 0x0123_4567_89AB_CDEF, hi: 0xFEDC_BA98_7654_3210 };
    for k in counting_k() {
        let mut words = vec![0; 8 * 300];
        counting::insert(k, &mut words, item);
        assert_eq!(counting::nonzero(&words), u64::from(k));
    }
    let mut words = vec![0; 8 * 300];
    counting::insert(6, &mut words, item);
    let set = |(at, word): (usize, &u64)| (*word != 0).then_some((at, word.trailing_zeros()));
    let set: Vec<(usize, u32)> = words.iter().enumerate().filter_map(set).collect();
    assert_eq!(set, GOLDEN);
}

const GOLDEN: [(usize, u32); 6] = [(8, 0), (9, 32), (10, 8), (11, 4), (12, 12), (13, 32)];

#[test]
fn measured_rates_are_those_of_the_model() {
    let mut random = Splitmix::of("measured_rates_are_those_of_the_model");
    for (items, fpr) in [(50u64, 0.05), (3_000, 0.02), (20_000, 0.004)] {
        let shape = counting::shape_for(items, fpr).unwrap();
        let theory = counting::fpr(shape.k, shape.blocks, items);
        assert!(theory <= fpr && theory > 0.6 * fpr, "{items}: {theory} of {fpr}");
        let (mut wrong, mut now, mut asked) = (0u64, 0.0, 0);
        let rounds = (100_000 / items).clamp(5, 400);
        for _ in 0..rounds {
            let mut words = vec![0; 8 * shape.blocks as usize];
            let items: Vec<Hash128> = (0..items).map(|_| item(&mut random)).collect();
            counting::insert_many(Kernel::best(), shape.k, &mut words, &items);
            now += counting::fpr_now(shape.k, &words) / rounds as f64;
            for _ in 0..200_000 / rounds {
                wrong += u64::from(counting::contains(shape.k, &words, item(&mut random)));
                asked += 1;
            }
        }
        let measured = wrong as f64 / f64::from(asked);
        let slack = 5.0 * (theory / f64::from(asked)).sqrt() + 0.05 * theory;
        assert!((measured - theory).abs() < slack, "{items}: {measured} of {theory}");
        assert!((now / theory - 1.0).abs() < 0.08, "{items}: {now} of {theory} by the fill");
    }
}

#[test]
fn merged_counters_are_those_of_both_and_stick() {
    let mut random = Splitmix::of("merged_counters_are_those_of_both_and_stick");
    let pool: Vec<Hash128> = (0..30).map(|_| item(&mut random)).collect();
    let mut filters = [vec![0; 24], vec![0; 24], vec![0; 24]];
    for i in 0..400 {
        let item = pool[random.below(30) as usize];
        counting::insert(7, &mut filters[i % 2], item);
        counting::insert(7, &mut filters[2], item);
    }
    let [mut one, other, both] = filters;
    counting::merge(&mut one, &other);
    assert!(one == both);
    assert!(both.iter().any(|word| word >> 60 == 15), "none stuck: too tame");
}

#[test]
fn sizes_that_cannot_be_are_refused_and_grow_with_the_items() {
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(counting::shape_for(10, rate).is_err());
    }
    assert!(counting::shape_for(1 << 40, 0.01).is_err(), "too large");
    let blocks = |n| counting::shape_for(n, 0.01).unwrap().blocks;
    let sizes: Vec<u64> = (0..30).map(|i| blocks(1 << i)).collect();
    assert!(sizes.is_sorted());
}

#[test]
#[should_panic(expected = "expected 4 to 8")]
fn nine_counters_an_item_are_refused() {
    counting::insert_many(Kernel::best(), 9, &mut [0; 8], &[]);
}
