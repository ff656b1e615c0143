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
