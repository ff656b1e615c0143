//! Hot path: loads and stores of 512-bit registers, the only unsafe code that most kernels need.
//!
//! Safe by their types: the array behind a reference is as long as the register.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_loadu_si512,
    _mm512_storeu_si512,
};

/// Eight words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load8(words: &[u64; 8]) -> __m512i {
    // SAFETY: the reference covers 64 readable bytes; the load asks for no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Eight words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store8(words: &mut [u64; 8], lanes: __m512i) {
    // SAFETY: the reference covers 64 writable bytes; the store asks for no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), lanes) }
}

/// Eight 32-bit numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load8_u32(numbers: &[u32; 8]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

/// Eight 32-bit numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store8_u32(numbers: &mut [u32; 8], lanes: __m256i) {
    // SAFETY: the reference covers 32 writable bytes; the store asks for no alignment.
    unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), lanes) }
}

/// Sixteen 32-bit numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load16_u32(numbers: &[u32; 16]) -> __m512i {
    // SAFETY: the reference covers 64 readable bytes; the load asks for no alignment.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// Sixteen 32-bit numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store16_u32(numbers: &mut [u32; 16], lanes: __m512i) {
    // SAFETY: the reference covers 64 writable bytes; the store asks for no alignment.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), lanes) }
}

/// Sixteen words in two registers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load16(words: &[u64; 16]) -> (__m512i, __m512i) {
    let pointer = words.as_ptr();
    // SAFETY: the reference covers 128 readable bytes, the second half begins after 8 words; the
    // loads ask for no alignment.
    unsafe { (_mm512_loadu_si512(pointer.cast()), _mm512_loadu_si512(pointer.add(8).cast())) }
}
