//! Hot path: no allocation, no lock, no syscall; one pass over the rows.
//!
//! Rows to columns of keys: four records a step are transposed to words, for up to 64 rows; then
//! each field is brought out of its words by a byte shuffle, mapped and narrowed.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm256_permute2x128_si256, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
};

use super::columns_lanes::load32;
use super::gather_fields::put_fields;
use super::lanes::store4;
use crate::columns::{Gather, KeyChunk, RowWords};
use crate::token::Avx2;

/// Records of a step.
const STEP: usize = 4;

/// Keys and null bits of the whole records `rows`, to the rows of `chunk` from `at` on, which are
/// reserved.
pub(crate) fn append(_: Avx2, gather: &Gather, rows: &[u8], chunk: &mut KeyChunk, at: usize) {
    // SAFETY: the token proves the features.
    unsafe { append_blocks(gather, rows, chunk, at) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn append_blocks(gather: &Gather, rows: &[u8], chunk: &mut KeyChunk, at: usize) {
    let stride = gather.record_bytes();
    let total = chunk.appended();
    let (columns, words) = chunk.parts_mut();
    for i in 0..total.div_ceil(RowWords::ROWS) {
        let count = RowWords::ROWS.min(total - i * RowWords::ROWS);
        for window in gather.windows() {
            for first in (0..count).step_by(STEP) {
                // The bytes behind the block are rows too: only the last ones are cut short.
                let from = (i * RowWords::ROWS + first) * stride + window.offset;
                let present = STEP.min(count - first);
                put_words(&rows[from..], stride, present, window.words, words, first / STEP);
            }
            put_fields(window, words, count, columns, at + i * RowWords::ROWS);
        }
    }
}

/// Transposes the windows at the starts of `bytes`, `bytes[stride..]` and so on, `present` of them,
/// and stores the words of the set `needed` as half group `step`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn put_words(
    bytes: &[u8],
    stride: usize,
    present: usize,
    needed: u8,
    words: &mut RowWords,
    step: usize,
) {
    if bytes.len() >= (STEP - 1) * stride + 64 {
        let row = |j: usize| bytes[j * stride..].first_chunk::<64>().unwrap_or(&[0; 64]);
        transpose_rows([row(0), row(1), row(2), row(3)], needed, words, step);
    } else if bytes.len() >= (present - 1) * stride + 64 {
        let row = |j: usize| {
            let rest = bytes.get(j * stride..).unwrap_or(&[]);
            rest.first_chunk::<64>().unwrap_or(&[0; 64])
        };
        transpose_rows([row(0), row(1), row(2), row(3)], needed, words, step);
    } else {
        let mut copies = [[0; 64]; STEP];
        for (copy, row) in copies.iter_mut().zip(bytes.chunks(stride)) {
            let length = row.len().min(64);
            copy[..length].copy_from_slice(&row[..length]);
        }
        transpose_rows(copies.each_ref(), needed, words, step);
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn transpose_rows(rows: [&[u8; 64]; STEP], needed: u8, words: &mut RowWords, step: usize) {
    for half in 0..2 {
        if needed >> (4 * half) & 15 == 0 {
            continue;
        }
        let lane = |j: usize| load32(&rows[j].as_chunks().0[half]);
        let lanes = transpose([lane(0), lane(1), lane(2), lane(3)]);
        for (i, lanes) in lanes.into_iter().enumerate() {
            let group = &mut words.0[4 * half + i][step / 2];
            store4(&mut group.as_chunks_mut().0[step % 2], lanes);
        }
    }
}

/// Four words of four rows to four rows of each word.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn transpose([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (even_ab, odd_ab) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let (even_cd, odd_cd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<0x20>(even_ab, even_cd),
        _mm256_permute2x128_si256::<0x20>(odd_ab, odd_cd),
        _mm256_permute2x128_si256::<0x31>(even_ab, even_cd),
        _mm256_permute2x128_si256::<0x31>(odd_ab, odd_cd),
    ]
}
