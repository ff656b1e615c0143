//! Hot path: no allocation, no lock, no syscall; one pass over the rows.
//!
//! Rows to columns of keys: eight records a step are transposed to words, word by word for up to
//! 64 rows; then each field is brought out of its words by a byte shuffle. With records of 64
//! bytes the same loads feed the digest, of which every record is one stripe.
#![allow(unsafe_code)]

use std::arch::x86_64::{__m512i, _mm512_setzero_si512};

use super::columns_lanes::{load_prefix, load8_windows, load64};
use super::digest::{accumulate, finished, scramble};
use super::gather_fields::put_fields;
use super::gather_transpose::put_words;
use super::lanes::load8;
use crate::columns::{Gather, KeyChunk, RowWords};
use crate::digest::{KEYS, SHORT_BYTES_MAX, START};
use crate::token::Avx512;

/// Records of a step.
const STEP: usize = 8;

/// Keys and null bits of the whole records `rows`, to the rows of `chunk` from `at` on, which are
/// reserved.
pub(crate) fn append(_: Avx512, gather: &Gather, rows: &[u8], chunk: &mut KeyChunk, at: usize) {
    // SAFETY: the token proves the features.
    unsafe { append_blocks(gather, rows, chunk, at) }
}

/// The same of records of 64 bytes, more than [`SHORT_BYTES_MAX`] bytes of them, and the digest.
pub(crate) fn append_digest(
    _: Avx512,
    gather: &Gather,
    records: &[[u8; 64]],
    chunk: &mut KeyChunk,
    at: usize,
) -> u128 {
    assert!(records.as_flattened().len() > SHORT_BYTES_MAX, "a frame for the short path");
    // SAFETY: the token proves the features.
    unsafe { append_fused(gather, records, chunk, at) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
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
                let lanes = load_step(&rows[from..], stride, STEP.min(count - first));
                put_words(lanes, window.words, words, first / STEP);
            }
            put_fields(window, words, count, columns, at + i * RowWords::ROWS);
        }
    }
}

/// The windows of `count <= 8` records, at the starts of `bytes`, `bytes[stride..]` and so on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn load_step(bytes: &[u8], stride: usize, count: usize) -> [__m512i; STEP] {
    if count == STEP
        && let Some(lanes) = load8_windows(bytes, stride)
    {
        return lanes;
    }
    // No load of what is not there, not even a masked one: it would be slow.
    let lane = |j: usize| match bytes.get(j * stride..) {
        Some(rest) if j < count => match rest.first_chunk() {
            Some(window) => load64(window),
            None => load_prefix(rest),
        },
        _ => _mm512_setzero_si512(),
    };
    [lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7)]
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn append_fused(gather: &Gather, records: &[[u8; 64]], chunk: &mut KeyChunk, at: usize) -> u128 {
    let mut sums = load8(&START);
    let (columns, words) = chunk.parts_mut();
    // Records of 64 bytes have one window, or none where they have no fields.
    let window = gather.windows().first();
    let needed = window.map_or(0, |window| window.words);
    for (i, block) in records.chunks(RowWords::ROWS).enumerate() {
        let behind = records.len() - i * RowWords::ROWS;
        let (steps, rest) = block.as_chunks::<STEP>();
        for (g, step) in steps.iter().enumerate() {
            let lanes = load_records(step);
            let is_last = (g + 1) * STEP == behind;
            sums = add_stripes(sums, &lanes, g, STEP, is_last);
            put_words(lanes, needed, words, g);
        }
        if !rest.is_empty() {
            let lanes = load_records(rest);
            sums = add_stripes(sums, &lanes, steps.len(), rest.len(), true);
            put_words(lanes, needed, words, steps.len());
        }
        if let Some(window) = window {
            put_fields(window, words, block.len(), columns, at + i * RowWords::ROWS);
        }
    }
    finished(sums, records.as_flattened().len())
}

/// Up to eight whole records.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn load_records(records: &[[u8; 64]]) -> [__m512i; STEP] {
    let lane = |j: usize| match records.get(j) {
        Some(record) => load64(record),
        None => _mm512_setzero_si512(),
    };
    [lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7)]
}

/// Adds `count` stripes, step `g` of a block of eight steps, to the accumulators; `is_last` where
/// the last of them is the frame's last record.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn add_stripes(
    sums: __m512i,
    lanes: &[__m512i; STEP],
    g: usize,
    count: usize,
    is_last: bool,
) -> __m512i {
    let first = STEP * (g % 2);
    let mut sums = sums;
    for (j, &lane) in lanes.iter().enumerate() {
        if j < count {
            let is_last = is_last && j + 1 == count;
            let key = if is_last { &KEYS.last } else { &KEYS.stripes[first + j] };
            sums = accumulate(sums, lane, key);
        }
    }
    if g % 2 == 1 && !is_last { scramble(sums) } else { sums }
}
