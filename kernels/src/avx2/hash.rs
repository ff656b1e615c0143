//! Hot path: four hashes at once in 256-bit registers; a 64-bit product is three of 32 bits.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_mul_epu32, _mm256_or_si256, _mm256_set1_epi64x,
    _mm256_slli_epi64, _mm256_srli_epi64, _mm256_xor_si256,
};

use crate::hash::{KEY_FACTORS, XXH64_PRIMES};

/// [`crate::hash::key`] of four keys.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn key4(keys: __m256i, seed: u64) -> __m256i {
    let h = mul(_mm256_xor_si256(keys, all(seed)), KEY_FACTORS[0]);
    let h = mul(_mm256_xor_si256(h, _mm256_srli_epi64::<32>(h)), KEY_FACTORS[1]);
    _mm256_xor_si256(h, _mm256_srli_epi64::<32>(h))
}

/// [`crate::hash::parquet`] of four 64-bit values.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn parquet4(values: __m256i) -> __m256i {
    let [p1, p2, p3, p4, p5] = XXH64_PRIMES;
    let lane = mul(rotated::<31, 33>(mul(values, p2)), p1);
    let h = _mm256_xor_si256(all(p5.wrapping_add(8)), lane);
    let h = _mm256_add_epi64(mul(rotated::<27, 37>(h), p1), all(p4));
    let h = mul(_mm256_xor_si256(h, _mm256_srli_epi64::<33>(h)), p2);
    let h = mul(_mm256_xor_si256(h, _mm256_srli_epi64::<29>(h)), p3);
    _mm256_xor_si256(h, _mm256_srli_epi64::<32>(h))
}

/// Product of every word with `factor`, low half.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn mul(words: __m256i, factor: u64) -> __m256i {
    let (low, high) = (all(factor), all(factor >> 32));
    let cross = _mm256_add_epi64(
        _mm256_mul_epu32(words, high),
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(words), low),
    );
    _mm256_add_epi64(_mm256_mul_epu32(words, low), _mm256_slli_epi64::<32>(cross))
}

/// The word in every lane.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn all(word: u64) -> __m256i {
    _mm256_set1_epi64x(word as i64)
}

/// Left by `LEFT` bits, of which `RIGHT` is the rest to 64.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn rotated<const LEFT: i32, const RIGHT: i32>(words: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi64::<LEFT>(words), _mm256_srli_epi64::<RIGHT>(words))
}
