//! Hot path: no allocation, no lock, no syscall; one cache line per item.
//!
//! Blocked counting filter: a line of 128 counters of 4 bits per item, sixteen in each of eight
//! 64-bit lanes, one counter in each of k lanes.
//!
//! Two probes of one item are never on the same counter, since they are in different lanes: so an
//! insert and a removal count each of its counters once. A counter that has reached 15 stands for
//! 15 or more and sticks: it is counted neither up nor down, so that no removal can take away
//! what another item still needs.
//!
//! The block comes from the upper half of `lo` by `mulhi`; window and counters come from `lo`
//! times an odd constant plus `hi`, of which the lower half of `lo` alone decides every bit.

use super::blocked::{BLOCK_WORDS, LANE_FACTOR, ONES};
use crate::counting::{Added, Taken};
use crate::hash::Hash128;

/// The lowest bit of a place that says where the window begins.
pub(crate) const WINDOW_SHIFT: u32 = 61;

/// The lowest bit of the four that pick the counter of lane 0; each lane's follow the last's.
pub(crate) const COUNTER_SHIFT: u32 = 29;

/// Where an item is counted: the block, and the bits that its counters are made from.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) block: u32,
    pub(crate) fields: u64,
}

/// The place of an item among `blocks` blocks, 1 to 2^32 - 1.
#[inline]
pub(crate) fn place(blocks: usize, item: Hash128) -> Place {
    let block = ((item.lo >> 32) * blocks as u64) >> 32;
    let fields = item.lo.wrapping_mul(LANE_FACTOR).wrapping_add(item.hi);
    Place { block: block as u32, fields }
}

/// A one in the lowest bit of each counter of an item, by lane; 0 in lanes that it does not take.
#[inline]
fn ones(k: u32, fields: u64) -> [u64; BLOCK_WORDS] {
    let mut ones = ONES[k as usize][(fields >> WINDOW_SHIFT) as usize];
    for (lane, one) in (0..).zip(&mut ones) {
        *one <<= (fields >> (COUNTER_SHIFT + 4 * lane) & 15) * 4;
    }
    ones
}

/// The counters of an item in its block: each word, and a one in the counter's lowest bit.
#[inline]
fn counters(
    k: u32,
    blocks: &mut [u64],
    item: Hash128,
) -> impl Iterator<Item = (&mut u64, u64)> + use<'_> {
    let Place { block, fields } = place(blocks.len() / BLOCK_WORDS, item);
    let block = &mut blocks[block as usize * BLOCK_WORDS..][..BLOCK_WORDS];
    block.iter_mut().zip(ones(k, fields)).filter(|(_, one)| *one != 0)
}

/// Counts an item up; `blocks.len()` is a positive multiple of 8, `k` 4..=8.
///
/// # Panics
/// Where there is no block.
#[inline]
pub fn insert(k: u32, blocks: &mut [u64], item: Hash128) -> Added {
    let mut added = Added::default();
    for (word, one) in counters(k, blocks, item) {
        let mask = one * 15;
        added.new |= u64::from(*word & mask == 0);
        if *word & mask == mask {
            added.lost += 1;
        } else {
            *word += one;
        }
    }
    added
}

/// Whether an item may have been inserted with the same `k`.
#[inline]
#[must_use]
pub fn contains(k: u32, blocks: &[u64], item: Hash128) -> bool {
    let Place { block, fields } = place(blocks.len() / BLOCK_WORDS, item);
    let first = block as usize * BLOCK_WORDS;
    match blocks.get(first..first + BLOCK_WORDS) {
        Some(block) => {
            block.iter().zip(ones(k, fields)).all(|(word, one)| one == 0 || word & (one * 15) != 0)
        }
        // No block at all is no proof of absence.
        None => true,
    }
}

/// Counts an item down, unless a counter of its is 0: then nothing changes and `done` is 0.
///
/// # Panics
/// Where there is no block.
#[inline]
pub fn remove(k: u32, blocks: &mut [u64], item: Hash128) -> Taken {
    if !contains(k, blocks, item) {
        return Taken::default();
    }
    let mut taken = Taken { done: 1, ..Taken::default() };
    for (word, one) in counters(k, blocks, item) {
        let mask = one * 15;
        if *word & mask == mask {
            taken.stuck = 1;
        } else {
            *word -= one;
            taken.gone |= u64::from(*word & mask == 0);
        }
    }
    taken
}

/// See [`crate::counting::insert_many`].
pub(crate) fn insert_many(k: u32, blocks: &mut [u64], items: &[Hash128]) -> Added {
    let mut all = Added::default();
    items.iter().for_each(|&item| all += insert(k, blocks, item));
    all
}

/// See [`crate::counting::contains_many`].
pub(crate) fn contains_many(k: u32, blocks: &[u64], items: &[Hash128], found: &mut [u64]) {
    found.fill(0);
    for (i, &item) in items.iter().enumerate() {
        found[i / 64] |= u64::from(contains(k, blocks, item)) << (i % 64);
    }
}

/// See [`crate::counting::remove_many`].
pub(crate) fn remove_many(
    k: u32,
    blocks: &mut [u64],
    items: &[Hash128],
    refused: &mut [u64],
) -> Taken {
    let mut all = Taken::default();
    refused.fill(0);
    for (i, &item) in items.iter().enumerate() {
        let taken = remove(k, blocks, item);
        refused[i / 64] |= (1 - taken.done) << (i % 64);
        all += taken;
    }
    all
}

/// Adds counters to counters; a sum past 15 is 15, so that one that stuck in either sticks.
pub(crate) fn merge(blocks: &mut [u64], others: &[u64]) {
    const LOW: u64 = 0x0F0F_0F0F_0F0F_0F0F;
    let sum = |a: u64, b: u64| {
        let sums = (a & LOW) + (b & LOW);
        // 15 where the sum of two nibbles has carried into the fifth bit of its byte.
        (sums & LOW) | ((sums >> 4 & LOW) * 15)
    };
    for (word, other) in blocks.iter_mut().zip(others) {
        *word = sum(*word, *other) | sum(*word >> 4, *other >> 4) << 4;
    }
}

/// How many counters are not 0.
pub(crate) fn nonzero(blocks: &[u64]) -> u64 {
    blocks.iter().map(|&word| u64::from(marks(word).count_ones())).sum()
}

/// The lowest bit of each counter that is not 0.
#[inline]
pub(crate) fn marks(word: u64) -> u64 {
    let pairs = word | word >> 1;
    (pairs | pairs >> 2) & 0x1111_1111_1111_1111
}
