//! What the two blocked kinds share: sizes, and estimates from the set bits of each block.

use bloomrf_kernels::SizeError;
use bloomrf_kernels::hash::Hash128;

use crate::SizeRefusal;

/// Items of one step of an operation on many: their hashes lie on the stack, and their lines in
/// the nearest cache.
pub(crate) const STEP: usize = 256;

/// The 64 bits of each hash that a blocked kind goes by.
pub(crate) fn lower(items: &[Hash128], hashes: &mut [u64; STEP]) {
    hashes.iter_mut().zip(items).for_each(|(hash, item)| *hash = item.lo);
}

/// The refusal of a size: `fits` says whether a rate can be reached at all.
pub(crate) fn refusal(
    why: SizeError,
    block_bits: u64,
    blocks_max: u64,
    fits: impl Fn(f64) -> bool,
) -> SizeRefusal {
    match why {
        SizeError::NoRate { fpr } => SizeRefusal::Rate(fpr),
        SizeError::TooLarge { blocks, .. } => SizeRefusal::TooLarge {
            bits: blocks * block_bits as f64,
            most: blocks_max * block_bits,
        },
        SizeError::OutOfReach { fpr, .. } | SizeError::Range { fpr, .. } => {
            SizeRefusal::Unreachable { asked: fpr, lowest: lowest(fpr, fits) }
        }
        _ => SizeRefusal::Unreachable { asked: 0.0, lowest: 1.0 },
    }
}

/// The lowest rate that fits, to 1 % or so, where `asked` does not.
fn lowest(asked: f64, fits: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (asked.ln(), 0.0);
    for _ in 0..20 {
        let middle: f64 = (low + high) / 2.0;
        if fits(middle.exp()) { high = middle } else { low = middle }
    }
    high.exp()
}

/// Distinct items by the set bits of each block of `N` words; an item sets `k` of them, no two in
/// one lane.
pub(crate) fn estimate<const N: usize>(words: &[u64], k: u32) -> f64 {
    let bits = (64 * N) as f64;
    let of_one = (1.0 - f64::from(k) / bits).ln();
    let of_block = |block: &[u64; N]| {
        let ones: u32 = block.iter().map(|word| word.count_ones()).sum();
        let empty = (1.0 - f64::from(ones) / bits).max(0.5 / bits);
        empty.ln() / of_one
    };
    words.as_chunks::<N>().0.iter().map(of_block).sum()
}
