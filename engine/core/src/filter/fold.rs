//! Folding: how far, and exactly. A fold by f ORs f adjacent words (blocks) into one; because a
//! key's word is the upper half of `hash * W`, the result is bit for bit what a build at W / f
//! would have been. Only whole factors fold, so every size here divides the one it came from.
//!
//! Two steps: to the size that the budget pays for, which is known before a word is read, and from
//! there by the fill that is found. So shares are merged, folded and counted in one pass.

use bloomrf_kernels::{Kernel, SizeClasses, words};

/// How far one sealed filter may be folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldLimits<'p> {
    /// The classes there are.
    pub(super) sizes: &'p SizeClasses,
    /// Fill that a fold must not be predicted to pass.
    pub(super) fill_target: f64,
    /// Words that the budget pays for: past it the filter is folded whatever its fill.
    pub(super) words_max: u32,
    /// Words that stay together (8 in a blocked filter, else 1).
    pub(super) granule: usize,
}

impl FoldLimits<'_> {
    /// The factor that takes a filter of `len` words to its budget: the smallest that does.
    fn budget_factor(&self, len: usize) -> usize {
        let classes = self.sizes.words().iter().map(|&words| words as usize);
        let paid = classes
            .filter(|&words| len.is_multiple_of(words) && words.is_multiple_of(self.granule))
            .find(|&words| words <= self.words_max as usize);
        paid.map_or(1, |words| len / words)
    }
}

/// What is stored of the union of open filters of one size, which are left zeroed.
pub(super) fn fold_shares(
    kernel: Kernel,
    shares: &mut [&mut [u64]],
    limits: FoldLimits<'_>,
) -> Box<[u64]> {
    let len = shares.first().map_or(0, |share| share.len());
    let factor = limits.budget_factor(len);
    let mut filter = vec![0; len / factor];
    let ones = words::merge_fold_zero(kernel, shares, limits.granule, factor, &mut filter);
    fold_by_fill(kernel, filter, ones.after, limits)
}

/// What is stored of an open filter, step by step: the reference of [`fold_shares`].
pub(super) fn folded(open: &[u64], limits: FoldLimits<'_>) -> Box<[u64]> {
    let filter = fold_by(open, limits.budget_factor(open.len()), limits.granule);
    let ones = words::ones(Kernel::Scalar, &filter);
    fold_by_fill(Kernel::Scalar, filter, ones, limits)
}

/// Folds on while the fill allows it.
fn fold_by_fill(
    kernel: Kernel,
    mut filter: Vec<u64>,
    mut ones: u64,
    limits: FoldLimits<'_>,
) -> Box<[u64]> {
    loop {
        let len = filter.len();
        let factor = limits.sizes.fold_factor(len, limits.granule, ones, limits.fill_target);
        if factor <= 1 {
            return filter.into();
        }
        let mut folded = vec![0; len / factor];
        ones = words::merge_fold(kernel, &[&filter], limits.granule, factor, &mut folded).after;
        filter = folded;
    }
}

/// The greatest common size of two open filters, in words.
///
/// # Panics
/// Unless both are whole granules.
pub(super) fn common_size(a: usize, b: usize, granule: usize) -> usize {
    let common = common_divisor(a, b);
    assert!(common > 0 && common.is_multiple_of(granule), "open filters are whole blocks");
    common
}

/// `open` folded by `factor`, word by word.
pub(super) fn fold_by(open: &[u64], factor: usize, granule: usize) -> Vec<u64> {
    let mut folded = vec![0; open.len() / factor];
    for (at, &word) in open.iter().enumerate() {
        folded[at / (granule * factor) * granule + at % granule] |= word;
    }
    folded
}

fn common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
