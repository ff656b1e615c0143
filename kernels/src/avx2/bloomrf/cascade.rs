//! Hot path: insert of ordered keys. From layer to layer, intervals equal to their left neighbour
//! are dropped, so the list shrinks; where words change rarely the bits of one word are gathered
//! and hashed once. Right for any keys: only exact repeats are dropped.
//!
//! AVX2 cannot compress a register: the list shrinks word by word, without a branch.

use std::arch::x86_64::*;

use super::address;
use crate::Layers;
use crate::avx2::lanes::{load8, store8_u32};
use crate::bloomrf::order::{BLOCK, Left, List, insert_runs, insert_top_intervals};
use crate::bloomrf::shape::{LaneLayer, set};

/// Inserts `keys`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
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
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn block(layers: &Layers, hashed: &mut [u64], top: &mut [u64], list: &mut List, count: usize) {
    let (mut count, mut level) = (count, 0);
    let bits = _mm256_set1_epi64x(((hashed.len() as u64) << 6).cast_signed());
    for layer in layers.hashed() {
        let left = shrink(&mut list[..count], layer.start - level, layer.width - 1);
        (count, level) = (left.intervals, layer.start);
        if left.has_runs() {
            insert_runs(layer, hashed, &list[..count]);
        } else {
            each(&LaneLayer::new(layer, 0), bits, hashed, list, count);
        }
    }
    if layers.has_exact_top() {
        let left = shrink(&mut list[..count], 16 - level, 6);
        insert_top_intervals(top, &list[..left.intervals]);
    }
}

/// Shifts the entries by `shift` and drops those equal to their left neighbour.
#[inline]
fn shrink(list: &mut [u64], shift: u8, word_shift: u8) -> Left {
    let mut left = Left { intervals: 0, words: 0 };
    // Differs from the first entry: that one is kept, whatever it is.
    let mut before = list.first().map_or(0, |first| !(first >> shift));
    for at in 0..list.len() {
        let now = list[at] >> shift;
        list[left.intervals] = now;
        left.intervals = left.intervals.wrapping_add(usize::from(now != before));
        left.words = left.words.wrapping_add(usize::from((now ^ before) >> word_shift != 0));
        before = now;
    }
    left
}

/// Hashes and sets each of the first `count` intervals.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn each(layer: &LaneLayer, bits: __m256i, hashed: &mut [u64], list: &mut List, count: usize) {
    // The last group is filled up with a repeat, which sets nothing new.
    let last = list[count - 1];
    list[count..][..8].fill(last);
    let mut addresses = [0u32; 8];
    for keys in list[..count.next_multiple_of(8)].as_chunks::<8>().0 {
        store8_u32(&mut addresses, address::of(load8(keys), layer, bits));
        addresses.iter().for_each(|&bit| set(hashed, bit));
    }
}
