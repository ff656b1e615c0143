//! Hot path: no allocation, no lock, no syscall; one pass over the words.
//!
//! Doors of whole-filter operations: merge, fold, count, zero, on any kernel set.
//!
//! The words of a filter are folded in *granules*, words that stay together: 1 in a bloomRF, 8 (a
//! block) in a blocked Bloom filter. Folding by `f` ORs f adjacent granules into one and gives, bit
//! for bit, the filter that would have been built at a size of `words / f`.

pub(crate) mod blocks;

use crate::scalar::words::assert_fold;
use crate::{Kernel, scalar};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

pub use crate::scalar::words::Ones;

/// ORs `source` into `target`.
///
/// ```
/// use bloomrf_kernels::{Kernel, words};
/// let mut target = [0b01, 0];
/// words::merge(Kernel::best(), &mut target, &[0b10, 7]);
/// assert_eq!(target, [0b11, 7]);
/// ```
///
/// # Panics
/// Unless both have the same length.
pub fn merge(kernel: Kernel, target: &mut [u64], source: &[u64]) {
    assert_eq!(target.len(), source.len(), "merged filters have one size");
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::words::merge(token, target, source),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::words::merge(token, target, source),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::words::merge(token.avx512(), target, source),
        _ => scalar::words::merge(target, source),
    }
}

/// Number of set bits.
///
/// ```
/// use bloomrf_kernels::{Kernel, words};
/// assert_eq!(words::ones(Kernel::best(), &[0b101, u64::MAX]), 66);
/// ```
#[must_use]
pub fn ones(kernel: Kernel, words: &[u64]) -> u64 {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::words::ones(token, words),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::words::ones(token, words),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::words::ones(token.avx512(), words),
        _ => scalar::words::ones(words),
    }
}

/// Folds in place by ORing `factor` adjacent words into one.
///
/// ```
/// use bloomrf_kernels::{Kernel, words};
/// let mut filter = vec![1, 2, 4, 0, 0, 8];
/// words::fold(Kernel::best(), &mut filter, 3);
/// assert_eq!(filter, [7, 8]);
/// ```
///
/// # Panics
/// Unless `factor` divides the length.
pub fn fold(kernel: Kernel, words: &mut Vec<u64>, factor: usize) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(_) | Kernel::Avx512(_) | Kernel::Avx512Vbmi(_)
            if (2..=blocks::BLOCK).contains(&factor) && words.len().is_multiple_of(factor) =>
        {
            blocks::fold(words, factor, |block, factor| fold_block(kernel, block, factor));
            words.truncate(words.len() / factor);
        }
        _ => scalar::words::fold(words, factor),
    }
}

/// ORs all `shares` and folds the result into `target`, whose contents are replaced.
///
/// One pass: the set bits of the union are counted before and after folding, so a wrong guess of
/// the factor costs a second, small fold and not a second pass over the shares.
///
/// ```
/// use bloomrf_kernels::{Kernel, words};
/// let (a, b) = ([1, 1, 0, 0], [1, 2, 0, 4]);
/// let mut target = [0; 2];
/// let ones = words::merge_fold(Kernel::best(), &[&a, &b], 1, 2, &mut target);
/// assert_eq!(target, [3, 4]);
/// assert_eq!((ones.before, ones.after), (4, 3));
/// ```
///
/// # Panics
/// Unless all shares have the length of `target` times `factor`, `target` is whole granules, and a
/// granule at most 2,048 words.
pub fn merge_fold(
    kernel: Kernel,
    shares: &[&[u64]],
    granule: usize,
    factor: usize,
    target: &mut [u64],
) -> Ones {
    assert_fold(shares.iter().map(|share| share.len()), granule, factor, target.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::words::merge_fold(token, shares, granule, factor, target),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::words::merge_fold(token, shares, granule, factor, target),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::words::merge_fold(token.avx512(), shares, granule, factor, target)
        }
        _ => scalar::words::merge_fold(shares, granule, factor, target),
    }
}

/// [`merge_fold`] that leaves the shares zeroed, in the same pass.
///
/// # Panics
/// As [`merge_fold`].
pub fn merge_fold_zero(
    kernel: Kernel,
    shares: &mut [&mut [u64]],
    granule: usize,
    factor: usize,
    target: &mut [u64],
) -> Ones {
    assert_fold(shares.iter().map(|share| share.len()), granule, factor, target.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::words::merge_fold_zero(token, shares, granule, factor, target),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => {
            avx512::words::merge_fold_zero(token, shares, granule, factor, target)
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::words::merge_fold_zero(token.avx512(), shares, granule, factor, target)
        }
        _ => scalar::words::merge_fold_zero(shares, granule, factor, target),
    }
}

/// Folds one block in place; the scalar set never asks.
#[cfg(target_arch = "x86_64")]
fn fold_block(kernel: Kernel, block: &mut [u64], factor: usize) {
    match kernel {
        Kernel::Avx2(token) => avx2::words::fold_block(token, block, 1, factor),
        Kernel::Avx512(token) => avx512::words::fold_block(token, block, 1, factor),
        Kernel::Avx512Vbmi(token) => avx512::words::fold_block(token.avx512(), block, 1, factor),
        _ => unreachable!("folded by the reference"),
    }
}
