//! Hot path: no allocation, no lock, no syscall; one cache line per key.
//!
//! Blocked Bloom filter: one 512-bit line per key, eight 64-bit lanes, one bit in each of k lanes.
//!
//! The block comes from the upper 32 bits of the hash by `mulhi`, so folding ORs adjacent blocks
//! and is exact. Lanes and bits come from the whole hash mixed again: they stay independent of the
//! block however many blocks there are. A key takes [`K`] neighbouring lanes, starting at any.

use crate::hash::mix;

/// Words of one block (a cache line).
pub const BLOCK_WORDS: usize = 8;

/// Bits set per key.
pub const K: u32 = 6;

/// Inserts a hashed key; `blocks.len()` is a positive multiple of [`BLOCK_WORDS`].
#[inline]
pub fn insert(blocks: &mut [u64], hash: u64) {
    let index = block_index(blocks.len(), hash);
    let block = &mut blocks[index * BLOCK_WORDS..][..BLOCK_WORDS];
    for (lane, bit) in lane_bits(hash) {
        block[lane] |= bit;
    }
}

/// Whether a hashed key may have been inserted.
#[inline]
#[must_use]
pub fn contains(blocks: &[u64], hash: u64) -> bool {
    let first = block_index(blocks.len(), hash) * BLOCK_WORDS;
    match blocks.get(first..first + BLOCK_WORDS) {
        Some(block) => lane_bits(hash).all(|(lane, bit)| block[lane] & bit != 0),
        // No block at all is no proof of absence.
        None => true,
    }
}

/// Folds in place by ORing `factor` adjacent blocks into one.
///
/// # Panics
/// Unless `factor` divides the number of blocks.
pub fn fold(blocks: &mut Vec<u64>, factor: usize) {
    assert!(
        factor > 0 && blocks.len().is_multiple_of(factor * BLOCK_WORDS),
        "{} words do not fold by {factor} blocks",
        blocks.len()
    );
    let folded = blocks.len() / factor;
    for target in 0..folded {
        let (block, lane) = (target / BLOCK_WORDS, target % BLOCK_WORDS);
        let first = block * factor * BLOCK_WORDS + lane;
        // Sources never lie before the target, so none is overwritten before it is read.
        blocks[target] = (0..factor).fold(0, |all, i| all | blocks[first + i * BLOCK_WORDS]);
    }
    blocks.truncate(folded);
}

/// Which block of `words / BLOCK_WORDS` a hash falls into.
#[inline]
fn block_index(words: usize, hash: u64) -> usize {
    let blocks = (words / BLOCK_WORDS) as u64;
    (((hash >> 32) * blocks) >> 32) as usize
}

/// The K lanes of a hash, each with its bit.
#[inline]
fn lane_bits(hash: u64) -> impl Iterator<Item = (usize, u64)> {
    let h = mix(hash, LANE_SALT);
    let rotation = (h >> 61) as u32;
    (0..K).map(move |i| {
        let lane = ((rotation + i) & (BLOCK_WORDS as u32 - 1)) as usize;
        (lane, 1 << ((h >> (16 + 6 * i)) & 63))
    })
}

/// Any constant does; part of the stored format.
const LANE_SALT: u64 = 0x5851_F42D_4C95_7F2D;
