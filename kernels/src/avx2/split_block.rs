//! Hot path: no allocation, no lock, no syscall; half a cache line per key.
//!
//! The split-block Bloom filter with eight hashes at once; a block is one 256-bit register. The
//! ring of `blocked` again.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32, _mm256_slli_epi64,
    _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_testc_si256,
};

use super::blocked::{block4, prefetch};
use super::hash::parquet4;
use super::lanes::{load4, load8_u32, store4};
use crate::ahead::{FAR, NEAR, clear_behind, group_or, is_far};
use crate::scalar::split_block::SALTS;
use crate::token::Avx2;

/// See [`crate::split_block::insert_many`].
pub(crate) fn insert_many(_: Avx2, blocks: &mut [u64], values: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<false>(blocks, values) }
}

/// See [`crate::split_block::insert_hashes_many`].
pub(crate) fn insert_hashes_many(_: Avx2, blocks: &mut [u64], hashes: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<true>(blocks, hashes) }
}

/// See [`crate::split_block::contains_many`]; `found` has a word for each 64 values.
pub(crate) fn contains_many(_: Avx2, blocks: &[u64], values: &[u64], found: &mut [u64]) {
    // SAFETY: the token proves the features.
    unsafe { contains_sized::<false>(blocks, values, found) }
}

/// See [`crate::split_block::contains_hashes_many`]; `found` has a word for each 64 hashes.
pub(crate) fn contains_hashes_many(_: Avx2, blocks: &[u64], hashes: &[u64], found: &mut [u64]) {
    // SAFETY: the token proves the features.
    unsafe { contains_sized::<true>(blocks, hashes, found) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn insert_sized<const HASHED: bool>(blocks: &mut [u64], values: &[u64]) {
    if is_far(blocks) {
        insert::<FAR, HASHED>(blocks, values);
    } else {
        insert::<NEAR, HASHED>(blocks, values);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn contains_sized<const HASHED: bool>(blocks: &[u64], values: &[u64], found: &mut [u64]) {
    if is_far(blocks) {
        contains::<FAR, HASHED>(blocks, values, found);
    } else {
        contains::<NEAR, HASHED>(blocks, values, found);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn insert<const AHEAD: usize, const HASHED: bool>(blocks: &mut [u64], values: &[u64]) {
    let salts = load8_u32(&SALTS);
    let (groups, last) = group_or(values);
    let count = values.len().div_ceil(8);
    let mut ring = Ring::<AHEAD>::EMPTY;
    for g in 0..count + AHEAD {
        let slot = g % AHEAD;
        if g >= AHEAD {
            for i in 0..8 {
                let bits = mask(ring.hashes[slot][i], salts);
                // SAFETY: 1. `put` wrote this slot: the first word of one of the blocks.
                //         2. `blocks` are whole blocks, at least one: the door asserts it.
                let block =
                    unsafe { &mut *blocks.as_mut_ptr().add(ring.at[slot][i] as usize).cast() };
                store4(block, _mm256_or_si256(load4(block), bits));
            }
        }
        if g < count {
            ring.put::<HASHED>(slot, blocks, groups.get(g).unwrap_or(&last));
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn contains<const AHEAD: usize, const HASHED: bool>(
    blocks: &[u64],
    values: &[u64],
    found: &mut [u64],
) {
    let salts = load8_u32(&SALTS);
    let (groups, last) = group_or(values);
    let count = values.len().div_ceil(8);
    let mut ring = Ring::<AHEAD>::EMPTY;
    found.fill(0);
    for g in 0..count + AHEAD {
        let slot = g % AHEAD;
        if g >= AHEAD {
            let mut hits = 0;
            for i in 0..8 {
                let bits = mask(ring.hashes[slot][i], salts);
                // SAFETY: 1. `put` wrote this slot: the first word of one of the blocks.
                //         2. `blocks` are whole blocks, at least one: the door asserts it.
                let block = unsafe { &*blocks.as_ptr().add(ring.at[slot][i] as usize).cast() };
                hits |= (_mm256_testc_si256(load4(block), bits) as u64) << i;
            }
            let g = g - AHEAD;
            found[g / 8] |= hits << (8 * (g % 8));
        }
        if g < count {
            ring.put::<HASHED>(slot, blocks, groups.get(g).unwrap_or(&last));
        }
    }
    clear_behind(found, values.len());
}

/// Where groups of eight hashes wait for their blocks.
#[repr(align(64))]
struct Ring<const AHEAD: usize> {
    /// First word of the block of each hash.
    at: [[u64; 8]; AHEAD],
    hashes: [[u64; 8]; AHEAD],
}

impl<const AHEAD: usize> Ring<AHEAD> {
    const EMPTY: Self = Ring { at: [[0; 8]; AHEAD], hashes: [[0; 8]; AHEAD] };

    /// Hashes eight values into a slot and asks for their blocks.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn put<const HASHED: bool>(&mut self, slot: usize, blocks: &[u64], values: &[u64; 8]) {
        let values = values.as_chunks::<4>().0;
        let at = self.at[slot].as_chunks_mut::<4>().0;
        let kept = self.hashes[slot].as_chunks_mut::<4>().0;
        for half in 0..2 {
            let values = load4(&values[half]);
            let hashes = if HASHED { values } else { parquet4(values) };
            store4(&mut at[half], _mm256_slli_epi64::<2>(block4(hashes, blocks.len() / 4)));
            store4(&mut kept[half], hashes);
        }
        for &at in &self.at[slot] {
            prefetch::<AHEAD>(blocks.as_ptr().wrapping_add(at as usize).cast());
        }
    }
}

/// The bits of a hash in its block.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn mask(hash: u64, salts: __m256i) -> __m256i {
    let salted = _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), salts);
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(salted))
}
