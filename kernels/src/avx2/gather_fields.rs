//! Hot path: no allocation; two loads, two shuffles, a map and a store per field and eight rows.
//!
//! Words of up to 64 rows to keys: the shuffle moves the field's bytes to the low end of its lane
//! and swaps them; then the key map, narrowing, and a store of eight keys.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_packus_epi16, _mm_packus_epi32, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_blendv_epi8, _mm256_broadcastsi128_si256, _mm256_castps_si256, _mm256_castsi256_pd,
    _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmpeq_epi64, _mm256_extracti128_si256,
    _mm256_movemask_pd, _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_set1_epi64x,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_shuffle_ps, _mm256_xor_si256,
};

use super::columns_lanes::{load16_u8, store8_u8, store8_u16};
use super::lanes::{load4, store4, store8_u32};
use crate::columns::{Cell, Change, Columns, KeyArray, NullBit, RowWords, Window};

/// Keys and null bits of `rows <= 64` rows, from their words to row `at` of the columns.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn put_fields(
    window: &Window,
    words: &RowWords,
    rows: usize,
    columns: &mut Columns,
    at: usize,
) {
    let groups = rows.div_ceil(8);
    for cell in &window.cells {
        let words = (&words.0[cell.word][..groups], &words.0[cell.next()][..groups]);
        match cell.change {
            Change::Flip(bits) => {
                let bits = _mm256_set1_epi64x(bits as i64);
                put_keys(cell, words, columns, at, |lanes| _mm256_xor_si256(lanes, bits));
            }
            Change::Bool => put_keys(cell, words, columns, at, |lanes| {
                let zero = _mm256_cmpeq_epi64(lanes, _mm256_setzero_si256());
                _mm256_andnot_si256(zero, _mm256_set1_epi64x(1))
            }),
            Change::Float { sign, all } => {
                let sign = _mm256_set1_epi64x(sign as i64);
                let all = _mm256_set1_epi64x(all as i64);
                put_keys(cell, words, columns, at, |lanes| float_keys(lanes, sign, all));
            }
        }
    }
    for null in &window.nulls {
        let bits = null_bits(null, &words.0[null.word][..groups]) & u64::MAX >> (64 - rows);
        columns.put_nulls(null.field, at, bits, rows);
    }
}

/// Sign flipped where it is clear, all bits where it is set, but -0.0 as +0.0.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn float_keys(lanes: __m256i, sign: __m256i, all: __m256i) -> __m256i {
    let negative = _mm256_cmpeq_epi64(_mm256_and_si256(lanes, sign), sign);
    let zero = _mm256_cmpeq_epi64(lanes, sign);
    let flip = _mm256_blendv_epi8(sign, all, negative);
    _mm256_blendv_epi8(_mm256_xor_si256(lanes, flip), sign, zero)
}

/// Takes a field out of its words, eight rows at a time.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn put_keys(
    cell: &Cell,
    (words, next): (&[[u64; 8]], &[[u64; 8]]),
    columns: &mut Columns,
    at: usize,
    change: impl Fn(__m256i) -> __m256i,
) {
    let pick = _mm256_broadcastsi128_si256(load16_u8(&cell.picks[0]));
    let pick_next = _mm256_broadcastsi128_si256(load16_u8(&cell.picks[1]));
    let four = |word: &[u64; 4], next: &[u64; 4]| {
        let mut lanes = _mm256_shuffle_epi8(load4(word), pick);
        if cell.straddles {
            lanes = _mm256_or_si256(lanes, _mm256_shuffle_epi8(load4(next), pick_next));
        }
        change(lanes)
    };
    let eight = |(word, next): (&[u64; 8], &[u64; 8])| {
        let (word, next) = (word.as_chunks::<4>().0, next.as_chunks::<4>().0);
        (four(&word[0], &next[0]), four(&word[1], &next[1]))
    };
    let sources = words.iter().zip(next);
    match &mut columns.keys[cell.field] {
        KeyArray::U8(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                let words = to_u16(eight(source));
                store8_u8(target, _mm_packus_epi16(words, words));
            }
        }
        KeyArray::U16(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u16(target, to_u16(eight(source)));
            }
        }
        KeyArray::U32(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u32(target, to_u32(eight(source)));
            }
        }
        KeyArray::U64(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                let (low, high) = eight(source);
                let halves = target.as_chunks_mut().0;
                store4(&mut halves[0], low);
                store4(&mut halves[1], high);
            }
        }
    }
}

/// The low halves of eight words.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn to_u32((low, high): (__m256i, __m256i)) -> __m256i {
    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    let lanes = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(low, high));
    _mm256_permute4x64_epi64::<0xD8>(lanes)
}

/// Eight words below 2^16.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn to_u16(words: (__m256i, __m256i)) -> __m128i {
    let lanes = to_u32(words);
    _mm_packus_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes))
}

/// Bit per row: whether the null bit is set.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn null_bits(null: &NullBit, words: &[[u64; 8]]) -> u64 {
    let mask = _mm256_set1_epi64x(null.mask as i64);
    let mut bits = 0;
    for (i, word) in words.as_flattened().as_chunks::<4>().0.iter().enumerate() {
        let set = _mm256_cmpeq_epi64(_mm256_and_si256(load4(word), mask), mask);
        bits |= (_mm256_movemask_pd(_mm256_castsi256_pd(set)) as u64) << (4 * i);
    }
    bits
}
