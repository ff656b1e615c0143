//! Hot path: insert of ordered keys. From layer to layer, intervals equal to their left neighbour
//! are dropped, so the list shrinks; where words change rarely the bits of one word are gathered
//! and hashed once. Right for any keys (only exact repeats are dropped), fast for ordered ones.
//!
//! Works in blocks of [`BLOCK`] keys on the stack; a block costs at most one word per layer more
//! than an endless list would.

use std::arch::x86_64::*;

use super::address::{self, LaneLayer};
use super::insert::set;
use crate::avx512::lanes::{load8, load16, store8, store16_u32};
use crate::bloomrf::KeyOrder;
use crate::hash::mix;
use crate::{Layer, Layers};

/// Keys of one pass through the layers.
const BLOCK: usize = 1024;

/// The list, with room for whole registers behind its end.
type List = [u64; BLOCK + 16];

/// Whether the cascade is the faster way for `keys`: what the caller knows, or a sample.
pub(super) fn pays(layers: &Layers, order: KeyOrder, keys: &[u64]) -> bool {
    let level = sample_level(layers);
    decide(order, keys, |pair| pair[0] >> level == pair[1] >> level)
}

/// [`pays`] of 4-byte keys.
pub(super) fn pays_u32(layers: &Layers, order: KeyOrder, keys: &[u32]) -> bool {
    let level = sample_level(layers);
    decide(order, keys, |pair| u64::from(pair[0]) >> level == u64::from(pair[1]) >> level)
}

/// The layers from which on neighbours have to be equal: the third, or the highest.
fn sample_level(layers: &Layers) -> u8 {
    layers.hashed().iter().take(3).next_back().map_or(0, |layer| layer.start)
}

/// Up to 256 pairs of neighbours, 8 in a row; "yes" where more than half are equal.
#[inline]
fn decide<T>(order: KeyOrder, keys: &[T], equal: impl Fn(&[T]) -> bool) -> bool {
    match order {
        KeyOrder::Scattered => return false,
        KeyOrder::Ordered => return true,
        KeyOrder::Unknown => {}
    }
    let (mut asked, mut same) = (0usize, 0usize);
    let stride = (keys.len() / 32).max(9);
    for run in keys.chunks(stride) {
        for pair in run[..run.len().min(9)].windows(2) {
            asked += 1;
            same += usize::from(equal(pair));
        }
    }
    same * 2 > asked
}

/// Inserts `keys`.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn many(layers: &Layers, hashed: &mut [u64], top: &mut [u64], keys: &[u64]) {
    let mut list: List = [0; BLOCK + 16];
    for keys in keys.chunks(BLOCK) {
        list[..keys.len()].copy_from_slice(keys);
        block(layers, hashed, top, &mut list, keys.len());
    }
}

/// Inserts 4-byte keys.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn many_u32(layers: &Layers, hashed: &mut [u64], top: &mut [u64], keys: &[u32]) {
    let mut list: List = [0; BLOCK + 16];
    for keys in keys.chunks(BLOCK) {
        list.iter_mut().zip(keys).for_each(|(wide, &key)| *wide = u64::from(key));
        block(layers, hashed, top, &mut list, keys.len());
    }
}

/// One block of keys, through all layers.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn block(layers: &Layers, hashed: &mut [u64], top: &mut [u64], list: &mut List, count: usize) {
    let (mut count, mut level) = (count, 0);
    let bits = _mm512_set1_epi64(((hashed.len() as u64) << 6).cast_signed());
    for layer in layers.hashed() {
        let left = shrink(list, count, layer.start - level, layer.width - 1);
        (count, level) = (left.intervals, layer.start);
        if left.words * 3 < count {
            runs(layer, hashed, &list[..count]);
        } else {
            each(&LaneLayer::new(layer, 0), bits, hashed, list, count);
        }
    }
    if layers.has_exact_top() {
        let left = shrink(list, count, 16 - level, 6);
        for &key in &list[..left.intervals] {
            top[(key >> 6) as usize] |= 1 << (key & 63);
        }
    }
}

/// What is left of a list after a step upwards.
struct Left {
    /// Intervals that differ from their left neighbour: the new length.
    intervals: usize,
    /// How often the word changes from one to the next.
    words: usize,
}

/// Shifts the first `count` entries by `shift` and drops those equal to their left neighbour.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
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

/// Gathers the bits of neighbours in one word and hashes once per word.
fn runs(layer: &Layer, hashed: &mut [u64], list: &[u64]) {
    let Some(&first) = list.first() else { return };
    let word_shift = layer.width - 1;
    let (mut group, mut offsets) = (first >> word_shift, 0u64);
    for &interval in list {
        if interval >> word_shift != group {
            or_word(layer, hashed, group, offsets);
            (group, offsets) = (interval >> word_shift, 0);
        }
        offsets |= 1 << (interval & layer.offset_max());
    }
    or_word(layer, hashed, group, offsets);
}

/// ORs the offsets of one group into its word.
#[inline]
fn or_word(layer: &Layer, hashed: &mut [u64], group: u64, offsets: u64) {
    let h = mix(group, layer.salt);
    let word = ((h >> 32) * hashed.len() as u64) >> 32;
    hashed[word as usize] |= offsets.rotate_left((h >> 8) as u32 & 63);
}
