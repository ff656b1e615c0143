//! Hot path: whole filters on 256-bit registers; entered through the doors with a token.
//!
//! One pass: words are merged, counted, folded and zeroed while they are in registers or in the
//! first cache.
#![allow(unsafe_code)]

mod count;
mod fold;
mod union;

use crate::scalar::words::Ones;
use crate::token::Avx2;
use crate::words::blocks::{self, Blocks};

/// See [`crate::words::merge`]; both have the same length.
pub(crate) fn merge(_: Avx2, target: &mut [u64], source: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { union::merge(target, source) }
}

/// See [`crate::words::ones`].
pub(crate) fn ones(_: Avx2, words: &[u64]) -> u64 {
    // SAFETY: the token proves the features.
    unsafe { count::ones(words) }
}

/// Folds a block in place by `factor` granules, which divide it.
pub(crate) fn fold_block(_: Avx2, block: &mut [u64], granule: usize, factor: usize) {
    // SAFETY: the token proves the features.
    unsafe { fold::block(block, granule, factor) }
}

/// See [`crate::words::merge_fold`].
pub(crate) fn merge_fold(
    token: Avx2,
    shares: &[&[u64]],
    granule: usize,
    factor: usize,
    target: &mut [u64],
) -> Ones {
    // SAFETY: the token proves the features.
    let union = |at: usize, block: &mut [u64]| unsafe { union::kept(shares, at, block) };
    blocks::merge_fold(On { token, union }, granule, factor, target)
}

/// See [`crate::words::merge_fold_zero`].
pub(crate) fn merge_fold_zero(
    token: Avx2,
    shares: &mut [&mut [u64]],
    granule: usize,
    factor: usize,
    target: &mut [u64],
) -> Ones {
    // SAFETY: the token proves the features.
    let union = |at: usize, block: &mut [u64]| unsafe { union::zeroed(shares, at, block) };
    blocks::merge_fold(On { token, union }, granule, factor, target)
}

/// Blocks by the functions above; `union` puts the union of the shares into a block.
struct On<U> {
    token: Avx2,
    union: U,
}

impl<U: FnMut(usize, &mut [u64]) -> u64> Blocks for On<U> {
    fn union(&mut self, at: usize, block: &mut [u64]) -> u64 {
        (self.union)(at, block)
    }

    fn fold(&self, block: &mut [u64], granule: usize, factor: usize) {
        fold_block(self.token, block, granule, factor);
    }

    fn ones(&self, words: &[u64]) -> u64 {
        ones(self.token, words)
    }
}
