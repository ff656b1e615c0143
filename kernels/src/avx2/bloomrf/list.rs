//! Hot path: a block of keys that thins out as layers say "absent", eight tests a step.
//!
//! Only "all of them are left" is a branch; else the list closes up word by word, without one.

use std::arch::x86_64::*;

use crate::avx2::lanes::{load8, store8_u32};

/// Keys of a block.
pub(super) const BLOCK: usize = 1024;

/// Keys that may be there, and which key of the block each of them is.
pub(super) struct List {
    keys: [u64; BLOCK + 8],
    places: [u32; BLOCK + 8],
    len: usize,
}

impl List {
    pub(super) fn new() -> Self {
        List { keys: [0; BLOCK + 8], places: [0; BLOCK + 8], len: 0 }
    }

    /// All of `keys`, at most [`BLOCK`].
    pub(super) fn fill(&mut self, keys: &[u64]) {
        self.len = keys.len();
        self.keys[..keys.len()].copy_from_slice(keys);
        (0..).zip(&mut self.places[..keys.len()]).for_each(|(place, slot)| *slot = place);
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
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn keep(&mut self, words: &[u64], address: impl Fn((__m256i, __m256i)) -> __m256i) {
        let mut kept = 0usize;
        for at in (0..self.len).step_by(8) {
            let Some(keys) = self.keys[at..].first_chunk::<8>() else { break };
            let Some(places) = self.places[at..].first_chunk::<8>() else { break };
            let (keys, places) = (*keys, *places);
            let set = test(words, address(load8(&keys))) & valid(self.len - at);
            if set == 0xFF && kept == at {
                kept += 8;
                continue;
            }
            for lane in 0..8 {
                // Never ahead of what is read: these eight are copies.
                (self.keys[kept], self.places[kept]) = (keys[lane], places[lane]);
                kept = kept.wrapping_add(usize::from(set >> lane & 1));
            }
        }
        self.len = kept;
    }
}

/// The lanes that count where `left` of eight are left.
#[inline]
pub(super) fn valid(left: usize) -> u8 {
    0xFF >> 8usize.saturating_sub(left)
}

/// Which of eight bits are set, by their addresses.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn test(words: &[u64], addresses: __m256i) -> u8 {
    let mut at = [0u32; 8];
    store8_u32(&mut at, addresses);
    (0..8).fold(0, |set, lane| {
        let bit = at[lane];
        set | (((words[(bit >> 6) as usize] >> (bit & 63)) & 1) as u8) << lane
    })
}
