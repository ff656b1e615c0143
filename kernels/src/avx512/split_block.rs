//! Hot path: no allocation, no lock, no syscall; half a cache line per key.
//!
//! The split-block Bloom filter with eight hashes at once; a block is one 256-bit register. The
//! ring of `blocked` again.
#![allow(unsafe_code)]

use std::arch::x86_64::{__m512i, _mm256_or_si256, _mm256_test_epi32_mask, _mm512_slli_epi64};
use std::hint::black_box;

use super::blocked::{block8, full_bytes, join};
use super::hash::parquet8;
use super::lanes::{load8, load8_u32, store8};
use crate::ahead::{FAR, NEAR, clear_behind, group_or, is_far};
use crate::avx2::blocked::prefetch;
use crate::avx2::lanes::{load4, store4};
use crate::avx2::split_block::mask;
use crate::scalar::split_block::SALTS;
use crate::token::Avx512;

/// See [`crate::split_block::insert_many`].
pub(crate) fn insert_many(_: Avx512, blocks: &mut [u64], values: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<false>(blocks, values) }
}

/// See [`crate::split_block::insert_hashes_many`].
pub(crate) fn insert_hashes_many(_: Avx512, blocks: &mut [u64], hashes: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<true>(blocks, hashes) }
}

/// See [`crate::split_block::contains_many`]; `found` has a word for each 64 values.
pub(crate) fn contains_many(_: Avx512, blocks: &[u64], values: &[u64], found: &mut [u64]) {
    // SAFETY: the token proves the features.
    unsafe { contains_sized::<false>(blocks, values, found) }
}

/// See [`crate::split_block::contains_hashes_many`]; `found` has a word for each 64 hashes.
pub(crate) fn contains_hashes_many(_: Avx512, blocks: &[u64], hashes: &[u64], found: &mut [u64]) {
    // SAFETY: the token proves the features.
    unsafe { contains_sized::<true>(blocks, hashes, found) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn insert_sized<const HASHED: bool>(blocks: &mut [u64], values: &[u64]) {
    if is_far(blocks) {
        insert::<FAR, HASHED>(blocks, values);
    } else {
        insert::<NEAR, HASHED>(blocks, values);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn contains_sized<const HASHED: bool>(blocks: &[u64], values: &[u64], found: &mut [u64]) {
    if is_far(blocks) {
        contains::<FAR, HASHED>(blocks, values, found);
    } else {
        contains::<NEAR, HASHED>(blocks, values, found);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
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
            ring.put::<HASHED>(slot, blocks, load8(groups.get(g).unwrap_or(&last)));
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
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
    // Nothing that the compiler knows of: else it would compare the masks one by one (1.6 ns
    // instead of 1.3 ns a value).
    let none = black_box(0);
    for g in 0..count + AHEAD {
        let slot = g % AHEAD;
        if g >= AHEAD {
            let mut hits = [0; 8];
            for (i, hit) in hits.iter_mut().enumerate() {
                let bits = mask(ring.hashes[slot][i], salts);
                // SAFETY: 1. `put` wrote this slot: the first word of one of the blocks.
                //         2. `blocks` are whole blocks, at least one: the door asserts it.
                let block = unsafe { &*blocks.as_ptr().add(ring.at[slot][i] as usize).cast() };
                *hit = _mm256_test_epi32_mask(load4(block), bits);
            }
            let g = g - AHEAD;
            found[g / 8] |= u64::from(full_bytes(join(hits) | none)) << (8 * (g % 8));
        }
        if g < count {
            ring.put::<HASHED>(slot, blocks, load8(groups.get(g).unwrap_or(&last)));
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
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    fn put<const HASHED: bool>(&mut self, slot: usize, blocks: &[u64], values: __m512i) {
        let hashes = if HASHED { values } else { parquet8(values) };
        let at = _mm512_slli_epi64::<2>(block8(hashes, blocks.len() / 4));
        store8(&mut self.at[slot], at);
        store8(&mut self.hashes[slot], hashes);
        for &at in &self.at[slot] {
            prefetch::<AHEAD>(blocks.as_ptr().wrapping_add(at as usize).cast());
        }
    }
}
