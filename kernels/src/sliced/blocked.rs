//! Hot path: no allocation, no lock, no syscall; k rows for each group.
//!
//! Blocked Bloom filters, bit-sliced: a block is eight words, so 512 rows.

use super::{GROUPS, Masks, SLOTS};
use crate::Kernel;
use crate::scalar::blocked::{self, BLOCK_WORDS};
#[cfg(target_arch = "x86_64")]
use crate::{avx2::sliced as avx2, avx512::sliced as avx512};

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
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::blocked_contains(token, k, groups, ask, hash),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::blocked_contains(token, k, groups, ask, hash),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::blocked_contains(token.avx512(), k, groups, ask, hash),
        _ => contains_with(k, groups, ask, hash, |_| ()),
    }
}

/// [`blocked_contains`], given a prefetch: bits of the key outside, groups inside, so that the
/// loads of eight groups are in flight together.
#[inline(always)]
pub(crate) fn contains_with(
    k: u32,
    groups: &[Option<&[u64]>],
    ask: &Masks,
    hash: u64,
    ahead: impl Fn(&u64),
) -> Masks {
    assert!(groups.len() <= GROUPS, "{} groups where at most {GROUPS} are asked", groups.len());
    let mut blocks = [None; GROUPS];
    for ((block, group), &ask) in blocks.iter_mut().zip(groups).zip(ask) {
        if ask != 0 {
            *block = group.and_then(|rows| block_of(rows, hash));
        }
    }
    // What the key sets in its block, wherever that lies: one bit in each of k words.
    let bits = blocked::mask(k, hash);
    let mut rows = [0; BLOCK_WORDS];
    let mut count = 0;
    for (word, bits) in bits.iter().enumerate().filter(|(_, bits)| **bits != 0) {
        rows[count] = word * SLOTS + bits.trailing_zeros() as usize;
        count += 1;
    }
    let rows = &rows[..count];
    let hint = |row: usize| blocks.iter().flatten().for_each(|block| ahead(&block[row]));
    rows.iter().take(AHEAD).for_each(|&row| hint(row));
    let mut found = *ask;
    for (at, &row) in rows.iter().enumerate() {
        if let Some(&next) = rows.get(at + AHEAD) {
            hint(next);
        }
        let mut alive = 0;
        for (found, block) in found.iter_mut().zip(&blocks) {
            if let Some(block) = block {
                *found &= block[row];
                alive |= *found;
            }
        }
        if alive == 0 {
            break;
        }
    }
    found
}

/// The rows of the block of `hash`; a group of no block has none.
#[inline(always)]
fn block_of(rows: &[u64], hash: u64) -> Option<&[u64; SLOTS * BLOCK_WORDS]> {
    rows.as_chunks().0.get(blocked::block_index(rows.len() / SLOTS, hash))
}

/// Rows between a prefetch and its load, as in the walk of a plan.
const AHEAD: usize = 2;
