//! Hot path: loads and stores of 512-bit registers, the only unsafe code that most kernels need.
//!
//! Safe by their types: the array behind a reference is as long as the register. What is shorter
//! than 512 bits comes from the AVX2 set.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_sfence, _mm512_loadu_si512, _mm512_maskz_loadu_epi64, _mm512_storeu_si512,
    _mm512_stream_si512,
};

pub(crate) use crate::avx2::lanes::{load8_u32, prefetch, store8_u32};

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

/// Eight words from `at`.
///
/// # Panics
/// Unless there are as many.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store8_at(words: &mut [u64], at: usize, lanes: __m512i) {
    let words = &mut words[at..][..8];
    // SAFETY: the slice covers 64 writable bytes; the store asks for no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), lanes) }
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

/// Up to seven words, then zeros.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load8_part(words: &[u64]) -> __m512i {
    let named = ((1u32 << words.len().min(8)) - 1) as u8;
    // SAFETY: only the lanes of `named` are read, and the slice has as many words.
    unsafe { _mm512_maskz_loadu_epi64(named, words.as_ptr().cast()) }
}

/// Eight words, around the caches where they are a cache line of their own.
///
/// # Safety
/// The caller calls [`stream_fence`] before anyone reads the words, and before it returns to code
/// that does not know of this.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn stream8(words: &mut [u64; 8], lanes: __m512i) {
    let line: *mut __m512i = words.as_mut_ptr().cast();
    if line.is_aligned() {
        // SAFETY: 1. the reference covers 64 writable bytes, aligned as was just seen.
        //         2. the caller fences.
        unsafe { _mm512_stream_si512(line, lanes) }
    } else {
        store8(words, lanes);
    }
}

/// Orders what [`stream8`] wrote before everything that is written later.
#[inline]
pub(crate) fn stream_fence() {
    // Older compilers take it for unsafe.
    #[allow(unused_unsafe)]
    // SAFETY: SSE is part of x86-64; a fence touches no memory.
    unsafe {
        _mm_sfence();
    }
}
