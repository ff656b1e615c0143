//! Hot path: range lookups, a block of ranges from the highest layer down.
//!
//! As long as both ends of a range lie in one interval, its layer is one test of one bit, and that
//! is where almost every empty range ends: those are done sixteen at a step, as points are. A
//! range whose ends part goes on by the two-path search, from the layer where they part.

use std::arch::x86_64::*;

use super::address;
use super::contains::{Marks, pack, top_address};
use super::list::{BLOCK, test, valid};
use crate::Layers;
use crate::avx512::lanes::{load16, load16_u32, store8, store16_u32};
use crate::bloomrf::shape::Shape;
use crate::scalar::bloomrf as scalar;

/// Ranges that may hold a key, their ends in one interval of the layer above.
struct Together {
    lo: [u64; BLOCK + 16],
    hi: [u64; BLOCK + 16],
    places: [u32; BLOCK + 16],
    len: usize,
}

/// What one test of sixteen ranges says.
struct Verdict {
    /// The ends part here.
    parted: u16,
    /// The range is the interval, and the interval may hold a key.
    found: u16,
    /// The interval may hold a key: on to the next layer.
    kept: u16,
}

/// See [`super::range_many`].
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
pub(super) fn many(
    layers: &Layers,
    hashed: &[u64],
    top: &[u64],
    ranges: &[(u64, u64)],
    probes_max: u32,
    found: &mut [u64],
) {
    let shape = Shape::new(layers, hashed.len());
    let bits = _mm512_set1_epi64(shape.bits.cast_signed());
    let within = scalar::Within::new(layers, probes_max);
    let mut list =
        Together { lo: [0; BLOCK + 16], hi: [0; BLOCK + 16], places: [0; BLOCK + 16], len: 0 };
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
                |lo| address::of_u64(lo, layer, bits),
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
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
    fn step(
        &mut self,
        start: u8,
        words: &[u64],
        flags: &mut [u8],
        address: impl Fn((__m512i, __m512i)) -> __m512i,
        search: impl Fn(u64, u64) -> bool,
    ) {
        let mut left = 0usize;
        for at in (0..self.len).step_by(16) {
            let Some(lo) = self.lo[at..].first_chunk::<16>() else { break };
            let Some(hi) = self.hi[at..].first_chunk::<16>() else { break };
            let Some(places) = self.places[at..].first_chunk::<16>() else { break };
            let (lo, hi, places) = (load16(lo), load16(hi), load16_u32(places));
            let set = test(words, address(lo));
            let verdict = verdict(start, lo, hi, set, valid(self.len - at));
            let mut parted = verdict.parted;
            while parted != 0 {
                let lane = at + parted.trailing_zeros() as usize;
                parted &= parted - 1;
                flags[self.places[lane] as usize] = u8::from(search(self.lo[lane], self.hi[lane]));
            }
            let mut found = verdict.found;
            while found != 0 {
                flags[self.places[at + found.trailing_zeros() as usize] as usize] = 1;
                found &= found - 1;
            }
            left = self.retain(left, lo, hi, places, verdict.kept);
        }
        self.len = left;
    }

    /// Moves the ranges of the set lanes to the front, at `left`; returns where the next go.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
    fn retain(
        &mut self,
        left: usize,
        lo: (__m512i, __m512i),
        hi: (__m512i, __m512i),
        places: __m512i,
        kept: u16,
    ) -> usize {
        // Never ahead of what is read: these sixteen are in registers.
        if let Some(target) = self.places[left..].first_chunk_mut() {
            store16_u32(target, _mm512_maskz_compress_epi32(kept, places));
        }
        let mut left = left;
        for (lo, hi, kept) in [(lo.0, hi.0, kept as u8), (lo.1, hi.1, (kept >> 8) as u8)] {
            if let Some(target) = self.lo[left..].first_chunk_mut() {
                store8(target, _mm512_maskz_compress_epi64(kept, lo));
            }
            if let Some(target) = self.hi[left..].first_chunk_mut() {
                store8(target, _mm512_maskz_compress_epi64(kept, hi));
            }
            left = left.wrapping_add(kept.count_ones() as usize);
        }
        left
    }
}

/// Sorts sixteen ranges by what the test of the interval of `lo` at level `start` says of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn verdict(
    start: u8,
    lo: (__m512i, __m512i),
    hi: (__m512i, __m512i),
    set: u16,
    valid: u16,
) -> Verdict {
    let low = _mm512_set1_epi64(((1u64 << start) - 1).cast_signed());
    let one = |lo: __m512i, hi: __m512i| {
        let differ = _mm512_xor_si512(lo, hi);
        // All differing bits are below the level: one interval. All of them differ, and `lo` has
        // none set: the range is the interval.
        let together = _mm512_testn_epi64_mask(differ, _mm512_andnot_si512(low, differ));
        let whole = _mm512_cmpeq_epi64_mask(differ, low) & _mm512_testn_epi64_mask(lo, low);
        (together, whole)
    };
    let (low_half, high_half) = (one(lo.0, hi.0), one(lo.1, hi.1));
    let together = u16::from(low_half.0) | u16::from(high_half.0) << 8;
    let whole = u16::from(low_half.1) | u16::from(high_half.1) << 8;
    let set = set & valid & together;
    Verdict { parted: valid & !together, found: set & whole, kept: set & !whole }
}
