//! Hot path: no allocation; a load, a shuffle, a map, a store per field and eight rows.
//!
//! Words of up to 64 rows to keys: the shuffle moves the field's bytes to the low end of its lane
//! and swaps them; then the key map, narrowing, and a store of eight keys.

use std::arch::x86_64::{
    __m512i, _mm512_broadcast_i32x4, _mm512_cmpeq_epi64_mask, _mm512_cvtepi64_epi8,
    _mm512_cvtepi64_epi16, _mm512_cvtepi64_epi32, _mm512_mask_mov_epi64, _mm512_maskz_set1_epi64,
    _mm512_or_si512, _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_test_epi64_mask,
    _mm512_xor_si512,
};

use super::columns_lanes::{load16_u8, store8_u8, store8_u16};
use super::lanes::{load8, store8, store8_u32};
use crate::columns::{Cell, Change, Columns, KeyArray, NullBit, RowWords, Window};

/// Keys and null bits of `rows <= 64` rows, from their words to row `at` of the columns.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn put_fields(
    window: &Window,
    words: &RowWords,
    rows: usize,
    columns: &mut Columns,
    at: usize,
) {
    for cell in &window.cells {
        put_cell(cell, words, rows, columns, at);
    }
    put_nulls(window, words, rows, columns, at);
}

/// Keys of one field.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put_cell(cell: &Cell, words: &RowWords, rows: usize, columns: &mut Columns, at: usize) {
    let groups = rows.div_ceil(8);
    let words = (&words.0[cell.word][..groups], &words.0[cell.next()][..groups]);
    match cell.change {
        Change::Flip(bits) => {
            let bits = _mm512_set1_epi64(bits as i64);
            put_keys(cell, words, columns, at, |lanes| _mm512_xor_si512(lanes, bits));
        }
        Change::Bool => put_keys(cell, words, columns, at, |lanes| {
            _mm512_maskz_set1_epi64(_mm512_test_epi64_mask(lanes, lanes), 1)
        }),
        Change::Float { sign, all } => {
            let sign = _mm512_set1_epi64(sign as i64);
            let all = _mm512_set1_epi64(all as i64);
            put_keys(cell, words, columns, at, |lanes| float_keys(lanes, sign, all));
        }
    }
}

/// Null bits of all fields.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put_nulls(window: &Window, words: &RowWords, rows: usize, columns: &mut Columns, at: usize) {
    for null in &window.nulls {
        let bits = null_bits(null, &words.0[null.word][..rows.div_ceil(8)]);
        columns.put_nulls(null.field, at, bits, rows);
    }
}

/// Sign flipped where it is clear, all bits where it is set, but -0.0 as +0.0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn float_keys(lanes: __m512i, sign: __m512i, all: __m512i) -> __m512i {
    let negative = _mm512_test_epi64_mask(lanes, sign);
    let zero = _mm512_cmpeq_epi64_mask(lanes, sign);
    let flip = _mm512_mask_mov_epi64(sign, negative, all);
    _mm512_mask_mov_epi64(_mm512_xor_si512(lanes, flip), zero, sign)
}

/// Takes a field out of its words, eight rows at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put_keys(
    cell: &Cell,
    (words, next): (&[[u64; 8]], &[[u64; 8]]),
    columns: &mut Columns,
    at: usize,
    change: impl Fn(__m512i) -> __m512i,
) {
    let pick = _mm512_broadcast_i32x4(load16_u8(&cell.picks[0]));
    let pick_next = _mm512_broadcast_i32x4(load16_u8(&cell.picks[1]));
    let key = |(word, next): (&[u64; 8], &[u64; 8])| {
        let mut lanes = _mm512_shuffle_epi8(load8(word), pick);
        if cell.straddles {
            lanes = _mm512_or_si512(lanes, _mm512_shuffle_epi8(load8(next), pick_next));
        }
        change(lanes)
    };
    let sources = words.iter().zip(next);
    match &mut columns.keys[cell.field] {
        KeyArray::U8(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u8(target, _mm512_cvtepi64_epi8(key(source)));
            }
        }
        KeyArray::U16(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u16(target, _mm512_cvtepi64_epi16(key(source)));
            }
        }
        KeyArray::U32(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u32(target, _mm512_cvtepi64_epi32(key(source)));
            }
        }
        KeyArray::U64(keys) => {
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8(target, key(source));
            }
        }
    }
}

/// Bit per row: whether the null bit is set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn null_bits(null: &NullBit, words: &[[u64; 8]]) -> u64 {
    let mask = _mm512_set1_epi64(null.mask as i64);
    let mut bits = 0;
    for (g, word) in words.iter().enumerate() {
        bits |= u64::from(_mm512_test_epi64_mask(load8(word), mask)) << (8 * g);
    }
    bits
}
