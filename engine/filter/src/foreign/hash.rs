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

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the golden traces, or of an independent implementation of the same notes.
    #[test]
    fn hashes_are_those_that_other_systems_make() {
        let murmur: [(&[u8], u64, u64, u64); 5] = [
            (b"", 0, 0, 0),
            (b"a", 0x0717_17d2_d36b_6b11, 0x8555_5565_f659_7889, 0xe6b5_3a48_510e_895a),
            (b"12345678", 0x758f_67d1_62b2_d202, 0x3b4a_6406_38b1_419c, 0x913b_0e67_6bd4_2557),
            (b"123456789", 0x4977_4902_5167_4330, 0x3c84_645e_db66_cca4, 0x99f8_fac7_3a1e_a105),
            (
                b"0123456789abcdef0",
                0xd6d7_40ea_6bf3_5f45,
                0xeb24_ae87_85a5_c075,
                0x73fb_68b3_3131_28ca,
            ),
        ];
        for (item, hash, lo, hi) in murmur {
            assert_eq!(murmur64a(item, 0), hash, "{item:?}");
            assert_eq!(murmur3_x64_128(item, 0), Hash128 { lo, hi }, "{item:?}");
        }
        let long: Vec<u8> = (0..33).collect();
        let highway: [(&[u8], u64, u64); 4] = [
            (b"", 0xb7aa_d9c2_26c6_a36b, 0xb2d4_e4a6_3557_bca6),
            (b"a", 0xab0b_c04b_5da9_4740, 0xa046_2b5a_ca91_2353),
            (b"0123456789abcdef0", 0x2b07_eb60_3302_b040, 0x2381_4ff2_991f_a583),
            (&long, 0x24e1_c473_6e1c_9c1c, 0x297a_0b17_d873_d74f),
        ];
        for (item, lo, hi) in highway {
            assert_eq!(highway128(item), Hash128 { lo, hi }, "{item:?}");
        }
    }
}
