//! Hot path: loads, stores and hints of column work; every one is a single instruction.
//!
//! Safe by their types: the array behind a reference is as long as what is loaded or stored.
#![allow(unsafe_code)]

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use crate::token::Avx2;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Asks for the line of each 64th byte of `bytes` and of the last one.
#[inline]
pub(crate) fn prefetch(token: Avx2, bytes: &[u8]) {
    let _ = token;
    for line in bytes.chunks(LINE_BYTES) {
        // SAFETY: a hint; the address is that of a byte of the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
    }
    if let Some(last) = bytes.last() {
        // SAFETY: as above.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(last).cast()) }
    }
}
