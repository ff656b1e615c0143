//! Hot path: no allocation, no lock, no syscall; one cache line per key.
//!
//! The blocked Bloom filter in 512-bit registers: a block is one register. Of both AVX-512 sets:
//! `vpsrlvq` and `vprolvq` (which takes its counts modulo 64) make a key's bits as fast as
//! `vpmultishiftqb` does.
//!
//! Eight keys are hashed at once and their lines prefetched; the groups of keys between that and
//! the use of the lines wait in a ring.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_cmpeq_epi8_mask, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_set1_epi8,
    _mm512_cvtepi64_epi8, _mm512_kunpackb, _mm512_kunpackd, _mm512_kunpackw, _mm512_mul_epu32,
    _mm512_or_si512, _mm512_permutexvar_epi64, _mm512_rolv_epi64, _mm512_setr_epi64,
    _mm512_slli_epi64, _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_test_epi64_mask,
};

use super::hash::{all, key8, mul};
use super::lanes::{load8, store8};
use crate::ahead::{FAR, NEAR, clear_behind, group_or, is_far};
use crate::avx2::blocked::prefetch;
use crate::scalar::blocked::{LANE_FACTOR, ONES, OUTSIDE, WINDOW_SHIFT};
use crate::token::Avx512;

/// See [`crate::blocked::insert_many`].
pub(crate) fn insert_many(_: Avx512, k: u32, blocks: &mut [u64], seed: u64, keys: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<false>(k, blocks, seed, keys) }
}

/// See [`crate::blocked::insert_hashes_many`].
pub(crate) fn insert_hashes_many(_: Avx512, k: u32, blocks: &mut [u64], hashes: &[u64]) {
    // SAFETY: the token proves the features.
    unsafe { insert_sized::<true>(k, blocks, 0, hashes) }
}

/// See [`crate::blocked::contains_many`]; `found` has a word for each 64 keys.
pub(crate) fn contains_many(
    _: Avx512,
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
    _: Avx512,
    k: u32,
    blocks: &[u64],
    hashes: &[u64],
    found: &mut [u64],
) {
    // SAFETY: the token proves the features.
    unsafe { contains_sized::<true>(k, blocks, 0, hashes, found) }
}

/// By the size of the filter; all eight lanes need no window.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn insert_sized<const HASHED: bool>(k: u32, blocks: &mut [u64], seed: u64, keys: &[u64]) {
    match (is_far(blocks), k < 8) {
        (false, false) => insert::<NEAR, HASHED, false>(k, blocks, seed, keys),
        (false, true) => insert::<NEAR, HASHED, true>(k, blocks, seed, keys),
        (true, false) => insert::<FAR, HASHED, false>(k, blocks, seed, keys),
        (true, true) => insert::<FAR, HASHED, true>(k, blocks, seed, keys),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn contains_sized<const HASHED: bool>(
    k: u32,
    blocks: &[u64],
    seed: u64,
    keys: &[u64],
    found: &mut [u64],
) {
    if is_far(blocks) {
        contains::<FAR, HASHED>(k, blocks, seed, keys, found);
    } else {
        contains::<NEAR, HASHED>(k, blocks, seed, keys, found);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
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
                let ones = if WINDOW {
                    load8(&ones[(fields >> WINDOW_SHIFT) as usize & 7])
                } else {
                    all(1)
                };
                let bits = _mm512_rolv_epi64(ones, lane_bits(fields));
                // SAFETY: 1. `put` wrote this slot: the first word of one of the blocks.
                //         2. `blocks` are whole blocks, at least one: the door asserts it.
                let block = unsafe { &mut *blocks.as_mut_ptr().add(at as usize).cast() };
                store8(block, _mm512_or_si512(load8(block), bits));
            }
        }
        if g < count {
            let keys = load8(groups.get(g).unwrap_or(&last));
            ring.put::<HASHED, false>(slot, blocks, keys, seed, k);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn contains<const AHEAD: usize, const HASHED: bool>(
    k: u32,
    blocks: &[u64],
    seed: u64,
    keys: &[u64],
    found: &mut [u64],
) {
    let (groups, last) = group_or(keys);
    let count = keys.len().div_ceil(8);
    let mut ring = Ring::<AHEAD>::EMPTY;
    found.fill(0);
    for g in 0..count + AHEAD {
        let slot = g % AHEAD;
        if g >= AHEAD {
            let mut hits = [0; 8];
            for (i, hit) in hits.iter_mut().enumerate() {
                let (at, fields) = (ring.at[slot][i], ring.fields[slot][i]);
                let bits = _mm512_rolv_epi64(all(1), lane_bits(fields));
                // SAFETY: 1. `put` wrote this slot: the first word of one of the blocks.
                //         2. `blocks` are whole blocks, at least one: the door asserts it.
                let block = unsafe { &*blocks.as_ptr().add(at as usize).cast() };
                *hit = _mm512_test_epi64_mask(load8(block), bits);
            }
            let hits = join(hits) | ring.outside[slot];
            let g = g - AHEAD;
            found[g / 8] |= u64::from(full_bytes(hits)) << (8 * (g % 8));
        }
        if g < count {
            let keys = load8(groups.get(g).unwrap_or(&last));
            ring.put::<HASHED, true>(slot, blocks, keys, seed, k);
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
    /// Lanes outside of its window, a byte for each key.
    outside: [u64; AHEAD],
}

impl<const AHEAD: usize> Ring<AHEAD> {
    const EMPTY: Self = Ring { at: [[0; 8]; AHEAD], fields: [[0; 8]; AHEAD], outside: [0; AHEAD] };

    /// Hashes eight keys into a slot and asks for their lines.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    fn put<const HASHED: bool, const OUTSIDE_TOO: bool>(
        &mut self,
        slot: usize,
        blocks: &[u64],
        keys: __m512i,
        seed: u64,
        k: u32,
    ) {
        let hashes = if HASHED { keys } else { key8(keys, seed) };
        let at = _mm512_slli_epi64::<3>(block8(hashes, blocks.len() / 8));
        store8(&mut self.at[slot], at);
        let fields = mul(hashes, LANE_FACTOR);
        store8(&mut self.fields[slot], fields);
        if OUTSIDE_TOO {
            let first = _mm512_srli_epi64::<WINDOW_SHIFT>(fields);
            let outside = _mm512_permutexvar_epi64(first, load8(&OUTSIDE[k as usize]));
            self.outside[slot] = _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(outside)) as u64;
        }
        for &at in &self.at[slot] {
            prefetch::<AHEAD>(blocks.as_ptr().wrapping_add(at as usize).cast());
        }
    }
}

/// Blocks of eight hashes: `mulhi` of the upper halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn block8(hashes: __m512i, blocks: usize) -> __m512i {
    let upper = _mm512_srli_epi64::<32>(hashes);
    _mm512_srli_epi64::<32>(_mm512_mul_epu32(upper, all(blocks as u64)))
}

/// Bit number in each lane, modulo 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn lane_bits(fields: u64) -> __m512i {
    _mm512_srlv_epi64(all(fields), _mm512_setr_epi64(16, 22, 28, 34, 40, 46, 52, 58))
}

/// Eight masks of eight bits as the bytes of a word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn join(masks: [u8; 8]) -> u64 {
    let [a, b, c, d, e, f, g, h] = masks.map(u16::from);
    let (ab, cd) = (_mm512_kunpackb(b, a), _mm512_kunpackb(d, c));
    let (ef, gh) = (_mm512_kunpackb(f, e), _mm512_kunpackb(h, g));
    let low = _mm512_kunpackw(u32::from(cd), u32::from(ab));
    let high = _mm512_kunpackw(u32::from(gh), u32::from(ef));
    _mm512_kunpackd(u64::from(high), u64::from(low))
}

/// Which bytes of a word are all ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn full_bytes(word: u64) -> u8 {
    _mm_cmpeq_epi8_mask(_mm_cvtsi64_si128(word as i64), _mm_set1_epi8(-1)) as u8
}
