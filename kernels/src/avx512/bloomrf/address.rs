//! Hot path: bit addresses of sixteen keys in one layer, about 25 register operations.
//!
//! The address is `word << 6 | (offset + rotation) & 63`: one u32, no rotate, and `1 << address`
//! is one shift. `W << 6` as multiplier leaves the word already shifted in the upper half of the
//! product; what lies below it is replaced by the bit.

use std::arch::x86_64::*;

use crate::bloomrf::shape::LaneLayer;
use crate::hash::{MIX_FIRST, MIX_SECOND};

/// Bit addresses of sixteen 8-byte keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn of_u64(keys: (__m512i, __m512i), layer: &LaneLayer, bits: __m512i) -> __m512i {
    let level = _mm512_set1_epi64(layer.word_level.cast_signed());
    let start = _mm512_set1_epi64(layer.start.cast_signed());
    let groups = (_mm512_srlv_epi64(keys.0, level), _mm512_srlv_epi64(keys.1, level));
    let offsets = lower_halves(_mm512_srlv_epi64(keys.0, start), _mm512_srlv_epi64(keys.1, start));
    of_groups(groups, offsets, layer, bits)
}

/// Bit addresses of sixteen 4-byte keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn of_u32(keys: __m512i, layer: &LaneLayer, bits: __m512i) -> __m512i {
    // A shift past the key leaves 0, as that of the wide key would.
    let groups = _mm512_srlv_epi32(keys, _mm512_set1_epi32(layer.word_level as i32));
    let offsets = _mm512_srlv_epi32(keys, _mm512_set1_epi32(layer.start as i32));
    let halves = (
        _mm512_cvtepu32_epi64(_mm512_castsi512_si256(groups)),
        _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(groups)),
    );
    of_groups(halves, offsets, layer, bits)
}

/// Addresses from the groups (the hashed prefixes) and the offsets, whose upper bits may be set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn of_groups(
    groups: (__m512i, __m512i),
    offsets: __m512i,
    layer: &LaneLayer,
    bits: __m512i,
) -> __m512i {
    let salt = _mm512_set1_epi64(layer.salt.cast_signed());
    let (h0, h1) = (mix(groups.0, salt), mix(groups.1, salt));
    let words = upper_halves(
        _mm512_mul_epu32(_mm512_srli_epi64::<32>(h0), bits),
        _mm512_mul_epu32(_mm512_srli_epi64::<32>(h1), bits),
    );
    let rotations = _mm512_srli_epi32::<8>(lower_halves(h0, h1));
    let offsets = _mm512_and_si512(offsets, _mm512_set1_epi32(layer.offset_max as i32));
    // Bit by bit `63 ? rotated : words`.
    let rotated = _mm512_add_epi32(offsets, rotations);
    _mm512_ternarylogic_epi32::<0xCA>(_mm512_set1_epi32(63), rotated, words)
}

/// [`crate::hash::mix`] of eight prefixes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn mix(groups: __m512i, salt: __m512i) -> __m512i {
    let first = _mm512_set1_epi64(MIX_FIRST.cast_signed());
    let second = _mm512_set1_epi64(MIX_SECOND.cast_signed());
    let h = _mm512_mullo_epi64(_mm512_xor_si512(groups, salt), first);
    _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64::<32>(h)), second)
}

/// The lower halves of sixteen lanes, in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn lower_halves(a: __m512i, b: __m512i) -> __m512i {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    _mm512_permutex2var_epi32(a, even, b)
}

/// The upper halves of sixteen lanes, in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn upper_halves(a: __m512i, b: __m512i) -> __m512i {
    let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    _mm512_permutex2var_epi32(a, odd, b)
}
