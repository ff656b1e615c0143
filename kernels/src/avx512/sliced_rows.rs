//! Hot path: filters to rows and back, a tile of eight words of 64 filters in registers.
//!
//! Chosen on every CPU with AVX-512. With GFNI and VBMI about a memcpy of the same bytes, since one
//! affine product transposes eight 8 x 8 bit blocks; without, rows come bit by bit through masks.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_gf2p8affine_epi64_epi8, _mm512_movepi8_mask,
    _mm512_permutexvar_epi8, _mm512_permutexvar_epi16, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_shuffle_epi8, _mm512_shuffle_i64x2, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};
use std::array;

use super::lanes::{load8, prefetch, store8, stream_fence, stream8};
use crate::sliced::{SLOTS, Source, TILE, TILE_WORDS, store_line};
use crate::token::{Avx512, Avx512Vbmi};

/// 64 words, or 64 rows: register i holds those from 8 * i.
type Matrix = [__m512i; 8];

/// See [`crate::sliced::build_words`] with GFNI; `rows` begin with those of word `first`.
pub(crate) fn build_vbmi(
    _: Avx512Vbmi,
    rows: &mut [u64],
    sources: &[Source<'_>; SLOTS],
    first: usize,
) {
    // SAFETY: the token proves the features.
    unsafe { build_gfni(rows, sources, first) }
}

/// See [`crate::sliced::build_words`] without GFNI; `rows` begin with those of word `first`.
pub(crate) fn build(_: Avx512, rows: &mut [u64], sources: &[Source<'_>; SLOTS], first: usize) {
    // SAFETY: the token proves the features.
    unsafe { build_masks(rows, sources, first) }
}

/// See [`crate::sliced::unbuild_words`] with GFNI; `rows` begin with those of word `first`.
pub(crate) fn unbuild_vbmi(
    _: Avx512Vbmi,
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
) {
    // SAFETY: the token proves the features.
    unsafe { unbuild_gfni(rows, filters, ratios, first) }
}

/// See [`crate::sliced::unbuild_words`] without GFNI; `rows` begin with those of word `first`.
pub(crate) fn unbuild(
    _: Avx512,
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
) {
    // SAFETY: the token proves the features.
    unsafe { unbuild_masks(rows, filters, ratios, first) }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,avx512vbmi,gfni"
)]
fn build_gfni(rows: &mut [u64], sources: &[Source<'_>; SLOTS], first: usize) {
    let orders = Orders::new();
    let past_cache = rows.len() > CACHED_ROWS;
    let mut tile = [[_mm512_setzero_si512(); 8]; TILE];
    let tiles = (first..).step_by(TILE);
    for (first, rows) in tiles.zip(rows.chunks_mut(TILE * SLOTS)) {
        load_tile(&mut tile, sources, first);
        for (matrix, rows) in tile.iter().zip(rows.as_chunks_mut::<SLOTS>().0) {
            let matrix = transpose_gfni(matrix, &orders);
            for (line, lanes) in rows.as_chunks_mut().0.iter_mut().zip(matrix) {
                if past_cache {
                    // SAFETY: this function fences before it returns, and reads no row before.
                    unsafe { stream8(line, lanes) }
                } else {
                    store8(line, lanes);
                }
            }
        }
    }
    stream_fence();
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,avx512vbmi,gfni"
)]
fn unbuild_gfni(
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
) {
    let orders = Orders::new();
    let mut tile = [[_mm512_setzero_si512(); 8]; TILE];
    let tiles = (first..).step_by(TILE);
    for (first, rows) in tiles.zip(rows.chunks(TILE * SLOTS)) {
        for (matrix, rows) in tile.iter_mut().zip(rows.as_chunks::<SLOTS>().0) {
            *matrix = transpose_gfni(&load_matrix(rows), &orders);
        }
        store_tile(&tile, filters, ratios, first, rows.len() / SLOTS);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn build_masks(rows: &mut [u64], sources: &[Source<'_>; SLOTS], first: usize) {
    let orders = Orders::new();
    let mut tile = [[_mm512_setzero_si512(); 8]; TILE];
    let tiles = (first..).step_by(TILE);
    for (first, rows) in tiles.zip(rows.chunks_mut(TILE * SLOTS)) {
        load_tile(&mut tile, sources, first);
        for (matrix, rows) in tile.iter().zip(rows.as_chunks_mut::<SLOTS>().0) {
            transpose_masks(matrix, &orders, rows);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn unbuild_masks(
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
) {
    let orders = Orders::new();
    let mut tile = [[_mm512_setzero_si512(); 8]; TILE];
    let mut words = [0; SLOTS];
    let tiles = (first..).step_by(TILE);
    for (first, rows) in tiles.zip(rows.chunks(TILE * SLOTS)) {
        for (matrix, rows) in tile.iter_mut().zip(rows.as_chunks::<SLOTS>().0) {
            transpose_masks(&load_matrix(rows), &orders, &mut words);
            *matrix = load_matrix(&words);
        }
        store_tile(&tile, filters, ratios, first, rows.len() / SLOTS);
    }
}

/// Words `first..first + TILE` of every filter; matrix w holds the word w of all 64.
///
/// Eight filters at a time, so that few streams are read at once (filters often lie a power of two
/// apart, in the same cache sets), while the lines of the next eight are on their way.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn load_tile(tile: &mut [Matrix; TILE], sources: &[Source<'_>; SLOTS], first: usize) {
    let blocks = sources.as_chunks::<8>().0;
    let mut room = [0; TILE_WORDS];
    for (block, sources) in blocks.iter().enumerate() {
        let (next, next_first) = match blocks.get(block + 1) {
            Some(next) => (next, first),
            None => (&blocks[0], first + TILE),
        };
        for words in next.iter().filter_map(|source| source.words.get(next_first..)) {
            for word in words.iter().take(TILE).step_by(TILE_WORDS) {
                prefetch(word);
            }
        }
        for (matrices, first) in
            tile.as_chunks_mut::<TILE_WORDS>().0.iter_mut().zip((first..).step_by(TILE_WORDS))
        {
            let lines = array::from_fn(|i| load8(sources[i].line(first, &mut room)));
            for (matrix, words) in matrices.iter_mut().zip(transpose_lanes(&lines)) {
                matrix[block] = words;
            }
        }
    }
}

/// The first `words` words of the tile to words `first..` of every filter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn store_tile(
    tile: &[Matrix; TILE],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
    words: usize,
) {
    let filters = filters.as_chunks_mut::<8>().0.iter_mut().zip(ratios.as_chunks::<8>().0);
    for (block, (filters, ratios)) in filters.enumerate() {
        for from in (0..words).step_by(TILE_WORDS) {
            let lines = transpose_lanes(&array::from_fn(|word| tile[from + word][block]));
            let (first, words) = (first + from, TILE_WORDS.min(words - from));
            for ((filter, &ratio), lanes) in filters.iter_mut().zip(ratios).zip(lines) {
                let whole = filter.get_mut(first..).and_then(|words| words.first_chunk_mut());
                match whole {
                    Some(line) if ratio == 1 && words == TILE_WORDS => store8(line, lanes),
                    _ => {
                        let mut line = [0; TILE_WORDS];
                        store8(&mut line, lanes);
                        store_line(filter, ratio, first, &line, words);
                    }
                }
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn load_matrix(words: &[u64; SLOTS]) -> Matrix {
    let lines = words.as_chunks().0;
    array::from_fn(|i| load8(&lines[i]))
}

/// Bit transpose of 64 words: each 8 x 8 block of bits by an affine product, then the blocks.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,avx512vbmi,gfni"
)]
fn transpose_gfni(matrix: &Matrix, orders: &Orders) -> Matrix {
    // The data is the matrix and its input the unit vectors: byte i of a lane gets its column i.
    let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
    let blocks = array::from_fn(|i| {
        let bytes = _mm512_permutexvar_epi8(orders.bytes_reversed, matrix[i]);
        _mm512_gf2p8affine_epi64_epi8::<0>(unit, bytes)
    });
    let blocks = transpose_lanes(&blocks);
    array::from_fn(|i| _mm512_permutexvar_epi8(orders.bytes, blocks[i]))
}

/// Bit transpose of 64 words: byte c of all of them in one register, then its bits as masks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn transpose_masks(matrix: &Matrix, orders: &Orders, rows: &mut [u64; SLOTS]) {
    let bytes = array::from_fn(|i| {
        let pairs = _mm512_shuffle_epi8(matrix[i], orders.pairs);
        _mm512_permutexvar_epi16(orders.words, pairs)
    });
    for (rows, bytes) in rows.as_chunks_mut::<8>().0.iter_mut().zip(transpose_lanes(&bytes)) {
        let mut bits = bytes;
        for row in rows.iter_mut().rev() {
            *row = _mm512_movepi8_mask(bits);
            bits = _mm512_add_epi8(bits, bits);
        }
    }
}

/// Transpose of 8 x 8 lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn transpose_lanes(a: &Matrix) -> Matrix {
    let pairs =
        |i: usize| (_mm512_unpacklo_epi64(a[i], a[i + 1]), _mm512_unpackhi_epi64(a[i], a[i + 1]));
    let ((p0, q0), (p1, q1), (p2, q2), (p3, q3)) = (pairs(0), pairs(2), pairs(4), pairs(6));
    // Of p: lanes 0 and 4 | 2 and 6 of four registers; of q: 1 and 5 | 3 and 7.
    let evens = |x, y| (_mm512_shuffle_i64x2::<0x88>(x, y), _mm512_shuffle_i64x2::<0xDD>(x, y));
    let ((a04, a26), (b04, b26)) = (evens(p0, p1), evens(p2, p3));
    let ((a15, a37), (b15, b37)) = (evens(q0, q1), evens(q2, q3));
    let ((r0, r4), (r1, r5)) = (evens(a04, b04), evens(a15, b15));
    let ((r2, r6), (r3, r7)) = (evens(a26, b26), evens(a37, b37));
    [r0, r1, r2, r3, r4, r5, r6, r7]
}

/// Where bytes and words go; made once per call.
struct Orders {
    /// Lane k, byte r from lane r, byte k.
    bytes: __m512i,
    /// The same with the bytes of a lane from last to first, as the affine product has its rows.
    bytes_reversed: __m512i,
    /// Within 128 bits: byte k of both lanes beside each other.
    pairs: __m512i,
    /// Lane k, pair p from 128 bits p, pair k.
    words: __m512i,
}

impl Orders {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    fn new() -> Self {
        let from_bytes = |byte: fn(usize) -> usize| {
            load8(&array::from_fn(|lane| {
                u64::from_le_bytes(array::from_fn(|i| byte(lane * 8 + i) as u8))
            }))
        };
        Orders {
            bytes: from_bytes(|to| to % 8 * 8 + to / 8),
            bytes_reversed: from_bytes(|to| (7 - to % 8) * 8 + to / 8),
            pairs: from_bytes(|to| to % 16 / 2 + to % 2 * 8),
            words: from_bytes(|to| {
                let (lane, pair) = (to / 8, to % 8 / 2);
                if to % 2 == 0 { pair * 8 + lane } else { 0 }
            }),
        }
    }
}

/// Rows past which they are written around the caches: more than an L2 holds beside its sources.
const CACHED_ROWS: usize = 2_048 * SLOTS;
