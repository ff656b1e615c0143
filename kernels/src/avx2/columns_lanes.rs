//! Hot path: loads, stores and hints of column work; every one is a single instruction.
//!
//! Safe by their types: the array behind a reference is as long as what is loaded or stored.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_storel_epi64,
    _mm_storeu_si128, _mm256_loadu_si256,
};

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Asks for the line of each 64th byte of `bytes` and of the last one. The instruction is older
/// than x86-64: no token.
#[inline]
#[cfg_attr(miri, allow(dead_code))]
pub(crate) fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(LINE_BYTES) {
        // SAFETY: a hint; the address is that of a byte of the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
    }
    if let Some(last) = bytes.last() {
        // SAFETY: as above.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(last).cast()) }
    }
}

/// 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load32(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load16_u8(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference covers 16 readable bytes; the load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Eight 16-bit numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store8_u16(numbers: &mut [u16; 8], lanes: __m128i) {
    // SAFETY: the reference covers 16 writable bytes; the store asks for no alignment.
    unsafe { _mm_storeu_si128(numbers.as_mut_ptr().cast(), lanes) }
}

/// Eight bytes: the low half of `lanes`.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store8_u8(bytes: &mut [u8; 8], lanes: __m128i) {
    // SAFETY: the reference covers 8 writable bytes; the store asks for no alignment.
    unsafe { _mm_storel_epi64(bytes.as_mut_ptr().cast(), lanes) }
}
