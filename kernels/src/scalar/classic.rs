//! Hot path: no allocation, no lock, no syscall; up to k cache lines per item.
//!
//! Classic Bloom filter, the reference: k bits anywhere among m.

use crate::hash::Hash128;

/// Inserts a hashed item; whether that set a bit that was not set. `words` holds `bits` bits.
///
/// # Panics
/// Where `words` is shorter than that.
#[inline]
pub fn insert(k: u32, bits: u64, words: &mut [u64], item: Hash128) -> bool {
    let mut is_new = false;
    for i in 0..k {
        let at = probe(item, i, bits);
        let (word, bit) = (&mut words[(at / 64) as usize], 1 << (at % 64));
        is_new |= *word & bit == 0;
        *word |= bit;
    }
    is_new
}

/// Whether a hashed item may have been inserted with the same `k` and `bits`. A word that is not
/// there is no proof of absence.
#[inline]
#[must_use]
pub fn contains(k: u32, bits: u64, words: &[u64], item: Hash128) -> bool {
    (0..k).all(|i| {
        let at = probe(item, i, bits);
        words.get((at / 64) as usize).is_none_or(|word| word >> (at % 64) & 1 == 1)
    })
}

pub(crate) fn insert_many(k: u32, bits: u64, words: &mut [u64], items: &[Hash128]) -> u64 {
    items.iter().map(|item| u64::from(insert(k, bits, words, *item))).sum()
}

pub(crate) fn contains_many(
    k: u32,
    bits: u64,
    words: &[u64],
    items: &[Hash128],
    found: &mut [u64],
) {
    found.fill(0);
    for (i, item) in items.iter().enumerate() {
        found[i / 64] |= u64::from(contains(k, bits, words, *item)) << (i % 64);
    }
}

/// Bit of probe `i`, below `bits`; part of the stored format.
#[inline]
#[must_use]
pub fn probe(item: Hash128, i: u32, bits: u64) -> u64 {
    let mut x = item.lo.wrapping_add(u64::from(i).wrapping_mul(item.hi | 1));
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 29;
    ((u128::from(x.wrapping_mul(0xBF58_476D_1CE4_E5B9)) * u128::from(bits)) >> 64) as u64
}
