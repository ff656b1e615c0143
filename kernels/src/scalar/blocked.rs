//! Hot path: no allocation, no lock, no syscall; one cache line per key.
//!
//! Blocked Bloom filter: one 512-bit line per key, eight 64-bit lanes, one bit in each of k lanes.
//!
//! The block comes from the upper 32 bits of the hash by `mulhi`, so folding ORs adjacent blocks
//! and is exact. Lanes and bits come from the whole hash multiplied by an odd constant: with the
//! block given, the 32 lower bits of the hash still decide every one of them, however many blocks
//! there are. A key takes k neighbouring lanes, starting at any; the bit of a lane has a field of
//! its own, whichever lanes are taken.

use crate::hash;

/// Words of one block (a cache line).
pub const BLOCK_WORDS: usize = 8;

/// Lanes per key where nothing else is asked for: the lowest rate at 8 to 11 bits a key.
pub const K_DEFAULT: u32 = 6;

/// Inserts a hashed key; `blocks.len()` is a positive multiple of [`BLOCK_WORDS`], `k` 4..=8.
///
/// # Panics
/// Where there is no block.
#[inline]
pub fn insert(k: u32, blocks: &mut [u64], hash: u64) {
    let index = block_index(blocks.len(), hash);
    let block = &mut blocks[index * BLOCK_WORDS..][..BLOCK_WORDS];
    for (word, bits) in block.iter_mut().zip(mask(k, hash)) {
        *word |= bits;
    }
}

/// Whether a hashed key may have been inserted with the same `k`.
#[inline]
#[must_use]
pub fn contains(k: u32, blocks: &[u64], hash: u64) -> bool {
    let first = block_index(blocks.len(), hash) * BLOCK_WORDS;
    match blocks.get(first..first + BLOCK_WORDS) {
        Some(block) => {
            let missing = block.iter().zip(mask(k, hash)).fold(0, |all, (w, m)| all | (m & !w));
            missing == 0
        }
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

/// Folds in place by ORing `factor` adjacent granules of `WORDS` words into one.
pub(crate) fn fold_granules<const WORDS: usize>(blocks: &mut Vec<u64>, factor: usize) {
    assert!(
        factor > 0 && blocks.len().is_multiple_of(factor.saturating_mul(WORDS)),
        "{} words do not fold by {factor} blocks",
        blocks.len()
    );
    let folded = blocks.len() / factor;
    for target in 0..folded {
        let (block, lane) = (target / WORDS, target % WORDS);
        let first = block * factor * WORDS + lane;
        // Sources never lie before the target, so none is overwritten before it is read.
        blocks[target] = (0..factor).fold(0, |all, i| all | blocks[first + i * WORDS]);
    }
    blocks.truncate(folded);
}

/// Inserts keys: see [`crate::blocked::insert_many`].
pub(crate) fn insert_many(k: u32, blocks: &mut [u64], seed: u64, keys: &[u64]) {
    for &key in keys {
        insert(k, blocks, hash::key(key, seed));
    }
}

/// Inserts hashed keys: see [`crate::blocked::insert_hashes_many`].
pub(crate) fn insert_hashes_many(k: u32, blocks: &mut [u64], hashes: &[u64]) {
    for &hash in hashes {
        insert(k, blocks, hash);
    }
}

/// Asks for keys: see [`crate::blocked::contains_many`].
pub(crate) fn contains_many(k: u32, blocks: &[u64], seed: u64, keys: &[u64], found: &mut [u64]) {
    for (word, keys) in found.iter_mut().zip(keys.chunks(64)) {
        *word = keys
            .iter()
            .rev()
            .fold(0, |all, &key| all << 1 | u64::from(contains(k, blocks, hash::key(key, seed))));
    }
}

/// Asks for hashed keys: see [`crate::blocked::contains_hashes_many`].
pub(crate) fn contains_hashes_many(k: u32, blocks: &[u64], hashes: &[u64], found: &mut [u64]) {
    for (word, hashes) in found.iter_mut().zip(hashes.chunks(64)) {
        *word = hashes
            .iter()
            .rev()
            .fold(0, |all, &hash| all << 1 | u64::from(contains(k, blocks, hash)));
    }
}

/// Which block of `words / BLOCK_WORDS` a hash falls into; fewer than 2^32 blocks.
#[inline]
#[must_use]
pub fn block_index(words: usize, hash: u64) -> usize {
    let blocks = (words / BLOCK_WORDS) as u64;
    ((hash >> 32).wrapping_mul(blocks) >> 32) as usize
}

/// The bits of a hash in its block: one in each of `k` lanes.
#[inline]
#[must_use]
pub fn mask(k: u32, hash: u64) -> [u64; BLOCK_WORDS] {
    let fields = hash.wrapping_mul(LANE_FACTOR);
    let first = fields >> WINDOW_SHIFT & 7;
    std::array::from_fn(|lane| {
        u64::from(is_taken(k, first as usize, lane))
            << (fields >> (FIELD_SHIFT + 6 * lane as u32) & 63)
    })
}

/// Odd; part of the stored format.
pub(crate) const LANE_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The field of lane 0; that of lane i lies 6 i bits above.
pub(crate) const FIELD_SHIFT: u32 = 16;

/// The three bits that say which lane is the first, below the fields.
pub(crate) const WINDOW_SHIFT: u32 = 13;

/// Whether a window of `k` lanes that starts at lane `first` holds `lane`.
const fn is_taken(k: u32, first: usize, lane: usize) -> bool {
    lane.wrapping_sub(first) & 7 < k as usize
}

/// By k and first lane: 1 in the lanes of the window.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) static ONES: [[[u64; 8]; 8]; 9] = {
    let mut ones = [[[0; 8]; 8]; 9];
    let mut at = 0;
    while at < 9 * 64 {
        let (k, first, lane) = (at / 64, at / 8 % 8, at % 8);
        ones[k][first][lane] = is_taken(k as u32, first, lane) as u64;
        at += 1;
    }
    ones
};

/// By k and first lane: the lanes outside of the window, as bits.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) static OUTSIDE: [[u64; 8]; 9] = {
    let mut outside = [[0; 8]; 9];
    let mut at = 0;
    while at < 9 * 64 {
        let (k, first, lane) = (at / 64, at / 8 % 8, at % 8);
        outside[k][first] |= (!is_taken(k as u32, first, lane) as u64) << lane;
        at += 1;
    }
    outside
};
