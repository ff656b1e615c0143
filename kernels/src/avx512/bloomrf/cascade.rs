//! Hot path: insert of ordered keys. From layer to layer, intervals equal to their left neighbour
//! are dropped, so the list shrinks; where words change rarely the bits of one word are gathered
//! and hashed once. Right for any keys (only exact repeats are dropped), fast for ordered ones.
//!
//! Works in blocks of [`BLOCK`] keys on the stack; a block costs at most one word per layer more
//! than an endless list would.

use std::arch::x86_64::*;

use super::address;
use crate::Layers;
use crate::avx512::lanes::{load8, load16, store8, store16_u32};
use crate::bloomrf::order::{BLOCK, Left, List, insert_runs, insert_top_intervals};
use crate::bloomrf::shape::{LaneLayer, set};

/// Inserts `keys`.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
pub(super) fn many<T: Copy + Into<u64>>(
    layers: &Layers,
    hashed: &mut [u64],
    top: &mut [u64],
    keys: &[T],
) {
    let mut list: List = [0; BLOCK + 16];
    for keys in keys.chunks(BLOCK) {
        list.iter_mut().zip(keys).for_each(|(wide, &key)| *wide = key.into());
        block(layers, hashed, top, &mut list, keys.len());
    }
}

/// One block of keys, through all layers.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
fn block(layers: &Layers, hashed: &mut [u64], top: &mut [u64], list: &mut List, count: usize) {
    let (mut count, mut level) = (count, 0);
    let bits = _mm512_set1_epi64(((hashed.len() as u64) << 6).cast_signed());
    for layer in layers.hashed() {
        let left = shrink(list, count, layer.start - level, layer.width - 1);
        (count, level) = (left.intervals, layer.start);
        if left.has_runs() {
            insert_runs(layer, hashed, &list[..count]);
        } else {
            each(&LaneLayer::new(layer, 0), bits, hashed, list, count);
        }
    }
    if layers.has_exact_top() {
        let left = shrink(list, count, 16 - level, 6);
        insert_top_intervals(top, &list[..left.intervals]);
    }
}

/// Shifts the first `count` entries by `shift` and drops those equal to their left neighbour.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
fn shrink(list: &mut List, count: usize, shift: u8, word_shift: u8) -> Left {
    let by = _mm512_set1_epi64(i64::from(shift));
    let to_word = _mm512_set1_epi64(i64::from(word_shift));
    // Differs from the first entry: that one is kept, whatever it is.
    let mut before = _mm512_set1_epi64((!(list[0] >> shift)).cast_signed());
    let mut left = Left { intervals: 0, words: 0 };
    for at in (0..count).step_by(8) {
        let Some(entries) = list[at..].first_chunk::<8>() else { break };
        let valid = 0xFFu8 >> (8usize.saturating_sub(count - at).min(8));
        let now = _mm512_srlv_epi64(load8(entries), by);
        let shifted = _mm512_alignr_epi64::<7>(now, before);
        let kept = _mm512_mask_cmpneq_epi64_mask(valid, now, shifted);
        let words = _mm512_mask_cmpneq_epi64_mask(
            valid,
            _mm512_srlv_epi64(now, to_word),
            _mm512_srlv_epi64(shifted, to_word),
        );
        // Never ahead of what is read: these eight are in a register.
        if let Some(target) = list[left.intervals..].first_chunk_mut::<8>() {
            store8(target, _mm512_maskz_compress_epi64(kept, now));
        }
        left.intervals = left.intervals.wrapping_add(kept.count_ones() as usize);
        left.words = left.words.wrapping_add(words.count_ones() as usize);
        before = now;
    }
    left
}

/// Hashes and sets each of the first `count` intervals.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
fn each(layer: &LaneLayer, bits: __m512i, hashed: &mut [u64], list: &mut List, count: usize) {
    // The last group is filled up with a repeat, which sets nothing new.
    let last = list[count - 1];
    list[count..][..16].fill(last);
    let (groups, _) = list[..count.next_multiple_of(16)].as_chunks::<16>();
    let mut addresses = [0u32; 16];
    for keys in groups {
        store16_u32(&mut addresses, address::of_u64(load16(keys), layer, bits));
        addresses.iter().for_each(|&bit| set(hashed, bit));
    }
}
