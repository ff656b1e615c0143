//! Hot path: loads and stores of 256-bit registers, the only unsafe code that most kernels need.
//!
//! Safe by their types: the array behind a reference is as long as the register.
#![allow(unsafe_code)]

use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};

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
