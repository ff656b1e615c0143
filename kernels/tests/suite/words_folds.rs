//! Whole filters on every kernel set: merge, fold and count are those of the reference.

use bloomrf_kernels::words::Ones;
use bloomrf_kernels::{Kernel, scalar, words};

use crate::seeded::Splitmix;

/// Words as they come: empty, full, sparse, dense.
fn random_words(len: usize, random: &mut Splitmix) -> Vec<u64> {
    let kind = random.below(6);
    (0..len)
        .map(|_| match kind {
            0 => 0,
            1 => u64::MAX,
            2 => random.next() & random.next() & random.next(),
            3 => random.next() | random.next(),
            _ => random.next(),
        })
        .collect()
}

/// Word by word, from the definition.
fn naive(shares: &[Vec<u64>], granule: usize, factor: usize, len: usize) -> (Vec<u64>, Ones) {
    let mut union = vec![0; len * factor];
    shares.iter().for_each(|share| (0..share.len()).for_each(|at| union[at] |= share[at]));
    let mut folded = vec![0; len];
    for (at, word) in union.iter().enumerate() {
        folded[at / (granule * factor) * granule + at % granule] |= word;
    }
    let ones = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum();
    let ones = Ones { before: ones(&union), after: ones(&folded) };
    (folded, ones)
}

fn check(len: usize, granule: usize, factor: usize, shares: usize, random: &mut Splitmix) {
    let shares: Vec<_> = (0..shares).map(|_| random_words(len * factor, random)).collect();
    let (folded, ones) = naive(&shares, granule, factor, len);
    for kernel in Kernel::all() {
        let what = format!("{kernel}: {len} words of {granule} by {factor}, {}", shares.len());
        let mut target = random_words(len, random);
        let views: Vec<&[u64]> = shares.iter().map(Vec::as_slice).collect();
        let counted = words::merge_fold(kernel, &views, granule, factor, &mut target);
        assert_eq!((&target, counted), (&folded, ones), "{what}");

        let mut taken = shares.clone();
        let mut views: Vec<&mut [u64]> = taken.iter_mut().map(Vec::as_mut_slice).collect();
        target.fill(7);
        let counted = words::merge_fold_zero(kernel, &mut views, granule, factor, &mut target);
        assert_eq!((&target, counted), (&folded, ones), "zeroing, {what}");
        assert!(taken.iter().flatten().all(|&word| word == 0), "not zeroed, {what}");
    }
}

#[test]
fn merge_and_fold_at_every_size_equals_the_definition() {
    let mut random = Splitmix::of("merge_and_fold_at_every_size_equals_the_definition");
    for len in (0..=200).chain([511, 1_023, 2_049, 4_097]) {
        for factor in [1, 2, 3, 4, 5, 6, 7] {
            check(len, 1, factor, 1 + len % 3, &mut random);
        }
    }
}

#[test]
fn merge_and_fold_by_any_factor_and_granule_equals_the_definition() {
    let mut random = Splitmix::of("merge_and_fold_by_any_factor_and_granule_equals_the_definition");
    for granule in [1, 2, 3, 8, 16, 24] {
        for granules in [0, 1, 2, 3, 5, 15, 17] {
            for factor in (1..=32).chain([45, 64, 77, 120, 375, 2_047, 2_048, 2_049, 4_100]) {
                check(granules * granule, granule, factor, 2, &mut random);
            }
        }
    }
}

#[test]
fn no_share_at_all_is_an_empty_filter() {
    for kernel in Kernel::all() {
        let mut target = [9; 70];
        assert_eq!(words::merge_fold(kernel, &[], 1, 3, &mut target), Ones::default());
        assert_eq!(target, [0; 70]);
    }
}

#[test]
fn folds_in_place_equal_the_reference_at_every_factor() {
    let mut random = Splitmix::of("folds_in_place_equal_the_reference_at_every_factor");
    for factor in (1..=66).chain([120, 375, 1_000, 2_048, 2_049, 5_000]) {
        for len in [0, 1, 2, 7, 8, 9, 40, 61, 120, 700] {
            let filter = random_words(len * factor, &mut random);
            let mut expected = filter.clone();
            scalar::words::fold(&mut expected, factor);
            for kernel in Kernel::all() {
                let mut folded = filter.clone();
                words::fold(kernel, &mut folded, factor);
                assert_eq!(folded, expected, "{kernel}, {len} words by {factor}");
            }
        }
    }
}

#[test]
fn merges_and_counts_equal_the_reference_from_any_alignment() {
    let mut random = Splitmix::of("merges_and_counts_equal_the_reference_from_any_alignment");
    for len in (0..=300).chain([4_096, 4_097]) {
        let (target, source) = (random_words(len + 8, &mut random), random_words(len, &mut random));
        for offset in 0..8 {
            let mut expected = target.clone();
            scalar::words::merge(&mut expected[offset..][..len], &source);
            for kernel in Kernel::all() {
                let mut merged = target.clone();
                words::merge(kernel, &mut merged[offset..][..len], &source);
                assert_eq!(merged, expected, "{kernel}, {len} words at {offset}");
                let counted = words::ones(kernel, &merged[offset..][..len]);
                assert_eq!(counted, scalar::words::ones(&expected[offset..][..len]), "{kernel}");
            }
        }
    }
}

#[test]
fn a_length_that_does_not_fold_is_refused_by_every_kernel() {
    for kernel in Kernel::all() {
        let refused = std::panic::catch_unwind(|| words::fold(kernel, &mut vec![0; 10], 3));
        assert!(refused.is_err(), "{kernel}");
        let refused = std::panic::catch_unwind(|| {
            words::merge_fold(kernel, &[&[0; 12]], 1, 3, &mut [0; 3]);
        });
        assert!(refused.is_err(), "{kernel}");
    }
}
