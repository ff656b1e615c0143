//! Hot path: no allocation, no lock, no syscall; about two cycles per stripe besides its loads.
//!
//! Xxh3-128 of more than 240 bytes: the eight accumulators are two registers.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_mul_epu32, _mm256_set1_epi64x, _mm256_shuffle_epi32,
    _mm256_slli_epi64, _mm256_srli_epi64, _mm256_xor_si256,
};

use super::columns_lanes::load32;
use super::lanes::{load4, store4};
use crate::digest::{KEYS, PRIME32_1, SHORT_BYTES_MAX, START, STRIPES, finish};
use crate::token::Avx2;

/// The digest of `bytes`, more than [`SHORT_BYTES_MAX`] of them.
pub(crate) fn xxh3_128(_: Avx2, bytes: &[u8]) -> u128 {
    assert!(bytes.len() > SHORT_BYTES_MAX, "{} bytes take the short path", bytes.len());
    // SAFETY: the token proves the features.
    unsafe { long(bytes) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn long(bytes: &[u8]) -> u128 {
    // The last stripe is the last 64 bytes, so it is not among the stripes in turn.
    let (stripes, _) = bytes[..bytes.len() - 1].as_chunks::<64>();
    let mut sums = halves(&START);
    let (blocks, rest) = stripes.as_chunks::<STRIPES>();
    for block in blocks {
        for (stripe, key) in block.iter().zip(&KEYS.stripes) {
            sums = accumulate(sums, stripe, key);
        }
        let (key, other) = halves(&KEYS.scramble);
        sums = (scramble(sums.0, key), scramble(sums.1, other));
    }
    for (stripe, key) in rest.iter().zip(&KEYS.stripes) {
        sums = accumulate(sums, stripe, key);
    }
    if let Some(last) = bytes.last_chunk::<64>() {
        sums = accumulate(sums, last, &KEYS.last);
    }
    let mut words = [[0; 4]; 2];
    store4(&mut words[0], sums.0);
    store4(&mut words[1], sums.1);
    let mut all = [0; 8];
    all.copy_from_slice(words.as_flattened());
    finish(&all, bytes.len())
}

/// Adds a stripe to the accumulators.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn accumulate(sums: (__m256i, __m256i), stripe: &[u8; 64], key: &[u64; 8]) -> (__m256i, __m256i) {
    let (low, high) = halves(key);
    let halves = stripe.as_chunks::<32>().0;
    (add(sums.0, load32(&halves[0]), low), add(sums.1, load32(&halves[1]), high))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn add(sums: __m256i, stripe: __m256i, key: __m256i) -> __m256i {
    let mixed = _mm256_xor_si256(stripe, key);
    let product = _mm256_mul_epu32(mixed, _mm256_srli_epi64::<32>(mixed));
    // Each word of the stripe goes to the neighbour's accumulator.
    let swapped = _mm256_shuffle_epi32::<0x4E>(stripe);
    _mm256_add_epi64(sums, _mm256_add_epi64(swapped, product))
}

/// Scrambles half of the accumulators, after each block of stripes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn scramble(sums: __m256i, key: __m256i) -> __m256i {
    let mixed = _mm256_xor_si256(_mm256_xor_si256(sums, _mm256_srli_epi64::<47>(sums)), key);
    let prime = _mm256_set1_epi64x(PRIME32_1 as i64);
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(mixed), prime);
    _mm256_add_epi64(_mm256_mul_epu32(mixed, prime), _mm256_slli_epi64::<32>(high))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn halves(words: &[u64; 8]) -> (__m256i, __m256i) {
    let halves = words.as_chunks::<4>().0;
    (load4(&halves[0]), load4(&halves[1]))
}
