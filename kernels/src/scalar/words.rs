//! Hot path: no allocation, no lock, no syscall; one pass over the words.
//!
//! Whole-filter operations on plain words: merge, fold, count.

use super::count::ones_in;
use crate::words::blocks::{self, Blocks};

/// ORs `source` into `target`.
///
/// # Panics
/// Unless both have the same length.
pub fn merge(target: &mut [u64], source: &[u64]) {
    assert_eq!(target.len(), source.len(), "merged filters have one size");
    for (t, s) in target.iter_mut().zip(source) {
        *t |= s;
    }
}

/// Folds in place by ORing `factor` adjacent words into one.
/// `fold(build(W), f) == build(W / f)`, bit for bit.
///
/// # Panics
/// Unless `factor` divides the length.
pub fn fold(words: &mut Vec<u64>, factor: usize) {
    assert!(
        factor > 0 && words.len().is_multiple_of(factor),
        "{} words do not fold by {factor}",
        words.len()
    );
    fold_granules(words, 1, factor);
    words.truncate(words.len() / factor);
}

/// Folds in place by `factor` granules of `granule` words, into the first words. Sources never lie
/// before their target, so none is overwritten unread.
fn fold_granules(words: &mut [u64], granule: usize, factor: usize) {
    match (granule, factor) {
        (_, 1) => {}
        (1, 2) => fold_words::<2>(words),
        (1, 3) => fold_words::<3>(words),
        (1, 4) => fold_words::<4>(words),
        (1, 5) => fold_words::<5>(words),
        (1, _) => {
            for target in 0..words.len() / factor {
                let sources = &words[target * factor..][..factor];
                words[target] = sources.iter().fold(0, |all, w| all | w);
            }
        }
        _ => {
            for target in 0..words.len() / factor {
                let first = target / granule * granule * factor + target % granule;
                words[target] =
                    (0..factor).fold(0, |all, source| all | words[first + source * granule]);
            }
        }
    }
}

/// The small factors, where a loop over each few words would cost more than its reads.
fn fold_words<const N: usize>(words: &mut [u64]) {
    for target in 0..words.len() / N {
        if let Some(sources) = words[target * N..].first_chunk::<N>() {
            words[target] = sources.iter().fold(0, |all, w| all | w);
        }
    }
}

/// Number of set bits.
#[must_use]
pub fn ones(words: &[u64]) -> u64 {
    ones_in(words)
}

/// Set bits of a union of shares, before and after folding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ones {
    /// Set bits of the union, unfolded.
    pub before: u64,
    /// Set bits of the folded words.
    pub after: u64,
}

/// ORs all `shares` and folds by `factor` granules of `granule` words into `target`.
///
/// # Panics
/// Unless all shares have the length of `target` times `factor`, and `target` is whole granules.
pub fn merge_fold(shares: &[&[u64]], granule: usize, factor: usize, target: &mut [u64]) -> Ones {
    assert_fold(shares.iter().map(|share| share.len()), granule, factor, target.len());
    let union = |at: usize, block: &mut [u64]| {
        let Some((first, others)) = shares.split_first() else { return block.fill(0) };
        block.copy_from_slice(&first[at..][..block.len()]);
        others.iter().for_each(|share| merge(block, &share[at..][..block.len()]));
    };
    blocks::merge_fold(Portable(union), granule, factor, target)
}

/// [`merge_fold`] that leaves the shares zeroed.
///
/// # Panics
/// As [`merge_fold`].
pub fn merge_fold_zero(
    shares: &mut [&mut [u64]],
    granule: usize,
    factor: usize,
    target: &mut [u64],
) -> Ones {
    assert_fold(shares.iter().map(|share| share.len()), granule, factor, target.len());
    let union = |at: usize, block: &mut [u64]| {
        let Some((first, others)) = shares.split_first_mut() else { return block.fill(0) };
        let words = &mut first[at..][..block.len()];
        block.copy_from_slice(words);
        words.fill(0);
        for share in others {
            let words = &mut share[at..][..block.len()];
            merge(block, words);
            words.fill(0);
        }
    };
    blocks::merge_fold(Portable(union), granule, factor, target)
}

/// Asserts what every kernel set of these two asks of its arguments.
pub(crate) fn assert_fold(
    shares: impl Iterator<Item = usize>,
    granule: usize,
    factor: usize,
    target: usize,
) {
    assert!(
        granule > 0 && factor > 0 && target.is_multiple_of(granule),
        "{target} words are no whole granules of {granule}, or {factor} is no factor"
    );
    for share in shares {
        assert_eq!(share, target * factor, "words of a share that folds by {factor} to {target}");
    }
}

/// Blocks by the functions above; inside: what puts the union of the shares into a block.
struct Portable<F>(F);

impl<F: FnMut(usize, &mut [u64])> Blocks for Portable<F> {
    fn union(&mut self, at: usize, block: &mut [u64]) -> u64 {
        (self.0)(at, block);
        ones(block)
    }

    fn fold(&self, block: &mut [u64], granule: usize, factor: usize) {
        fold_granules(block, granule, factor);
    }

    fn ones(&self, words: &[u64]) -> u64 {
        ones(words)
    }
}
