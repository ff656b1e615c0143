//! Hot path: registers only, two loads a step.
//!
//! Smallest and largest key: two pairs of registers, one overlapping step for what is left over.

use std::arch::x86_64::{
    _mm512_castsi512_si128, _mm512_max_epu8, _mm512_max_epu16, _mm512_max_epu32, _mm512_max_epu64,
    _mm512_min_epu8, _mm512_min_epu16, _mm512_min_epu32, _mm512_min_epu64, _mm512_shuffle_i64x2,
};

use super::columns_lanes::{bytes16, load32_u16, load64};
use super::lanes::{load8, load16_u32};
use crate::scalar;

macro_rules! bounds {
    ($name:ident, $key:ty, $lanes:literal, $load:ident, $min:ident, $max:ident) => {
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
        pub(super) fn $name(keys: &[$key]) -> Option<($key, $key)> {
            let (Some(first), Some(last)) = (keys.first_chunk(), keys.last_chunk()) else {
                return scalar::columns::bounds(keys);
            };
            let (first, last) = ($load(first), $load(last));
            let (mut low, mut low_other) = (first, last);
            let (mut high, mut high_other) = (first, last);
            let (pairs, rest) = keys.as_chunks::<{ 2 * $lanes }>();
            for pair in pairs {
                let (Some(one), Some(two)) = (pair.first_chunk(), pair.last_chunk()) else { break };
                let (one, two) = ($load(one), $load(two));
                low = $min(low, one);
                high = $max(high, one);
                low_other = $min(low_other, two);
                high_other = $max(high_other, two);
            }
            if let Some(odd) = rest.first_chunk::<$lanes>() {
                low = $min(low, $load(odd));
                high = $max(high, $load(odd));
            }
            low = $min(low, low_other);
            high = $max(high, high_other);
            low = $min(low, _mm512_shuffle_i64x2::<0x4E>(low, low));
            high = $max(high, _mm512_shuffle_i64x2::<0x4E>(high, high));
            low = $min(low, _mm512_shuffle_i64x2::<0xB1>(low, low));
            high = $max(high, _mm512_shuffle_i64x2::<0xB1>(high, high));
            let low = bytes16(_mm512_castsi512_si128(low));
            let high = bytes16(_mm512_castsi512_si128(high));
            let key = |&bytes| <$key>::from_le_bytes(bytes);
            let low = low.as_chunks().0.iter().map(key).min()?;
            Some((low, high.as_chunks().0.iter().map(key).max()?))
        }
    };
}

bounds!(bounds_u8, u8, 64, load64, _mm512_min_epu8, _mm512_max_epu8);
bounds!(bounds_u16, u16, 32, load32_u16, _mm512_min_epu16, _mm512_max_epu16);
bounds!(bounds_u32, u32, 16, load16_u32, _mm512_min_epu32, _mm512_max_epu32);
bounds!(bounds_u64, u64, 8, load8, _mm512_min_epu64, _mm512_max_epu64);
