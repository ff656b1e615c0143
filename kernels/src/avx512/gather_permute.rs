//! Hot path: no allocation; a shuffle and a store per field and eight or sixteen rows.
//!
//! Words of up to 64 rows to keys with VBMI: one shuffle of bytes across two registers brings out
//! a field, swaps its bytes and narrows it, for sixteen rows at once where it lies in one word.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_maskz_permutex2var_epi8,
    _mm512_maskz_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_xor_si512,
};

use super::columns_lanes::{load64, store8_u8, store8_u16, store16_u8, store16_u16};
use super::gather_fields::{put_cell, put_nulls};
use super::lanes::{load8, store8, store8_u32, store16_u32};
use crate::columns::{Cell, Change, Columns, KeyArray, RowWords, Window};
use crate::token::Avx512Vbmi;

/// Keys and null bits of `rows <= 64` rows, from their words to row `at` of the columns.
pub(super) fn put_fields(
    token: Avx512Vbmi,
    window: &Window,
    words: &RowWords,
    rows: usize,
    columns: &mut Columns,
    at: usize,
) {
    let _ = token;
    // SAFETY: the token proves the features.
    unsafe { permute_fields(window, words, rows, columns, at) }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,avx512vbmi,gfni"
)]
fn permute_fields(
    window: &Window,
    words: &RowWords,
    rows: usize,
    columns: &mut Columns,
    at: usize,
) {
    for cell in &window.cells {
        match cell.change {
            Change::Flip(bits) if cell.straddles => {
                permute_straddling(cell, bits, words, rows.div_ceil(8), columns, at);
            }
            Change::Flip(bits) => {
                permute_cell(cell, bits, &words.0[cell.word], rows, columns, at);
            }
            _ => put_cell(cell, words, rows, columns, at),
        }
    }
    put_nulls(window, words, rows, columns, at);
}

/// A field within one word, `flip` its sign bit or 0.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,avx512vbmi,gfni"
)]
fn permute_cell(
    cell: &Cell,
    flip: u64,
    words: &[[u64; 8]; 8],
    rows: usize,
    columns: &mut Columns,
    at: usize,
) {
    let permute = load64(&cell.permute);
    let pairs = words.as_chunks::<2>().0;
    let sixteen = |pair: &[[u64; 8]; 2], flip: __m512i| {
        let lanes =
            _mm512_maskz_permutex2var_epi8(u64::MAX, load8(&pair[0]), permute, load8(&pair[1]));
        _mm512_xor_si512(lanes, flip)
    };
    let steps = rows.div_ceil(16);
    match &mut columns.keys[cell.field] {
        KeyArray::U8(keys) => {
            let flip = _mm512_set1_epi8(flip as i8);
            for (target, pair) in keys.sixteens_mut(at, steps).iter_mut().zip(pairs) {
                store16_u8(target, _mm512_castsi512_si128(sixteen(pair, flip)));
            }
        }
        KeyArray::U16(keys) => {
            let flip = _mm512_set1_epi16(flip as i16);
            for (target, pair) in keys.sixteens_mut(at, steps).iter_mut().zip(pairs) {
                store16_u16(target, _mm512_castsi512_si256(sixteen(pair, flip)));
            }
        }
        KeyArray::U32(keys) => {
            let flip = _mm512_set1_epi32(flip as i32);
            for (target, pair) in keys.sixteens_mut(at, steps).iter_mut().zip(pairs) {
                store16_u32(target, sixteen(pair, flip));
            }
        }
        KeyArray::U64(keys) => {
            let flip = _mm512_set1_epi64(flip as i64);
            let words = &words[..rows.div_ceil(8)];
            for (target, word) in keys.groups_mut(at).iter_mut().zip(words) {
                let lanes = _mm512_maskz_permutexvar_epi8(cell.filled, permute, load8(word));
                store8(target, _mm512_xor_si512(lanes, flip));
            }
        }
    }
}

/// A field in two neighbouring words, `flip` its sign bit or 0.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,avx512vbmi,gfni"
)]
fn permute_straddling(
    cell: &Cell,
    flip: u64,
    words: &RowWords,
    groups: usize,
    columns: &mut Columns,
    at: usize,
) {
    let permute = load64(&cell.permute);
    let sources = words.0[cell.word][..groups].iter().zip(&words.0[cell.next()]);
    let eight = |(word, next): (&[u64; 8], &[u64; 8]), flip: __m512i| {
        let (word, next) = (load8(word), load8(next));
        let lanes = _mm512_maskz_permutex2var_epi8(cell.filled, word, permute, next);
        _mm512_xor_si512(lanes, flip)
    };
    match &mut columns.keys[cell.field] {
        KeyArray::U8(keys) => {
            let flip = _mm512_set1_epi8(flip as i8);
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u8(target, _mm512_castsi512_si128(eight(source, flip)));
            }
        }
        KeyArray::U16(keys) => {
            let flip = _mm512_set1_epi16(flip as i16);
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u16(target, _mm512_castsi512_si128(eight(source, flip)));
            }
        }
        KeyArray::U32(keys) => {
            let flip = _mm512_set1_epi32(flip as i32);
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8_u32(target, _mm512_castsi512_si256(eight(source, flip)));
            }
        }
        KeyArray::U64(keys) => {
            let flip = _mm512_set1_epi64(flip as i64);
            for (target, source) in keys.groups_mut(at).iter_mut().zip(sources) {
                store8(target, eight(source, flip));
            }
        }
    }
}
