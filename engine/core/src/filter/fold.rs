//! Folding: how far, and exactly. A fold by f ORs f adjacent words (blocks) into one; because a
//! key's word is the upper half of `hash * W`, the result is bit for bit what a build at W / f
//! would have been. Only whole factors fold, so every size here divides the one it came from.

use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::scalar::{blocked, words};

/// How far one sealed filter may be folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldLimits {
    /// Fill that a fold must not be predicted to pass.
    pub(super) fill_target: f64,
    /// Words that the budget pays for: past it the filter is folded whatever its fill.
    pub(super) words_max: u32,
    /// Words that stay together (8 in a blocked filter, else 1).
    pub(super) granule: usize,
}

/// Folds an open filter to what is stored of it.
pub(super) fn fold_to_budget(filter: &mut Vec<u64>, sizes: &SizeClasses, limits: FoldLimits) {
    loop {
        let len = filter.len();
        let ones = words::ones(filter);
        let by_fill = len / sizes.fold_factor(len, limits.granule, ones, limits.fill_target);
        // Chosen from the size it has now: a size in between may not fold to the one paid for.
        let max = by_fill.min(limits.words_max as usize);
        let Some(stored) = classes(sizes, len, limits.granule).find(|&words| words <= max) else {
            return;
        };
        fold_by(filter, len / stored, limits.granule);
        if stored == len {
            return;
        }
    }
}

/// ORs `source` into `target`, folding whichever is larger: both to their greatest common size.
/// `target` keeps that size.
pub(super) fn merge_folded(target: &mut Vec<u64>, source: &[u64], granule: usize) {
    if target.len() == source.len() {
        words::merge(target, source);
        return;
    }
    let common = common_divisor(target.len(), source.len());
    assert!(common > 0 && common.is_multiple_of(granule), "open filters are whole blocks");
    fold_by(target, target.len() / common, granule);
    let span = granule * (source.len() / common);
    for (at, &word) in source.iter().enumerate() {
        target[at / span * granule + at % granule] |= word;
    }
}

fn fold_by(filter: &mut Vec<u64>, factor: usize, granule: usize) {
    match (factor, granule) {
        (0 | 1, _) => {}
        (_, 1) => words::fold(filter, factor),
        _ => blocked::fold(filter, factor),
    }
}

/// The classes that `len` words fold to, largest first.
fn classes(sizes: &SizeClasses, len: usize, granule: usize) -> impl Iterator<Item = usize> + '_ {
    sizes
        .words()
        .iter()
        .map(|&words| words as usize)
        .filter(move |&words| len.is_multiple_of(words) && words.is_multiple_of(granule))
}

fn common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
