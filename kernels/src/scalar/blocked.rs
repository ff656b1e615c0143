//! Blocked Bloom filter: one 512-bit line per key, eight 64-bit lanes, one bit in each of k lanes.

/// Words of one block (a cache line).
pub const BLOCK_WORDS: usize = 8;

/// Bits set per key.
pub const K: u32 = 6;

/// Inserts a hashed key; `blocks.len()` is a positive multiple of [`BLOCK_WORDS`].
pub fn insert(blocks: &mut [u64], hash: u64) {
    let _ = (blocks, hash);
    todo!("kernels")
}

/// Whether a hashed key may have been inserted.
#[must_use]
pub fn contains(blocks: &[u64], hash: u64) -> bool {
    let _ = (blocks, hash);
    todo!("kernels")
}

/// Folds by ORing `factor` adjacent blocks into one; `factor` divides the number of blocks.
pub fn fold(blocks: &mut Vec<u64>, factor: usize) {
    let _ = (blocks, factor);
    todo!("kernels")
}
