//! Hot path: no allocation, no lock, no syscall; one cache line per item.
//!
//! The blocked counting filter in 512-bit registers: a block is one register. Items wait in a ring
//! between the prefetch of their lines and the use of them.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_maskz_mov_epi64,
    _mm512_setr_epi64, _mm512_slli_epi64, _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_sub_epi64,
    _mm512_test_epi64_mask, _mm512_testn_epi64_mask,
};

use super::hash::all;
use super::lanes::{load8, store8};
use crate::ahead::{FAR, NEAR, is_far};
use crate::avx2::blocked::prefetch;
use crate::counting::{Added, Taken};
use crate::hash::Hash128;
use crate::scalar::blocked::ONES;
use crate::scalar::counting::{COUNTER_SHIFT, Place, WINDOW_SHIFT, place};
use crate::token::Avx512;

/// See [`crate::counting::insert_many`].
pub(crate) fn insert_many(_: Avx512, k: u32, blocks: &mut [u64], items: &[Hash128]) -> Added {
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
pub(crate) fn contains_many(
    _: Avx512,
    k: u32,
    blocks: &[u64],
    items: &[Hash128],
    found: &mut [u64],
) {
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
    _: Avx512,
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

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn insert<const AHEAD: usize>(k: u32, blocks: &mut [u64], items: &[Hash128]) -> Added {
    let blocks = blocks.as_chunks_mut::<8>().0;
    let mut ring = [[Place::default(); 8]; AHEAD];
    let ring = ring.as_flattened_mut();
    let mut added = Added::default();
    for i in 0..items.len() + ring.len() {
        let slot = i % (8 * AHEAD);
        if i >= ring.len() {
            let block = &mut blocks[ring[slot].block as usize];
            let words = load8(block);
            let asked = Counters::of(k, ring[slot].fields, words);
            let step = _mm512_maskz_mov_epi64(!asked.full, asked.ones);
            store8(block, _mm512_add_epi64(words, step));
            added.new += u64::from(asked.empty != 0);
            added.lost += u64::from(asked.full.count_ones());
        }
        if let Some(&item) = items.get(i) {
            ring[slot] = put::<AHEAD>(blocks, item);
        }
    }
    added
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn contains<const AHEAD: usize>(k: u32, blocks: &[u64], items: &[Hash128], found: &mut [u64]) {
    let blocks = blocks.as_chunks::<8>().0;
    let mut ring = [[Place::default(); 8]; AHEAD];
    let ring = ring.as_flattened_mut();
    found.fill(0);
    for i in 0..items.len() + ring.len() {
        let slot = i % (8 * AHEAD);
        if let Some(at) = i.checked_sub(8 * AHEAD) {
            let words = load8(&blocks[ring[slot].block as usize]);
            let asked = Counters::of(k, ring[slot].fields, words);
            found[at / 64] |= u64::from(asked.empty == 0) << (at % 64);
        }
        if let Some(&item) = items.get(i) {
            ring[slot] = put::<AHEAD>(blocks, item);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
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
            let words = load8(block);
            let asked = Counters::of(k, ring[slot].fields, words);
            if asked.empty == 0 {
                let step = _mm512_maskz_mov_epi64(!asked.full, asked.ones);
                store8(block, _mm512_sub_epi64(words, step));
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
    /// A one in the lowest bit of each counter.
    ones: __m512i,
    /// Which of them are 0, 1 and 15.
    empty: u8,
    last: u8,
    full: u8,
}

impl Counters {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    fn of(k: u32, fields: u64, words: __m512i) -> Self {
        let window = load8(&ONES[k as usize][(fields >> WINDOW_SHIFT) as usize]);
        // Four times the number of a counter: its shift.
        const FIRST: i64 = COUNTER_SHIFT as i64 - 2;
        let lanes = _mm512_setr_epi64(
            FIRST,
            FIRST + 4,
            FIRST + 8,
            FIRST + 12,
            FIRST + 16,
            FIRST + 20,
            FIRST + 24,
            FIRST + 28,
        );
        let shifts = _mm512_and_si512(_mm512_srlv_epi64(all(fields), lanes), all(60));
        let ones = _mm512_sllv_epi64(window, shifts);
        let mask = _mm512_sub_epi64(_mm512_slli_epi64::<4>(ones), ones);
        let counters = _mm512_and_si512(words, mask);
        let taken = _mm512_test_epi64_mask(ones, ones);
        Counters {
            ones,
            empty: _mm512_testn_epi64_mask(words, mask) & taken,
            last: _mm512_cmpeq_epi64_mask(counters, ones) & taken,
            full: _mm512_cmpeq_epi64_mask(counters, mask) & taken,
        }
    }
}
