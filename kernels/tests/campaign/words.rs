//! Whole filters: merge, count, fold by every factor, word by word from the definition.

use bloomrf_kernels::words::{self as door, Ones};

use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

pub(crate) fn merge(case: &mut Case<'_>) {
    let length = length(case);
    let target = inputs::words(case, length);
    let source = inputs::words(case, length);
    let expected: Vec<u64> = target.iter().zip(&source).map(|(a, b)| a | b).collect();
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let (mut target, source) = (Placed::words(case, &target), Placed::words(case, &source));
        door::merge(kernel, target.get_mut(), source.get());
        case.same(set, "the union", target.get(), &expected);
        target.assert_guarded("the union");
        case.count(set, length);
    }
}

pub(crate) fn ones(case: &mut Case<'_>) {
    let length = length(case);
    let words = inputs::words(case, length);
    let expected = naive_ones(&words);
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let words = Placed::words(case, &words);
        case.same(set, "set bits", &[door::ones(kernel, words.get())], &[expected]);
        case.count(set, length);
    }
}

pub(crate) fn fold(case: &mut Case<'_>) {
    let length = length(case);
    let factor = inputs::factor(case, length);
    let words = inputs::words(case, length - length % factor);
    let expected = naive_fold(&words, 1, factor);
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let mut folded = words.clone();
        door::fold(kernel, &mut folded, factor);
        case.same(set, &format!("fold by {factor}"), &folded, &expected);
        case.count(set, words.len());
    }
}

pub(crate) fn merge_fold(case: &mut Case<'_>) {
    let granule = match case.below(8) {
        0..3 => 1,
        3..5 => 8,
        5 => 4,
        6 => 1 << case.below(12),
        _ => 1 + case.below(2_048),
    };
    let length = length(case);
    let factor = inputs::factor(case, length / granule);
    // Whole granules of the target whose shares have about `length` words.
    let granules = (length / granule / factor).max(usize::from(case.once_in(4)));
    let target_words = granules * granule;
    let length = target_words * factor;
    let count = case.below(5);
    let shares: Vec<Vec<u64>> = (0..count).map(|_| inputs::words(case, length)).collect();
    let mut union = vec![0; length];
    shares.iter().for_each(|share| union.iter_mut().zip(share).for_each(|(a, b)| *a |= b));
    let expected = naive_fold(&union, granule, factor);
    let ones = Ones { before: naive_ones(&union), after: naive_ones(&expected) };
    let what = format!("{count} shares, granules of {granule} by {factor}");
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let mut taken: Vec<_> = shares.iter().map(|share| Placed::words(case, share)).collect();
        let mut target = Placed::filled(case, target_words, 0x5A, 7);
        let views: Vec<&[u64]> = taken.iter().map(Placed::get).collect();
        let counted = door::merge_fold(kernel, &views, granule, factor, target.get_mut());
        case.same(set, &what, target.get(), &expected);
        case.same(set, "set bits", &[counted], &[ones]);
        target.assert_guarded(&what);

        let mut target = Placed::filled(case, target_words, 0x5A, 7);
        let mut views: Vec<&mut [u64]> = taken.iter_mut().map(Placed::get_mut).collect();
        let counted = door::merge_fold_zero(kernel, &mut views, granule, factor, target.get_mut());
        case.same(set, &what, target.get(), &expected);
        case.same(set, "set bits", &[counted], &[ones]);
        target.assert_guarded(&what);
        for share in &taken {
            assert!(share.get().iter().all(|&word| word == 0), "{kernel}: a share is not zeroed");
            share.assert_guarded("a share");
        }
        // Of the union, by either door.
        case.count(set, 2 * length);
    }
}

/// The length of the visit; now and then that of a whole filter.
fn length(case: &mut Case<'_>) -> usize {
    case.length + if case.once_in(32) { case.below(40_000) } else { 0 }
}

fn naive_ones(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

fn naive_fold(words: &[u64], granule: usize, factor: usize) -> Vec<u64> {
    let mut folded = vec![0; words.len() / factor];
    for (at, word) in words.iter().enumerate() {
        folded[at / (granule * factor) * granule + at % granule] |= word;
    }
    folded
}
