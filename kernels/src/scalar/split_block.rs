//! Hot path: no allocation, no lock, no syscall; half a cache line per key.
//!
//! Split-block Bloom filter of Parquet: blocks of 256 bits, eight 32-bit lanes, one bit in each.
//!
//! Two lanes lie in a word, the lower one in its lower half: the little-endian bytes of the words
//! are the bitset of the specification.

use super::blocked::fold_granules;
use crate::hash;

/// Words of one block.
pub const BLOCK_WORDS: usize = 4;

/// Inserts a hashed value; `blocks.len()` is a positive multiple of [`BLOCK_WORDS`].
///
/// # Panics
/// Where there is no block.
#[inline]
pub fn insert(blocks: &mut [u64], hash: u64) {
    let index = block_index(blocks.len(), hash);
    let block = &mut blocks[index * BLOCK_WORDS..][..BLOCK_WORDS];
    for (word, bits) in block.iter_mut().zip(mask(hash)) {
        *word |= bits;
    }
}

/// Whether a hashed value may have been inserted.
#[inline]
#[must_use]
pub fn contains(blocks: &[u64], hash: u64) -> bool {
    let first = block_index(blocks.len(), hash) * BLOCK_WORDS;
    match blocks.get(first..first + BLOCK_WORDS) {
        Some(block) => block.iter().zip(mask(hash)).fold(0, |all, (w, m)| all | (m & !w)) == 0,
        // No block at all is no proof of absence.
        None => true,
    }
}

/// Folds in place by ORing `factor` adjacent blocks into one.
///
/// # Panics
/// Unless `factor` divides the number of blocks.
pub fn fold(blocks: &mut Vec<u64>, factor: usize) {
    fold_granules::<BLOCK_WORDS>(blocks, factor);
}

/// Inserts 64-bit values: see [`crate::split_block::insert_many`].
pub(crate) fn insert_many(blocks: &mut [u64], values: &[u64]) {
    for value in values {
        insert(blocks, hash::parquet(&value.to_le_bytes()));
    }
}

/// Asks for 64-bit values: see [`crate::split_block::contains_many`].
pub(crate) fn contains_many(blocks: &[u64], values: &[u64], found: &mut [u64]) {
    for (word, values) in found.iter_mut().zip(values.chunks(64)) {
        *word = values.iter().rev().fold(0, |all, value| {
            all << 1 | u64::from(contains(blocks, hash::parquet(&value.to_le_bytes())))
        });
    }
}

/// Inserts hashed values: see [`crate::split_block::insert_hashes_many`].
pub(crate) fn insert_hashes_many(blocks: &mut [u64], hashes: &[u64]) {
    for &hash in hashes {
        insert(blocks, hash);
    }
}

/// Asks for hashed values: see [`crate::split_block::contains_hashes_many`].
pub(crate) fn contains_hashes_many(blocks: &[u64], hashes: &[u64], found: &mut [u64]) {
    for (word, hashes) in found.iter_mut().zip(hashes.chunks(64)) {
        *word =
            hashes.iter().rev().fold(0, |all, &hash| all << 1 | u64::from(contains(blocks, hash)));
    }
}

/// Which block of `words / BLOCK_WORDS` a hash falls into; fewer than 2^32 blocks.
#[inline]
fn block_index(words: usize, hash: u64) -> usize {
    let blocks = (words / BLOCK_WORDS) as u64;
    ((hash >> 32).wrapping_mul(blocks) >> 32) as usize
}

/// The bits of a hash in its block.
#[inline]
fn mask(hash: u64) -> [u64; BLOCK_WORDS] {
    let bit = |lane: usize| 1u64 << ((hash as u32).wrapping_mul(SALTS[lane]) >> 27);
    std::array::from_fn(|word| bit(2 * word) | bit(2 * word + 1) << 32)
}

/// The odd factors of the specification.
pub(crate) const SALTS: [u32; 8] = [
    0x47B6_137B,
    0x4497_4D91,
    0x8824_AD5B,
    0xA2B7_289D,
    0x7054_95C7,
    0x2DF1_424B,
    0x9EFC_4947,
    0x5C6B_FB31,
];
