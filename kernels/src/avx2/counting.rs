//! Hot path: no allocation, no lock, no syscall; one cache line per item.
//!
//! The blocked counting filter in 256-bit registers: a block is two. Items wait in a ring between
//! the prefetch of their lines and the use of them.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256, _mm256_castsi256_pd,
    _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_setr_epi64x, _mm256_setzero_si256,
    _mm256_slli_epi64, _mm256_sllv_epi64, _mm256_srlv_epi64, _mm256_sub_epi64,
};

use super::blocked::prefetch;
use super::hash::all;
use super::lanes::{load4, store4};
use crate::ahead::{FAR, NEAR, is_far};
use crate::counting::{Added, Taken};
use crate::hash::Hash128;
use crate::scalar::blocked::ONES;
use crate::scalar::counting::{COUNTER_SHIFT, Place, WINDOW_SHIFT, place};
use crate::token::Avx2;

/// See [`crate::counting::insert_many`].
pub(crate) fn insert_many(_: Avx2, k: u32, blocks: &mut [u64], items: &[Hash128]) -> Added {
    // SAFETY: the token proves the features.
    unsafe {
        if is_far(blocks) {
            insert::<FAR>(k, blocks, items)
        } else {
            insert::<NEAR>(k, blocks, items)
        }
    }
}

/// See [`crate::counting::contains_many`]; `found` has a word for each 64 items.
pub(crate) fn contains_many(_: Avx2, k: u32, blocks: &[u64], items: &[Hash128], found: &mut [u64]) {
    // SAFETY: the token proves the features.
    unsafe {
        if is_far(blocks) {
            contains::<FAR>(k, blocks, items, found);
        } else {
            contains::<NEAR>(k, blocks, items, found);
        }
    }
}

/// See [`crate::counting::remove_many`]; `refused` has a word for each 64 items.
pub(crate) fn remove_many(
    _: Avx2,
    k: u32,
    blocks: &mut [u64],
    items: &[Hash128],
    refused: &mut [u64],
) -> Taken {
    // SAFETY: the token proves the features.
    unsafe {
        if is_far(blocks) {
            remove::<FAR>(k, blocks, items, refused)
        } else {
            remove::<NEAR>(k, blocks, items, refused)
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn insert<const AHEAD: usize>(k: u32, blocks: &mut [u64], items: &[Hash128]) -> Added {
    let blocks = blocks.as_chunks_mut::<8>().0;
    let mut ring = [[Place::default(); 8]; AHEAD];
    let ring = ring.as_flattened_mut();
    let mut added = Added::default();
    for i in 0..items.len() + ring.len() {
        let slot = i % (8 * AHEAD);
        if i >= ring.len() {
            let block = &mut blocks[ring[slot].block as usize];
            let asked = Counters::of(k, ring[slot].fields, block);
            for (half, step) in block.as_chunks_mut::<4>().0.iter_mut().zip(asked.steps) {
                store4(half, _mm256_add_epi64(load4(half), step));
            }
            added.new += u64::from(asked.empty != 0);
            added.lost += u64::from(asked.full.count_ones());
        }
        if let Some(&item) = items.get(i) {
            ring[slot] = put::<AHEAD>(blocks, item);
        }
    }
    added
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn contains<const AHEAD: usize>(k: u32, blocks: &[u64], items: &[Hash128], found: &mut [u64]) {
    let blocks = blocks.as_chunks::<8>().0;
    let mut ring = [[Place::default(); 8]; AHEAD];
    let ring = ring.as_flattened_mut();
    found.fill(0);
    for i in 0..items.len() + ring.len() {
        let slot = i % (8 * AHEAD);
        if let Some(at) = i.checked_sub(8 * AHEAD) {
            let block = &blocks[ring[slot].block as usize];
            let asked = Counters::of(k, ring[slot].fields, block);
            found[at / 64] |= u64::from(asked.empty == 0) << (at % 64);
        }
        if let Some(&item) = items.get(i) {
            ring[slot] = put::<AHEAD>(blocks, item);
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn remove<const AHEAD: usize>(
    k: u32,
    blocks: &mut [u64],
    items: &[Hash128],
    refused: &mut [u64],
) -> Taken {
    let blocks = blocks.as_chunks_mut::<8>().0;
    let mut ring = [[Place::default(); 8]; AHEAD];
    let ring = ring.as_flattened_mut();
    let mut taken = Taken::default();
    refused.fill(0);
    for i in 0..items.len() + ring.len() {
        let slot = i % (8 * AHEAD);
        if let Some(at) = i.checked_sub(8 * AHEAD) {
            let block = &mut blocks[ring[slot].block as usize];
            let asked = Counters::of(k, ring[slot].fields, block);
            if asked.empty == 0 {
                for (half, step) in block.as_chunks_mut::<4>().0.iter_mut().zip(asked.steps) {
                    store4(half, _mm256_sub_epi64(load4(half), step));
                }
                taken.done += 1;
                taken.stuck += u64::from(asked.full != 0);
                taken.gone += u64::from(asked.last != 0);
            } else {
                refused[at / 64] |= 1 << (at % 64);
            }
        }
        if let Some(&item) = items.get(i) {
            ring[slot] = put::<AHEAD>(blocks, item);
        }
    }
    taken
}

/// The place of an item, whose line is asked for.
#[inline]
fn put<const AHEAD: usize>(blocks: &[[u64; 8]], item: Hash128) -> Place {
    let place = place(blocks.len(), item);
    prefetch::<AHEAD>(blocks.as_ptr().wrapping_add(place.block as usize).cast());
    place
}

/// The counters of an item in the words of its block; a bit for each lane.
struct Counters {
    /// A one in the lowest bit of each counter that is not 15.
    steps: [__m256i; 2],
    /// Which of them are 0, 1 and 15.
    empty: u8,
    last: u8,
    full: u8,
}

impl Counters {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn of(k: u32, fields: u64, block: &[u64; 8]) -> Self {
        let window = ONES[k as usize][(fields >> WINDOW_SHIFT) as usize].as_chunks::<4>().0;
        // Four times the number of a counter: its shift.
        const FIRST: i64 = COUNTER_SHIFT as i64 - 2;
        let low = _mm256_setr_epi64x(FIRST, FIRST + 4, FIRST + 8, FIRST + 12);
        let mut asked = Counters { steps: [_mm256_setzero_si256(); 2], empty: 0, last: 0, full: 0 };
        for (half, words) in block.as_chunks::<4>().0.iter().enumerate() {
            let lanes = _mm256_add_epi64(low, all(16 * half as u64));
            let shifts = _mm256_and_si256(_mm256_srlv_epi64(all(fields), lanes), all(60));
            let ones = _mm256_sllv_epi64(load4(&window[half]), shifts);
            let mask = _mm256_sub_epi64(_mm256_slli_epi64::<4>(ones), ones);
            let counters = _mm256_and_si256(load4(words), mask);
            let none = _mm256_setzero_si256();
            let outside = _mm256_cmpeq_epi64(ones, none);
            let bits = |lanes| {
                let taken = _mm256_castsi256_pd(_mm256_andnot_si256(outside, lanes));
                (_mm256_movemask_pd(taken) as u8) << (4 * half)
            };
            let full = _mm256_cmpeq_epi64(counters, mask);
            asked.steps[half] = _mm256_andnot_si256(full, ones);
            asked.empty |= bits(_mm256_cmpeq_epi64(counters, none));
            asked.last |= bits(_mm256_cmpeq_epi64(counters, ones));
            asked.full |= bits(full);
        }
        asked
    }
}
