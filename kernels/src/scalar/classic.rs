//! Hot path: no allocation, no lock, no syscall; up to k cache lines per item.
//!
//! Classic Bloom filter, the reference: k bits anywhere among m.
//!
//! The two halves of an item are stirred into each other once ([`start`]), so that no half need be
//! random, or be there at all. The probes are the values of an arithmetic progression of 64 bits,
//! each mixed by itself and scaled to m ([`place`]). What is left out would cost: without a mix of
//! each probe, an item shows no more than 2 log2(m) bits of its hash, and some n/m^2 of all items
//! look like one that is there, which is far above 1e-9 for a small filter (see the header of
//! `engine/filter/tests/rates`).

use crate::hash::Hash128;

/// Inserts a hashed item; whether that set a bit that was not set. `words` holds `bits` bits.
///
/// # Panics
/// Where `words` is shorter than that.
#[inline]
pub fn insert(k: u32, bits: u64, words: &mut [u64], item: Hash128) -> bool {
    let mut is_new = false;
    for at in probes(k, bits, item) {
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
    probes(k, bits, item)
        .all(|at| words.get((at / 64) as usize).is_none_or(|word| word >> (at % 64) & 1 == 1))
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

/// Bits of an item's probes, in order, each below `bits`; part of the stored format.
#[inline]
#[must_use]
pub fn probes(k: u32, bits: u64, item: Hash128) -> Probes {
    let (value, step) = start(item);
    Probes { left: k, bits, value, step }
}

/// What is left of an item's probes.
#[derive(Clone, Copy, Debug)]
pub struct Probes {
    left: u32,
    bits: u64,
    value: u64,
    step: u64,
}

impl Iterator for Probes {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = place(self.value, self.bits);
        self.value = self.value.wrapping_add(self.step);
        Some(at)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

/// Bit of probe `i`, below `bits`: one of [`probes`].
#[inline]
#[must_use]
pub fn probe(item: Hash128, i: u32, bits: u64) -> u64 {
    let (first, step) = start(item);
    place(first.wrapping_add(u64::from(i).wrapping_mul(step)), bits)
}

/// Where the progression of an item starts, and its step.
///
/// The step is odd, so that the first 2^64 values differ whatever the item is. That takes a bit of
/// the step but none of the item: the first value is made of the whole step before that.
#[inline]
pub(crate) fn start(item: Hash128) -> (u64, u64) {
    let step = item.hi.wrapping_add(stirred(item.lo));
    (item.lo.wrapping_add(stirred(step)), step | 1)
}

#[inline]
fn stirred(half: u64) -> u64 {
    let x = half.wrapping_mul(FACTORS[0]);
    x ^ x >> 32
}

/// A value of the progression as a bit below `bits`: mixed, then the upper half of its product
/// with `bits`.
#[inline]
pub(crate) fn place(value: u64, bits: u64) -> u64 {
    let mut x = value;
    x ^= x >> 32;
    x = x.wrapping_mul(FACTORS[1]);
    x ^= x >> 29;
    ((u128::from(x.wrapping_mul(FACTORS[2])) * u128::from(bits)) >> 64) as u64
}

/// Odd; part of the stored format.
pub(crate) const FACTORS: [u64; 3] =
    [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93, 0xBF58_476D_1CE4_E5B9];
