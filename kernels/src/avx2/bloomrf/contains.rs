//! Hot path: point lookups, a block of keys from the lowest layer up.
//!
//! The lowest layer first: it tells apart what lies close together, and on random keys every layer
//! excludes alike. An exact top comes before all: it needs no hash and lies in the first cache.

use std::arch::x86_64::*;

use super::address;
use super::list::{BLOCK, List};
use crate::Layers;
use crate::bloomrf::shape::Shape;

/// See [`super::contains_many`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn many(layers: &Layers, hashed: &[u64], top: &[u64], keys: &[u64], found: &mut [u64]) {
    let shape = Shape::new(layers, hashed.len());
    let bits = _mm256_set1_epi64x(shape.bits.cast_signed());
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
            list.keep(hashed, |keys| address::of(keys, layer, bits));
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
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn top_address(keys: (__m256i, __m256i)) -> __m256i {
    let keys = address::lower_halves(keys.0, keys.1);
    _mm256_srli_epi32::<16>(_mm256_permute4x64_epi64::<0b11_01_10_00>(keys))
}

/// Answers of a block, a byte each: neighbours do not wait for each other's word.
pub(super) type Marks = [[u8; 64]; BLOCK / 64];

/// Bytes (0 or 1) to bits, for as many words as `found` has.
#[inline]
pub(super) fn pack(marks: &Marks, found: &mut [u64]) {
    for (word, marks) in found.iter_mut().zip(marks) {
        let eights = marks.as_chunks::<8>().0.iter().rev();
        *word = eights.fold(0, |word, bytes| {
            // The product gathers the lowest bit of each byte in the uppermost byte.
            let bits = u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            word << 8 | bits
        });
    }
}

/// Keys outside the domain are "found".
fn add_foreign(key_max: u64, keys: &[u64], found: &mut [u64]) {
    for (word, keys) in found.iter_mut().zip(keys.chunks(64)) {
        for (lane, &key) in keys.iter().enumerate() {
            *word |= u64::from(key > key_max) << lane;
        }
    }
}
