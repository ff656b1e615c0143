//! Hot path: eight hashes at once in 512-bit registers; `vpmullq` does the multiplications.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_mullo_epi64, _mm512_rol_epi64, _mm512_set1_epi64,
    _mm512_srli_epi64, _mm512_xor_si512,
};

use crate::hash::{KEY_FACTORS, XXH64_PRIMES};

/// [`crate::hash::key`] of eight keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(crate) fn key8(keys: __m512i, seed: u64) -> __m512i {
    let h = mul(_mm512_xor_si512(keys, all(seed)), KEY_FACTORS[0]);
    let h = mul(_mm512_xor_si512(h, _mm512_srli_epi64::<32>(h)), KEY_FACTORS[1]);
    _mm512_xor_si512(h, _mm512_srli_epi64::<32>(h))
}

/// [`crate::hash::parquet`] of eight 64-bit values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(crate) fn parquet8(values: __m512i) -> __m512i {
    let [p1, p2, p3, p4, p5] = XXH64_PRIMES;
    let lane = mul(_mm512_rol_epi64::<31>(mul(values, p2)), p1);
    let h = _mm512_xor_si512(all(p5.wrapping_add(8)), lane);
    let h = _mm512_add_epi64(mul(_mm512_rol_epi64::<27>(h), p1), all(p4));
    let h = mul(_mm512_xor_si512(h, _mm512_srli_epi64::<33>(h)), p2);
    let h = mul(_mm512_xor_si512(h, _mm512_srli_epi64::<29>(h)), p3);
    _mm512_xor_si512(h, _mm512_srli_epi64::<32>(h))
}

/// Product of every word with `factor`, low half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(crate) fn mul(words: __m512i, factor: u64) -> __m512i {
    _mm512_mullo_epi64(words, all(factor))
}

/// The word in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(crate) fn all(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}
