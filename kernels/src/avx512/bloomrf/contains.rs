//! Hot path: point lookups, a block of keys from the lowest layer up.
//!
//! The lowest layer first: it tells apart what lies close together, and on random keys every layer
//! excludes alike. An exact top comes before all: it needs no hash and lies in the first cache.

use std::arch::x86_64::*;

use super::address;
use super::list::{BLOCK, List};
use crate::Layers;
use crate::avx512::columns_lanes::load64;
use crate::avx512::lanes::load8;
use crate::bloomrf::shape::Shape;

/// See [`super::contains_many`].
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
pub(super) fn many(layers: &Layers, hashed: &[u64], top: &[u64], keys: &[u64], found: &mut [u64]) {
    let shape = Shape::new(layers, hashed.len());
    let bits = _mm512_set1_epi64(shape.bits.cast_signed());
    let mut list = List::new();
    for (keys, found) in keys.chunks(BLOCK).zip(found.chunks_mut(BLOCK / 64)) {
        list.fill(keys);
        if layers.has_exact_top() {
            list.keep(top, |keys| top_address(keys));
        }
        for layer in shape.layers() {
            if list.is_empty() {
                break;
            }
            list.keep(hashed, |keys| address::of_u64(keys, layer, bits));
        }
        let mut marks: Marks = [[0; 64]; BLOCK / 64];
        let flags = marks.as_flattened_mut();
        list.places().iter().for_each(|&place| flags[place as usize] = 1);
        pack(&marks, found);
        if layers.domain_bits() < 64 {
            add_foreign(layers.key_max(), keys, found);
        }
    }
}

/// Bits of the exact top. Keys outside the domain read any bit; they are added afterwards.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn top_address(keys: (__m512i, __m512i)) -> __m512i {
    let halves = (_mm512_cvtepi64_epi32(keys.0), _mm512_cvtepi64_epi32(keys.1));
    let keys = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(halves.0), halves.1);
    _mm512_srli_epi32::<16>(keys)
}

/// Answers of a block, a byte each: neighbours do not wait for each other's word.
pub(super) type Marks = [[u8; 64]; BLOCK / 64];

/// Bytes to bits, for as many words as `found` has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn pack(marks: &Marks, found: &mut [u64]) {
    for (word, marks) in found.iter_mut().zip(marks) {
        *word = _mm512_test_epi8_mask(load64(marks), _mm512_set1_epi8(1));
    }
}

/// Keys outside the domain are "found".
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn add_foreign(key_max: u64, keys: &[u64], found: &mut [u64]) {
    let max = _mm512_set1_epi64(key_max.cast_signed());
    for (word, keys) in found.iter_mut().zip(keys.chunks(64)) {
        for (index, keys) in keys.chunks(8).enumerate() {
            let mut lanes = [0; 8];
            lanes[..keys.len()].copy_from_slice(keys);
            let foreign = _mm512_cmpgt_epu64_mask(load8(&lanes), max);
            *word |= u64::from(foreign) << (8 * index);
        }
    }
}
