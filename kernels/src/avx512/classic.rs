//! Hot path: no allocation, no lock, no syscall; up to k cache lines per item.
//!
//! The classic Bloom filter in 512-bit registers: eight items at a time, probe by probe.
//!
//! A question is asked of a chunk of items in rounds. Each reads one bit of every item that is
//! left, keeps those whose bit is set, and asks for the lines of their next bits: an absent item
//! costs two lines on average, a present one k, and no line is waited for but the last few of a
//! chunk. An insert needs all k lines, of items some groups ahead.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_mul_epu32, _mm512_or_si512,
    _mm512_setr_epi64, _mm512_srli_epi64, _mm512_xor_si512,
};

use super::hash::{all, mul};
use super::lanes::{load8, store8, store8_at};
use crate::ahead::{FAR, FAR_ITEMS, NEAR, NEAR_ITEMS, PLACES_AHEAD, eight, is_far};
use crate::avx2::blocked::prefetch;
use crate::hash::Hash128;
use crate::scalar::classic::FACTORS;
use crate::token::Avx512;

/// See [`crate::classic::insert_many`].
pub(crate) fn insert_many(
    _: Avx512,
    k: u32,
    bits: u64,
    words: &mut [u64],
    items: &[Hash128],
) -> u64 {
    // SAFETY: the token proves the features.
    unsafe {
        match (is_far(words), bits >> 32 == 0) {
            (false, _) => insert::<NEAR, false>(k, bits, words, items),
            (true, true) => insert::<FAR, false>(k, bits, words, items),
            (true, false) => insert::<FAR, true>(k, bits, words, items),
        }
    }
}

/// See [`crate::classic::contains_many`]; `found` has a word for each 64 items.
pub(crate) fn contains_many(
    _: Avx512,
    k: u32,
    bits: u64,
    words: &[u64],
    items: &[Hash128],
    found: &mut [u64],
) {
    // SAFETY: the token proves the features.
    unsafe {
        match (is_far(words), bits >> 32 == 0) {
            (false, _) => contains::<NEAR_ITEMS, NEAR, false>(k, bits, words, items, found),
            (true, true) => contains::<FAR_ITEMS, FAR, false>(k, bits, words, items, found),
            (true, false) => contains::<FAR_ITEMS, FAR, true>(k, bits, words, items, found),
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn insert<const AHEAD: usize, const WIDE: bool>(
    k: u32,
    bits: u64,
    words: &mut [u64],
    items: &[Hash128],
) -> u64 {
    let k = k as usize;
    let ahead = PLACES_AHEAD / k;
    let count = items.len().div_ceil(8);
    let mut ring = [[0; 8]; PLACES_AHEAD];
    let mut new = 0;
    for g in 0..count + ahead {
        let slot = &mut ring[g % ahead * k..][..k];
        if g >= ahead {
            // In order of the items, or they would not agree on who set a bit that two share.
            for lane in 0..(items.len() - (g - ahead) * 8).min(8) {
                let mut is_new = false;
                for places in slot.iter() {
                    let (at, bit) = (places[lane] / 64, 1 << (places[lane] % 64));
                    let word = &mut words[at as usize];
                    is_new |= *word & bit == 0;
                    *word |= bit;
                }
                new += u64::from(is_new);
            }
        }
        if g < count {
            let (mut value, step) = start8(&items[g * 8..]);
            for places in slot {
                store8(places, place8::<WIDE>(value, bits));
                value = _mm512_add_epi64(value, step);
                ask::<AHEAD>(words, places);
            }
        }
    }
    new
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn contains<const ITEMS: usize, const AHEAD: usize, const WIDE: bool>(
    k: u32,
    bits: u64,
    words: &[u64],
    items: &[Hash128],
    found: &mut [u64],
) {
    let mut list = List::<ITEMS>::EMPTY;
    found.fill(0);
    for (items, found) in items.chunks(ITEMS).zip(found.chunks_mut(ITEMS / 64)) {
        list.begin(items);
        let mut left = items.len();
        for _ in 0..k {
            list.place::<AHEAD, WIDE>(words, bits, left);
            left = list.keep(words, left);
            if left == 0 {
                break;
            }
        }
        for &item in &list.items[..left] {
            found[item as usize / 64] |= 1 << (item % 64);
        }
    }
}

/// Items of a chunk of which no probe was 0 so far.
#[repr(align(64))]
struct List<const ITEMS: usize> {
    /// Next values of their progressions.
    values: [u64; ITEMS],
    steps: [u64; ITEMS],
    /// Bits to be read.
    places: [u64; ITEMS],
    /// Numbers in the chunk.
    items: [u64; ITEMS],
}

impl<const ITEMS: usize> List<ITEMS> {
    const EMPTY: Self =
        List { values: [0; ITEMS], steps: [0; ITEMS], places: [0; ITEMS], items: [0; ITEMS] };

    /// All of a chunk.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    fn begin(&mut self, items: &[Hash128]) {
        let numbers = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        for at in (0..items.len()).step_by(8) {
            let (values, steps) = start8(&items[at..]);
            store8_at(&mut self.values, at, values);
            store8_at(&mut self.steps, at, steps);
            store8_at(&mut self.items, at, _mm512_add_epi64(numbers, all(at as u64)));
        }
    }

    /// Computes the next bits of the first `left`, and asks for their lines.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    fn place<const AHEAD: usize, const WIDE: bool>(
        &mut self,
        words: &[u64],
        bits: u64,
        left: usize,
    ) {
        let values = self.values.as_chunks_mut::<8>().0.iter_mut();
        let places = self.places.as_chunks_mut::<8>().0.iter_mut();
        let steps = self.steps.as_chunks::<8>().0.iter();
        for ((values, steps), places) in values.zip(steps).zip(places).take(left.div_ceil(8)) {
            let value = load8(values);
            store8(places, place8::<WIDE>(value, bits));
            store8(values, _mm512_add_epi64(value, load8(steps)));
            ask::<AHEAD>(words, places);
        }
    }

    /// Reads the bits of the first `left`; keeps those that are set, in order, and counts them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    fn keep(&mut self, words: &[u64], left: usize) -> usize {
        let mut kept = 0;
        for at in 0..left {
            let place = self.places[at];
            // Not past `at`: what is overwritten was read. Without a branch, since any guess at a
            // bit of a filter is wrong half of the time.
            self.values[kept] = self.values[at];
            self.steps[kept] = self.steps[at];
            self.items[kept] = self.items[at];
            kept += (words[(place / 64) as usize] >> (place % 64) & 1) as usize;
        }
        kept
    }
}

/// Starts of the progressions of up to eight items, and their steps; the last item fills up.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn start8(items: &[Hash128]) -> (__m512i, __m512i) {
    let items = eight(items);
    let (lo, hi) = (load8(&items.map(|item| item.lo)), load8(&items.map(|item| item.hi)));
    let step = _mm512_add_epi64(hi, stirred(lo));
    (_mm512_add_epi64(lo, stirred(step)), _mm512_or_si512(step, all(1)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn stirred(halves: __m512i) -> __m512i {
    let x = mul(halves, FACTORS[0]);
    _mm512_xor_si512(x, _mm512_srli_epi64::<32>(x))
}

/// [`crate::scalar::classic::place`] of eight values. Not `WIDE`: `bits` are less than 2^32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn place8<const WIDE: bool>(values: __m512i, bits: u64) -> __m512i {
    let x = mul(_mm512_xor_si512(values, _mm512_srli_epi64::<32>(values)), FACTORS[1]);
    let x = mul(_mm512_xor_si512(x, _mm512_srli_epi64::<29>(x)), FACTORS[2]);
    let (low, high) = (all(bits & 0xFFFF_FFFF), all(bits >> 32));
    let x_high = _mm512_srli_epi64::<32>(x);
    // The sum is at most (2^32 - 1)^2 + 2^32 - 1.
    let middle = _mm512_add_epi64(
        _mm512_mul_epu32(x_high, low),
        _mm512_srli_epi64::<32>(_mm512_mul_epu32(x, low)),
    );
    let narrow = _mm512_srli_epi64::<32>(middle);
    if !WIDE {
        return narrow;
    }
    let rest = _mm512_and_si512(middle, all(0xFFFF_FFFF));
    let carried = _mm512_srli_epi64::<32>(_mm512_add_epi64(rest, _mm512_mul_epu32(x, high)));
    _mm512_add_epi64(_mm512_add_epi64(narrow, carried), _mm512_mul_epu32(x_high, high))
}

/// Asks for the lines of bits, where the filter lies past L2.
#[inline]
fn ask<const AHEAD: usize>(words: &[u64], places: &[u64; 8]) {
    if AHEAD > NEAR {
        for place in places {
            prefetch::<AHEAD>(words.as_ptr().wrapping_add((place / 64) as usize).cast());
        }
    }
}
