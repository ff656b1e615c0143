//! Hot path: range lookups, a block of ranges from the highest layer down.
//!
//! As long as both ends of a range lie in one interval, its layer is one test of one bit, and that
//! is where almost every empty range ends: those are done eight at a step, as points are. A range
//! whose ends part goes on by the two-path search, from the layer where they part.

use std::arch::x86_64::*;

use super::address;
use super::contains::{Marks, pack, top_address};
use super::list::{BLOCK, test, valid};
use crate::Layers;
use crate::avx2::lanes::load8;
use crate::bloomrf::shape::Shape;
use crate::scalar::bloomrf as scalar;

/// Ranges that may hold a key, their ends in one interval of the layer above.
struct Together {
    lo: [u64; BLOCK + 8],
    hi: [u64; BLOCK + 8],
    places: [u32; BLOCK + 8],
    len: usize,
}

/// See [`super::range_many`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn many(
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    ranges: &[(u64, u64)],
    probes_max: u32,
    found: &mut [u64],
) {
    let shape = Shape::new(layers, hashed.len());
    let bits = _mm256_set1_epi64x(shape.bits.cast_signed());
    let within = scalar::Within::new(layers, probes_max);
    let mut list =
        Together { lo: [0; BLOCK + 8], hi: [0; BLOCK + 8], places: [0; BLOCK + 8], len: 0 };
    let mut marks: Marks = [[0; 64]; BLOCK / 64];
    for (ranges, found) in ranges.chunks(BLOCK).zip(found.chunks_mut(BLOCK / 64)) {
        let flags = marks.as_flattened_mut();
        flags.fill(0);
        list.len = 0;
        for (place, &(lo, hi)) in (0..).zip(ranges) {
            if within.holds(lo, hi) {
                list.push(lo, hi, place);
            } else {
                let answer = scalar::range(layers, hashed, top, lo, hi, probes_max);
                flags[place as usize] = u8::from(answer.may_hold());
            }
        }
        if layers.has_exact_top() {
            list.step(
                16,
                top,
                flags,
                |lo| top_address(lo),
                |lo, hi| scalar::search_below_top(layers.hashed(), hashed, top, lo, hi),
            );
        }
        for (index, layer) in shape.layers().iter().enumerate().rev() {
            if list.len == 0 {
                break;
            }
            let below = &layers.hashed()[..=index];
            list.step(
                below[index].start,
                hashed,
                flags,
                |lo| address::of(lo, layer, bits),
                |lo, hi| scalar::search(below, hashed, lo, hi),
            );
        }
        pack(&marks, found);
    }
}

impl Together {
    #[inline]
    fn push(&mut self, lo: u64, hi: u64, place: u32) {
        (self.lo[self.len], self.hi[self.len]) = (lo, hi);
        self.places[self.len] = place;
        self.len += 1;
    }

    /// One layer: drops what it excludes, and decides what ends or parts in it.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn step(
        &mut self,
        start: u8,
        words: &[u64],
        flags: &mut [u8],
        address: impl Fn((__m256i, __m256i)) -> __m256i,
        search: impl Fn(u64, u64) -> bool,
    ) {
        let low = (1u64 << start) - 1;
        let mut left = 0usize;
        for at in (0..self.len).step_by(8) {
            let Some(lo) = self.lo[at..].first_chunk::<8>() else { break };
            let set = test(words, address(load8(lo))) & valid(self.len - at);
            for lane in 0..8.min(self.len - at) {
                let (lo, hi) = (self.lo[at + lane], self.hi[at + lane]);
                let place = self.places[at + lane];
                let (set, differ) = (set >> lane & 1, lo ^ hi);
                if differ & !low != 0 {
                    flags[place as usize] = u8::from(search(lo, hi));
                    continue;
                }
                // All bits below the level differ, and `lo` has none set: the range is the
                // interval.
                let whole = u8::from(differ == low && lo & low == 0);
                flags[place as usize] |= set & whole;
                (self.lo[left], self.hi[left], self.places[left]) = (lo, hi, place);
                left = left.wrapping_add(usize::from(set & !whole & 1));
            }
        }
        self.len = left;
    }
}
