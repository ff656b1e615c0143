//! Hot path: registers only; a load, a compress and a store per register of keys.
//!
//! Keys without nulls or NaNs. Compressed in the register and stored whole: a compress with a
//! memory destination is microcoded on some CPUs. A whole store at `kept` stays within `out`,
//! which is as long as `keys`, because `kept` never passes the place of the keys read.

use std::arch::x86_64::{
    __mmask8, __mmask16, _mm512_cmpge_epu32_mask, _mm512_cmpge_epu64_mask, _mm512_cvtepi32_epi8,
    _mm512_cvtepi32_epi16, _mm512_cvtepu8_epi32, _mm512_cvtepu16_epi32,
    _mm512_mask_cmple_epu32_mask, _mm512_mask_cmple_epu64_mask, _mm512_maskz_compress_epi32,
    _mm512_maskz_compress_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
};

use super::columns_lanes::{load16_u8, load16_u16, store16_u8, store16_u16};
use super::lanes::{load8, load16_u32, store8, store16_u32};
use crate::scalar;

/// Keys whose null bits share a word.
const BLOCK: usize = 64;

macro_rules! keep_valid {
    ($name:ident, $put:ident, $key:ty, $lanes:literal) => {
        /// Copies the keys whose null bit is clear to `out`, as long as `keys`.
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
        pub(super) fn $name(keys: &[$key], nulls: &[u64], out: &mut [$key]) -> usize {
            let (blocks, rest) = keys.as_chunks::<BLOCK>();
            let mut kept = 0;
            for (block, &null) in blocks.iter().zip(nulls) {
                if null == 0 {
                    out[kept..kept + BLOCK].copy_from_slice(block);
                    kept += BLOCK;
                    continue;
                }
                let mut valid = !null;
                for group in block.as_chunks::<$lanes>().0 {
                    let Some(target) = out[kept..].first_chunk_mut() else { break };
                    kept += $put(group, valid as _, target);
                    valid >>= $lanes;
                }
            }
            let nulls = &nulls[blocks.len()..];
            kept + scalar::columns::keep_valid(rest, nulls, &mut out[kept..])
        }
    };
}

keep_valid!(keep_valid_u8, put_u8, u8, 16);
keep_valid!(keep_valid_u16, put_u16, u16, 16);
keep_valid!(keep_valid_u32, put_u32, u32, 16);
keep_valid!(keep_valid_u64, put_u64, u64, 8);

/// Stores the keys of the set `valid` to the front of `target`; returns how many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put_u8(keys: &[u8; 16], valid: __mmask16, target: &mut [u8; 16]) -> usize {
    // Compressing bytes needs VBMI2, so they are widened.
    let wide = _mm512_cvtepu8_epi32(load16_u8(keys));
    store16_u8(target, _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(valid, wide)));
    valid.count_ones() as usize
}

/// As [`put_u8`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put_u16(keys: &[u16; 16], valid: __mmask16, target: &mut [u16; 16]) -> usize {
    let wide = _mm512_cvtepu16_epi32(load16_u16(keys));
    store16_u16(target, _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(valid, wide)));
    valid.count_ones() as usize
}

/// As [`put_u8`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put_u32(keys: &[u32; 16], valid: __mmask16, target: &mut [u32; 16]) -> usize {
    store16_u32(target, _mm512_maskz_compress_epi32(valid, load16_u32(keys)));
    valid.count_ones() as usize
}

/// As [`put_u8`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put_u64(keys: &[u64; 8], valid: __mmask8, target: &mut [u64; 8]) -> usize {
    store8(target, _mm512_maskz_compress_epi64(valid, load8(keys)));
    valid.count_ones() as usize
}

macro_rules! keep_between {
    ($name:ident, $key:ty, $lanes:literal, $load:ident, $put:ident, $set:ident, $ge:ident,
     $le:ident) => {
        /// Copies the keys of `low..=high` to `out`, as long as `keys`.
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
        pub(super) fn $name(keys: &[$key], low: $key, high: $key, out: &mut [$key]) -> usize {
            let (least, most) = ($set(low as _), $set(high as _));
            let (groups, rest) = keys.as_chunks::<$lanes>();
            let mut kept = 0;
            for group in groups {
                let lanes = $load(group);
                let inside = $le($ge(lanes, least), lanes, most);
                let Some(target) = out[kept..].first_chunk_mut() else { break };
                kept += $put(group, inside, target);
            }
            kept + scalar::columns::keep_between(rest, low, high, &mut out[kept..])
        }
    };
}

keep_between!(
    keep_between_u32,
    u32,
    16,
    load16_u32,
    put_u32,
    _mm512_set1_epi32,
    _mm512_cmpge_epu32_mask,
    _mm512_mask_cmple_epu32_mask
);
keep_between!(
    keep_between_u64,
    u64,
    8,
    load8,
    put_u64,
    _mm512_set1_epi64,
    _mm512_cmpge_epu64_mask,
    _mm512_mask_cmple_epu64_mask
);
