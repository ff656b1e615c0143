//! Hot path: no allocation, no lock, no syscall; one cache line per key.
//!
//! The blocked Bloom filter in 256-bit registers: a block is two of them.
//!
//! Eight keys are hashed at once and their lines prefetched; the groups of keys between that and
//! the use of the lines wait in a ring.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_mul_epu32, _mm256_or_si256, _mm256_setr_epi64x, _mm256_slli_epi64, _mm256_sllv_epi64,
    _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_testz_si256,
};

use super::hash::{all, key4, mul};
use super::lanes::{load4, store4};
use crate::ahead::{FAR, NEAR, clear_behind, group_or, is_far};
use crate::scalar::blocked::{LANE_FACTOR, ONES, WINDOW_SHIFT};
use crate::token::Avx2;

/// See [`crate::blocked::insert_many`].
pub(crate) fn insert_many(_: Avx2, k: u32, blocks: &mut [u64], seed: u64, keys: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<false>(k, blocks, seed, keys) }
}

/// See [`crate::blocked::insert_hashes_many`].
pub(crate) fn insert_hashes_many(_: Avx2, k: u32, blocks: &mut [u64], hashes: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<true>(k, blocks, 0, hashes) }
}

/// See [`crate::blocked::contains_many`]; `found` has a word for each 64 keys.
pub(crate) fn contains_many(
    _: Avx2,
    k: u32,
    blocks: &[u64],
    seed: u64,
    keys: &[u64],
    found: &mut [u64],
) {
    // SAFETY: the token proves the features.
    unsafe { contains_sized::<false>(k, blocks, seed, keys, found) }
}

/// See [`crate::blocked::contains_hashes_many`]; `found` has a word for each 64 hashes.
pub(crate) fn contains_hashes_many(
    _: Avx2,
    k: u32,
    blocks: &[u64],
    hashes: &[u64],
    found: &mut [u64],
) {
    // SAFETY: the token proves the features.
    unsafe { contains_sized::<true>(k, blocks, 0, hashes, found) }
}

/// By the size of the filter; all eight lanes need no window.
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn insert_sized<const HASHED: bool>(k: u32, blocks: &mut [u64], seed: u64, keys: &[u64]) {
    match (is_far(blocks), k < 8) {
        (false, false) => insert::<NEAR, HASHED, false>(k, blocks, seed, keys),
        (false, true) => insert::<NEAR, HASHED, true>(k, blocks, seed, keys),
        (true, false) => insert::<FAR, HASHED, false>(k, blocks, seed, keys),
        (true, true) => insert::<FAR, HASHED, true>(k, blocks, seed, keys),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn contains_sized<const HASHED: bool>(
    k: u32,
    blocks: &[u64],
    seed: u64,
    keys: &[u64],
    found: &mut [u64],
) {
    match (is_far(blocks), k < 8) {
        (false, false) => contains::<NEAR, HASHED, false>(k, blocks, seed, keys, found),
        (false, true) => contains::<NEAR, HASHED, true>(k, blocks, seed, keys, found),
        (true, false) => contains::<FAR, HASHED, false>(k, blocks, seed, keys, found),
        (true, true) => contains::<FAR, HASHED, true>(k, blocks, seed, keys, found),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn insert<const AHEAD: usize, const HASHED: bool, const WINDOW: bool>(
    k: u32,
    blocks: &mut [u64],
    seed: u64,
    keys: &[u64],
) {
    let ones = &ONES[k as usize];
    let (groups, last) = group_or(keys);
    let count = keys.len().div_ceil(8);
    let mut ring = Ring::<AHEAD>::EMPTY;
    for g in 0..count + AHEAD {
        let slot = g % AHEAD;
        if g >= AHEAD {
            for i in 0..8 {
                let (at, fields) = (ring.at[slot][i], ring.fields[slot][i]);
                let (low, high) = mask::<WINDOW>(ones, fields);
                // SAFETY: 1. `put` wrote this slot: the first word of one of the blocks.
                //         2. `blocks` are whole blocks, at least one: the door asserts it.
                let [first, second]: &mut [[u64; 4]; 2] =
                    unsafe { &mut *blocks.as_mut_ptr().add(at as usize).cast() };
                store4(first, _mm256_or_si256(load4(first), low));
                store4(second, _mm256_or_si256(load4(second), high));
            }
        }
        if g < count {
            ring.put::<HASHED>(slot, blocks, groups.get(g).unwrap_or(&last), seed);
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn contains<const AHEAD: usize, const HASHED: bool, const WINDOW: bool>(
    k: u32,
    blocks: &[u64],
    seed: u64,
    keys: &[u64],
    found: &mut [u64],
) {
    let ones = &ONES[k as usize];
    let (groups, last) = group_or(keys);
    let count = keys.len().div_ceil(8);
    let mut ring = Ring::<AHEAD>::EMPTY;
    found.fill(0);
    for g in 0..count + AHEAD {
        let slot = g % AHEAD;
        if g >= AHEAD {
            let mut hits = 0;
            for i in 0..8 {
                let (at, fields) = (ring.at[slot][i], ring.fields[slot][i]);
                let (low, high) = mask::<WINDOW>(ones, fields);
                // SAFETY: 1. `put` wrote this slot: the first word of one of the blocks.
                //         2. `blocks` are whole blocks, at least one: the door asserts it.
                let block: &[[u64; 4]; 2] = unsafe { &*blocks.as_ptr().add(at as usize).cast() };
                let missing = _mm256_or_si256(
                    _mm256_andnot_si256(load4(&block[0]), low),
                    _mm256_andnot_si256(load4(&block[1]), high),
                );
                hits |= (_mm256_testz_si256(missing, missing) as u64) << i;
            }
            let g = g - AHEAD;
            found[g / 8] |= hits << (8 * (g % 8));
        }
        if g < count {
            ring.put::<HASHED>(slot, blocks, groups.get(g).unwrap_or(&last), seed);
        }
    }
    clear_behind(found, keys.len());
}

/// Where groups of eight keys wait for their lines.
#[repr(align(64))]
struct Ring<const AHEAD: usize> {
    /// First word of the block of each key.
    at: [[u64; 8]; AHEAD],
    /// The bits that its lanes are made from.
    fields: [[u64; 8]; AHEAD],
}

impl<const AHEAD: usize> Ring<AHEAD> {
    const EMPTY: Self = Ring { at: [[0; 8]; AHEAD], fields: [[0; 8]; AHEAD] };

    /// Hashes eight keys into a slot and asks for their lines.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn put<const HASHED: bool>(&mut self, slot: usize, blocks: &[u64], keys: &[u64; 8], seed: u64) {
        let keys = keys.as_chunks::<4>().0;
        let at = self.at[slot].as_chunks_mut::<4>().0;
        let fields = self.fields[slot].as_chunks_mut::<4>().0;
        for half in 0..2 {
            let keys = load4(&keys[half]);
            let hashes = if HASHED { keys } else { key4(keys, seed) };
            let blocks = block4(hashes, blocks.len() / 8);
            store4(&mut at[half], _mm256_slli_epi64::<3>(blocks));
            store4(&mut fields[half], mul(hashes, LANE_FACTOR));
        }
        for &at in &self.at[slot] {
            prefetch::<AHEAD>(blocks.as_ptr().wrapping_add(at as usize).cast());
        }
    }
}

/// Blocks of four hashes: `mulhi` of the upper halves.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn block4(hashes: __m256i, blocks: usize) -> __m256i {
    let upper = _mm256_srli_epi64::<32>(hashes);
    _mm256_srli_epi64::<32>(_mm256_mul_epu32(upper, all(blocks as u64)))
}

/// The bits of a key in its block.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn mask<const WINDOW: bool>(ones: &[[u64; 8]; 8], fields: u64) -> (__m256i, __m256i) {
    let (low, high) = if WINDOW {
        let ones = ones[(fields >> WINDOW_SHIFT) as usize & 7].as_chunks::<4>().0;
        (load4(&ones[0]), load4(&ones[1]))
    } else {
        (all(1), all(1))
    };
    let lane_bits = |shifts| _mm256_and_si256(_mm256_srlv_epi64(all(fields), shifts), all(63));
    (
        _mm256_sllv_epi64(low, lane_bits(_mm256_setr_epi64x(16, 22, 28, 34))),
        _mm256_sllv_epi64(high, lane_bits(_mm256_setr_epi64x(40, 46, 52, 58))),
    )
}

/// Asks for a line: into L1 where the filter lies in L2, else into L2, whose queue is longer.
#[inline]
pub(crate) fn prefetch<const AHEAD: usize>(block: *const i8) {
    // SAFETY: a prefetch reads nothing, whatever the address.
    unsafe {
        if AHEAD > NEAR {
            _mm_prefetch::<_MM_HINT_T1>(block);
        } else {
            _mm_prefetch::<_MM_HINT_T0>(block);
        }
    }
}
