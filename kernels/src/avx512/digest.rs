//! Hot path: no allocation, no lock, no syscall; about a cycle per stripe besides its load.
//!
//! Xxh3-128 of more than 240 bytes: the eight accumulators are one register.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_mul_epu32, _mm512_set1_epi64, _mm512_shuffle_epi32,
    _mm512_slli_epi64, _mm512_srli_epi64, _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::columns_lanes::load64;
use super::lanes::{load8, store8};
use crate::digest::{KEYS, PRIME32_1, SHORT_BYTES_MAX, START, STRIPES, finish};
use crate::token::Avx512;

/// The digest of `bytes`, more than [`SHORT_BYTES_MAX`] of them.
pub(crate) fn xxh3_128(_: Avx512, bytes: &[u8]) -> u128 {
    assert!(bytes.len() > SHORT_BYTES_MAX, "{} bytes take the short path", bytes.len());
    // SAFETY: the token proves the features.
    unsafe { long(bytes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn long(bytes: &[u8]) -> u128 {
    // The last stripe is the last 64 bytes, so it is not among the stripes in turn.
    let (stripes, _) = bytes[..bytes.len() - 1].as_chunks::<64>();
    let mut sums = load8(&START);
    let (blocks, rest) = stripes.as_chunks::<STRIPES>();
    for block in blocks {
        for (stripe, key) in block.iter().zip(&KEYS.stripes) {
            sums = accumulate(sums, load64(stripe), key);
        }
        sums = scramble(sums);
    }
    for (stripe, key) in rest.iter().zip(&KEYS.stripes) {
        sums = accumulate(sums, load64(stripe), key);
    }
    if let Some(last) = bytes.last_chunk::<64>() {
        sums = accumulate(sums, load64(last), &KEYS.last);
    }
    finished(sums, bytes.len())
}

/// Adds a stripe to the accumulators.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn accumulate(sums: __m512i, stripe: __m512i, key: &[u64; 8]) -> __m512i {
    let mixed = _mm512_xor_si512(stripe, load8(key));
    let product = _mm512_mul_epu32(mixed, _mm512_srli_epi64::<32>(mixed));
    // Each word of the stripe goes to the neighbour's accumulator.
    let swapped = _mm512_shuffle_epi32::<0x4E>(stripe);
    _mm512_add_epi64(sums, _mm512_add_epi64(swapped, product))
}

/// Scrambles the accumulators, after each block of stripes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn scramble(sums: __m512i) -> __m512i {
    let shifted = _mm512_srli_epi64::<47>(sums);
    let mixed = _mm512_ternarylogic_epi64::<0x96>(sums, shifted, load8(&KEYS.scramble));
    let prime = _mm512_set1_epi64(PRIME32_1 as i64);
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(mixed), prime);
    _mm512_add_epi64(_mm512_mul_epu32(mixed, prime), _mm512_slli_epi64::<32>(high))
}

/// The digest of `bytes` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn finished(sums: __m512i, bytes: usize) -> u128 {
    let mut words = [0; 8];
    store8(&mut words, sums);
    finish(&words, bytes)
}
