//! Hot path: bit addresses of eight keys in one layer.
//!
//! As in the 512-bit set, with 64-bit multiplies made of three of 32 bits: AVX2 has none.

use std::arch::x86_64::*;

use crate::avx2::hash::mul;
use crate::bloomrf::shape::LaneLayer;
use crate::hash::{MIX_FIRST, MIX_SECOND};

/// Bit addresses of eight keys; `bits` is W * 64 in each lane.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn of(keys: (__m256i, __m256i), layer: &LaneLayer, bits: __m256i) -> __m256i {
    let level = _mm256_set1_epi64x(layer.word_level.cast_signed());
    let start = _mm256_set1_epi64x(layer.start.cast_signed());
    let salt = _mm256_set1_epi64x(layer.salt.cast_signed());
    let h0 = mix(_mm256_srlv_epi64(keys.0, level), salt);
    let h1 = mix(_mm256_srlv_epi64(keys.1, level), salt);
    // The word, already shifted by six, is the upper half of the product.
    let words = upper_halves(
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(h0), bits),
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(h1), bits),
    );
    let offsets = lower_halves(_mm256_srlv_epi64(keys.0, start), _mm256_srlv_epi64(keys.1, start));
    let offsets = _mm256_and_si256(offsets, _mm256_set1_epi32(layer.offset_max as i32));
    let rotations = _mm256_srli_epi32::<8>(lower_halves(h0, h1));
    let bit = _mm256_set1_epi32(63);
    let rotated = _mm256_and_si256(_mm256_add_epi32(offsets, rotations), bit);
    let mixed = _mm256_or_si256(_mm256_andnot_si256(bit, words), rotated);
    // The halves were taken within 128 bits: back into the order of the keys.
    _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed)
}

/// [`crate::hash::mix`] of four prefixes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn mix(groups: __m256i, salt: __m256i) -> __m256i {
    let h = mul(_mm256_xor_si256(groups, salt), MIX_FIRST);
    mul(_mm256_xor_si256(h, _mm256_srli_epi64::<32>(h)), MIX_SECOND)
}

/// Lower halves of eight lanes, the middle two pairs swapped.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn lower_halves(a: __m256i, b: __m256i) -> __m256i {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b))
}

/// Upper halves of eight lanes, the middle two pairs swapped.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn upper_halves(a: __m256i, b: __m256i) -> __m256i {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b))
}
