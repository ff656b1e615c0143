//! Hot path: no allocation, no lock, no syscall; 32 loads and 64 compares.
//!
//! The zone maps of 64 slots against one range, four slots at a time. AVX2 compares signed
//! numbers only: the sign bits of both sides are flipped.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm256_castsi256_pd, _mm256_cmpgt_epi64, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_xor_si256,
};

use super::lanes::load4;
use crate::token::Avx2;
use crate::zone::ZoneMasks;

/// See [`crate::zone::masks`].
#[inline]
pub(crate) fn masks(_: Avx2, min: &[u64; 64], max: &[u64; 64], lo: u64, hi: u64) -> ZoneMasks {
    // SAFETY: the token proves the features.
    unsafe { masks_inner(min, max, lo, hi) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn masks_inner(min: &[u64; 64], max: &[u64; 64], lo: u64, hi: u64) -> ZoneMasks {
    let sign = _mm256_set1_epi64x(i64::MIN);
    let low = _mm256_xor_si256(_mm256_set1_epi64x(lo as i64), sign);
    let high = _mm256_xor_si256(_mm256_set1_epi64x(hi as i64), sign);
    let (mins, maxs) = (min.as_chunks::<4>().0, max.as_chunks::<4>().0);
    let (mut absent, mut outside) = (0, 0);
    for (i, (min, max)) in mins.iter().zip(maxs).enumerate() {
        let min = _mm256_xor_si256(load4(min), sign);
        let max = _mm256_xor_si256(load4(max), sign);
        let min_above = _mm256_cmpgt_epi64(min, high);
        let max_below = _mm256_cmpgt_epi64(low, max);
        let min_outside = bits(_mm256_or_si256(min_above, _mm256_cmpgt_epi64(low, min)));
        let max_outside = bits(_mm256_or_si256(max_below, _mm256_cmpgt_epi64(max, high)));
        absent |= bits(_mm256_or_si256(min_above, max_below)) << (4 * i);
        outside |= (min_outside & max_outside) << (4 * i);
    }
    ZoneMasks { absent, present: !outside }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn bits(lanes: __m256i) -> u64 {
    _mm256_movemask_pd(_mm256_castsi256_pd(lanes)) as u64
}
