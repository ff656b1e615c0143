//! Hot path: no allocation, no lock, no syscall; 16 loads and 32 compares.
//!
//! The zone maps of 64 slots against one range, eight slots at a time.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    _mm512_cmpge_epu64_mask, _mm512_cmple_epu64_mask, _mm512_mask_cmple_epu64_mask,
    _mm512_set1_epi64,
};

use super::lanes::load8;
use crate::token::Avx512;
use crate::zone::ZoneMasks;

/// See [`crate::zone::masks`].
#[inline]
pub(crate) fn masks(_: Avx512, min: &[u64; 64], max: &[u64; 64], lo: u64, hi: u64) -> ZoneMasks {
    // SAFETY: the token proves the features.
    unsafe { masks_inner(min, max, lo, hi) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn masks_inner(min: &[u64; 64], max: &[u64; 64], lo: u64, hi: u64) -> ZoneMasks {
    let (low, high) = (_mm512_set1_epi64(lo as i64), _mm512_set1_epi64(hi as i64));
    let (mins, maxs) = (min.as_chunks::<8>().0, max.as_chunks::<8>().0);
    let (mut meets, mut present) = ([0; 8], [0; 8]);
    for (i, (min, max)) in mins.iter().zip(maxs).enumerate() {
        let (min, max) = (load8(min), load8(max));
        let min_below = _mm512_cmple_epu64_mask(min, high);
        let max_above = _mm512_cmpge_epu64_mask(max, low);
        meets[i] = min_below & max_above;
        // Where the range meets the bounds, it holds the lower one if that is not below it.
        present[i] = _mm512_mask_cmple_epu64_mask(min_below, low, min)
            | _mm512_mask_cmple_epu64_mask(max_above, max, high);
    }
    ZoneMasks { absent: !u64::from_le_bytes(meets), present: u64::from_le_bytes(present) }
}
