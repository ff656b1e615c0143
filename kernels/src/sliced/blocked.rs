//! Hot path: no allocation, no lock, no syscall; k rows for each group.
//!
//! Blocked Bloom filters, bit-sliced: a block is eight words, so 512 rows.

use super::{GROUPS, Masks};
use crate::Kernel;
use crate::scalar::blocked::{self, BLOCK_WORDS};

/// Which slots of `ask` may hold the key with that hash; `k` as it was inserted.
///
/// The groups may differ in their number of blocks. `None`, and a group of no block: all of `ask`.
///
/// # Panics
/// Where there are more than 8 groups.
#[must_use]
pub fn blocked_contains(
    kernel: Kernel,
    k: u32,
    groups: &[Option<&[u64]>],
    ask: &Masks,
    hash: u64,
) -> Masks {
    let _ = kernel;
    assert!(groups.len() <= GROUPS, "{} groups where at most {GROUPS} are asked", groups.len());
    // What the key sets in its block, wherever that lies.
    let bits = blocked::mask(k, hash);
    let mut found = *ask;
    for (found, group) in found.iter_mut().zip(groups) {
        if let Some(rows) = group
            && *found != 0
        {
            *found &= covered(rows, &bits, hash);
        }
    }
    found
}

/// AND of the rows that `bits` name in the block of `hash`.
#[inline(always)]
fn covered(rows: &[u64], bits: &[u64; BLOCK_WORDS], hash: u64) -> u64 {
    let blocks = rows.as_chunks::<{ 64 * BLOCK_WORDS }>().0;
    let index = (hash >> 32).wrapping_mul(blocks.len() as u64) >> 32;
    let Some(block) = blocks.get(index as usize) else { return u64::MAX };
    let mut found = u64::MAX;
    for (&word, rows) in bits.iter().zip(block.as_chunks::<64>().0) {
        let mut word = word;
        while word != 0 {
            found &= rows[word.trailing_zeros() as usize];
            word &= word - 1;
        }
    }
    found
}
