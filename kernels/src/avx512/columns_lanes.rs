//! Hot path: loads and stores of column work; every one is a single instruction.
//!
//! Safe by their types: the array behind a reference is as long as what is loaded or stored.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256,
    _mm512_loadu_si512, _mm512_maskz_loadu_epi8,
};

pub(crate) use crate::avx2::columns_lanes::{load16_u8, store8_u8, store8_u16};

/// 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load64(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference covers 64 readable bytes; the load asks for no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The first bytes of `bytes`, at most 64, and zeros behind them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(crate) fn load_prefix(bytes: &[u8]) -> __m512i {
    let mask = if bytes.len() >= 64 { u64::MAX } else { !(u64::MAX << bytes.len()) };
    // SAFETY: the mask has bits of bytes of the slice only; the others are not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

/// The 64 bytes at the starts of `bytes`, `bytes[stride..]` and so on up to the eighth; `None`
/// where the eighth reaches past the end. One check for the eight loads.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load8_windows(bytes: &[u8], stride: usize) -> Option<[__m512i; 8]> {
    let last = stride.checked_mul(7)?;
    if bytes.len() < last.checked_add(64)? {
        return None;
    }
    let start = bytes.as_ptr();
    // SAFETY: `at` is at most the last window's start, which has 64 bytes behind it.
    let load = |at: usize| unsafe { _mm512_loadu_si512(start.add(at).cast()) };
    Some([
        load(0),
        load(stride),
        load(2 * stride),
        load(3 * stride),
        load(4 * stride),
        load(5 * stride),
        load(6 * stride),
        load(last),
    ])
}

/// The sixteen bytes of `lanes`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn bytes16(lanes: __m128i) -> [u8; 16] {
    let mut bytes = [0; 16];
    store16_u8(&mut bytes, lanes);
    bytes
}

/// Sixteen bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store16_u8(bytes: &mut [u8; 16], lanes: __m128i) {
    // SAFETY: the reference covers 16 writable bytes; the store asks for no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lanes) }
}

/// Sixteen 16-bit numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load16_u16(numbers: &[u16; 16]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

/// Sixteen 16-bit numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store16_u16(numbers: &mut [u16; 16], lanes: __m256i) {
    // SAFETY: the reference covers 32 writable bytes; the store asks for no alignment.
    unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), lanes) }
}

/// Thirty-two 16-bit numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load32_u16(numbers: &[u16; 32]) -> __m512i {
    // SAFETY: the reference covers 64 readable bytes; the load asks for no alignment.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}
