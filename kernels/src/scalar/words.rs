//! Hot path: no allocation, no lock, no syscall; one pass over the words.
//!
//! Whole-filter operations on plain words: merge, fold, fill.

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
    match factor {
        1 => {}
        2 => fold_by::<2>(words),
        3 => fold_by::<3>(words),
        4 => fold_by::<4>(words),
        5 => fold_by::<5>(words),
        _ => {
            let folded = words.len() / factor;
            for target in 0..folded {
                // The first source is `target * factor >= target`: none is overwritten unread.
                let sources = &words[target * factor..][..factor];
                words[target] = sources.iter().fold(0, |all, w| all | w);
            }
            words.truncate(folded);
        }
    }
}

/// The small factors, where a loop over each few words would cost more than its reads.
fn fold_by<const N: usize>(words: &mut Vec<u64>) {
    let folded = words.len() / N;
    for target in 0..folded {
        if let Some(sources) = words[target * N..].first_chunk::<N>() {
            words[target] = sources.iter().fold(0, |all, w| all | w);
        }
    }
    words.truncate(folded);
}

/// Number of set bits.
#[must_use]
pub fn ones(words: &[u64]) -> u64 {
    words.iter().map(|w| u64::from(w.count_ones())).sum()
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
    merge_fold_by(granule, factor, target, |at| shares.iter().fold(0, |all, share| all | share[at]))
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
    merge_fold_by(granule, factor, target, |at| {
        shares.iter_mut().fold(0, |all, share| all | std::mem::take(&mut share[at]))
    })
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

/// Folds the union that `take` reads word by word, each word once.
fn merge_fold_by(
    granule: usize,
    factor: usize,
    target: &mut [u64],
    mut take: impl FnMut(usize) -> u64,
) -> Ones {
    let mut ones = Ones::default();
    for (index, granule_words) in target.chunks_exact_mut(granule).enumerate() {
        granule_words.fill(0);
        for source in index * factor..(index + 1) * factor {
            for (lane, word) in granule_words.iter_mut().enumerate() {
                let union = take(source * granule + lane);
                ones.before += u64::from(union.count_ones());
                *word |= union;
            }
        }
        ones.after += self::ones(granule_words);
    }
    ones
}
