//! Hot path: a block of keys that thins out as layers say "absent", sixteen tests a step.
//!
//! No branch depends on an answer: a test leaves the keys that are still possible at the front of
//! the list. The cost is that of the tests that are needed, not of mispredicted early exits.

use std::arch::x86_64::*;

use crate::avx512::lanes::{load16, load16_u32, store8, store16_u32};

/// Keys of a block.
pub(super) const BLOCK: usize = 1024;

/// Keys that may be there, and which key of the block each of them is.
pub(super) struct List {
    keys: [u64; BLOCK + 16],
    places: [u32; BLOCK + 16],
    len: usize,
}

impl List {
    pub(super) fn new() -> Self {
        List { keys: [0; BLOCK + 16], places: [0; BLOCK + 16], len: 0 }
    }

    /// All of `keys`, at most [`BLOCK`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    pub(super) fn fill(&mut self, keys: &[u64]) {
        self.len = keys.len();
        self.keys[..keys.len()].copy_from_slice(keys);
        let mut places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let groups = self.places[..keys.len().next_multiple_of(16)].as_chunks_mut::<16>().0;
        for group in groups {
            store16_u32(group, places);
            places = _mm512_add_epi32(places, _mm512_set1_epi32(16));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Places of the keys that are left.
    pub(super) fn places(&self) -> &[u32] {
        &self.places[..self.len]
    }

    /// Keeps the keys whose bit in `words` is set; `address` says which bit that is.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
    pub(super) fn keep(&mut self, words: &[u64], address: impl Fn((__m512i, __m512i)) -> __m512i) {
        let mut kept = 0usize;
        for at in (0..self.len).step_by(16) {
            let Some(group) = self.keys[at..].first_chunk::<16>() else { break };
            let keys = load16(group);
            let set = test(words, address(keys)) & valid(self.len - at);
            if set == 0xFFFF && kept == at {
                kept += 16;
                continue;
            }
            let Some(places) = self.places[at..].first_chunk::<16>() else { break };
            let places = _mm512_maskz_compress_epi32(set, load16_u32(places));
            // Never ahead of what is read: these sixteen are in registers.
            if let Some(target) = self.places[kept..].first_chunk_mut() {
                store16_u32(target, places);
            }
            let (low, high) = (set as u8, (set >> 8) as u8);
            for (keys, set) in [(keys.0, low), (keys.1, high)] {
                if let Some(target) = self.keys[kept..].first_chunk_mut() {
                    store8(target, _mm512_maskz_compress_epi64(set, keys));
                }
                kept = kept.wrapping_add(set.count_ones() as usize);
            }
        }
        self.len = kept;
    }
}

/// The lanes that count where `left` of sixteen are left.
#[inline]
pub(super) fn valid(left: usize) -> u16 {
    0xFFFF >> 16usize.saturating_sub(left)
}

/// Which of sixteen bits are set, by their addresses.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
pub(super) fn test(words: &[u64], addresses: __m512i) -> u16 {
    let mut at = [0u32; 16];
    store16_u32(&mut at, _mm512_srli_epi32::<6>(addresses));
    let w = |lane: usize| words[at[lane] as usize].cast_signed();
    let low = _mm512_setr_epi64(w(0), w(1), w(2), w(3), w(4), w(5), w(6), w(7));
    let high = _mm512_setr_epi64(w(8), w(9), w(10), w(11), w(12), w(13), w(14), w(15));
    let bits = _mm512_and_si512(addresses, _mm512_set1_epi32(63));
    let one = _mm512_set1_epi64(1);
    let low_bits = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(bits));
    let high_bits = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(bits));
    let low = _mm512_test_epi64_mask(low, _mm512_sllv_epi64(one, low_bits));
    let high = _mm512_test_epi64_mask(high, _mm512_sllv_epi64(one, high_bits));
    u16::from(low) | u16::from(high) << 8
}
