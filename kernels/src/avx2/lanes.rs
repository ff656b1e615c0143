//! Hot path: loads and stores of 256-bit registers, the only unsafe code that most kernels need.
//!
//! Safe by their types: the array behind a reference is as long as the register.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_castsi256_si128, _mm256_cvtepu32_epi64,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_storeu_si256,
};

/// Four words.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load4(words: &[u64; 4]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Four words.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store4(words: &mut [u64; 4], lanes: __m256i) {
    // SAFETY: the reference covers 32 writable bytes; the store asks for no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), lanes) }
}

/// Eight words in two registers.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load8(words: &[u64; 8]) -> (__m256i, __m256i) {
    let pointer = words.as_ptr();
    // SAFETY: the reference covers 64 readable bytes, the second half begins after 4 words; the
    // loads ask for no alignment.
    unsafe { (_mm256_loadu_si256(pointer.cast()), _mm256_loadu_si256(pointer.add(4).cast())) }
}

/// Eight 32-bit numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load8_u32(numbers: &[u32; 8]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

/// Eight 32-bit numbers, widened, in two registers.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load8_wide(numbers: &[u32; 8]) -> (__m256i, __m256i) {
    let lanes = load8_u32(numbers);
    (
        _mm256_cvtepu32_epi64(_mm256_castsi256_si128(lanes)),
        _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(lanes)),
    )
}

/// Eight 32-bit numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store8_u32(numbers: &mut [u32; 8], lanes: __m256i) {
    // SAFETY: the reference covers 32 writable bytes; the store asks for no alignment.
    unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), lanes) }
}

/// Asks for the line of a word that will be read soon.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn prefetch(word: &u64) {
    // Older compilers take it for unsafe.
    #[allow(unused_unsafe)]
    // SAFETY: a hint, on a reference besides: it neither faults nor changes anything.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast());
    }
}
