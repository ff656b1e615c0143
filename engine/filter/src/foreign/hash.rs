//! The hashes of other systems.

use bloomrf_kernels::hash::Hash128;
use highway::{HighwayHash, HighwayHasher, Key};

/// MurmurHash3, the 128-bit form for 64-bit machines: Guava (seed 0) and dablooms.
#[must_use]
pub fn murmur3_x64_128(item: &[u8], seed: u32) -> Hash128 {
    let mut source = item;
    // A slice never fails to be read.
    let wide = murmur3::murmur3_x64_128(&mut source, seed).unwrap_or_default();
    Hash128 { lo: wide as u64, hi: (wide >> 64) as u64 }
}

/// MurmurHash64A, of 64 bits for 64-bit machines: RedisBloom.
#[must_use]
pub fn murmur64a(item: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (item.len() as u64).wrapping_mul(MURMUR64A_FACTOR);
    let (words, tail) = item.as_chunks();
    for word in words {
        let mut word = u64::from_le_bytes(*word).wrapping_mul(MURMUR64A_FACTOR);
        word ^= word >> MURMUR64A_SHIFT;
        hash = (hash ^ word.wrapping_mul(MURMUR64A_FACTOR)).wrapping_mul(MURMUR64A_FACTOR);
    }
    if !tail.is_empty() {
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(MURMUR64A_FACTOR);
    }
    hash = (hash ^ (hash >> MURMUR64A_SHIFT)).wrapping_mul(MURMUR64A_FACTOR);
    hash ^ (hash >> MURMUR64A_SHIFT)
}

/// HighwayHash-128 under the key that Redisson uses.
#[must_use]
pub fn highway128(item: &[u8]) -> Hash128 {
    let [lo, hi] = HighwayHasher::new(Key(REDISSON_KEY)).hash128(item);
    Hash128 { lo, hi }
}

const MURMUR64A_FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
const MURMUR64A_SHIFT: u32 = 47;

const REDISSON_KEY: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xf39c_c060_5ced_c834, 0x1082_276b_f3a2_7251, 0xf86c_6a11_d0c1_8e95];
