//! Hot path: no allocation, no lock, no syscall; two multiplications a key, a pass over a string.
//!
//! The hashes: a 64-bit mix for prefixes of keys and one for whole keys, xxh3 for byte strings,
//! and xxHash64 for what Parquet must be able to read.

/// Mixes the prefix of a key with the salt of its layer: two odd multipliers, one shift.
///
/// The upper 32 bits pick the word, bits 8..14 the rotation: disjoint, and neither depends on the
/// number of words, which is what makes folding exact.
#[inline]
#[must_use]
pub fn mix(prefix: u64, salt: u64) -> u64 {
    let mut h = (prefix ^ salt).wrapping_mul(MIX_FIRST);
    h ^= h >> 32;
    h.wrapping_mul(MIX_SECOND)
}

/// The first multiplier of [`mix`]; part of the stored format.
pub(crate) const MIX_FIRST: u64 = 0x9E37_79B9_7F4A_7C15;

/// The second multiplier of [`mix`]; part of the stored format.
pub(crate) const MIX_SECOND: u64 = 0xD6E8_FEB8_6659_FD93;

/// The salt of layer `index` under the seed of a data folder and schema epoch.
#[inline]
#[must_use]
pub fn layer_salt(seed: u64, index: u32) -> u64 {
    mix(u64::from(index) + 1, seed.wrapping_add(0xA076_1D64_78BD_642F))
}

/// Hash of a key of a narrow column: every bit of it depends on every bit of the key.
///
/// A bijection of the key for each seed: two keys never share a hash.
///
/// ```
/// use bloomrf_kernels::{blocked, hash};
///
/// // One hash, asked of many filters of one seed and `k`.
/// let mut filters = vec![vec![0; 8 * blocked::BLOCK_WORDS]; 3];
/// let hash = hash::key(443, 7);
/// blocked::insert(6, &mut filters[1], hash);
/// let found: Vec<bool> = filters.iter().map(|f| blocked::contains(6, f, hash)).collect();
/// assert_eq!(found, [false, true, false]);
/// ```
#[inline]
#[must_use]
pub fn key(key: u64, seed: u64) -> u64 {
    let mut h = (key ^ seed).wrapping_mul(KEY_FACTORS[0]);
    h ^= h >> 32;
    h = h.wrapping_mul(KEY_FACTORS[1]);
    h ^ h >> 32
}

/// Odd; part of the stored format.
pub(crate) const KEY_FACTORS: [u64; 2] = [0xBF58_476D_1CE4_E5B9, 0xD6E8_FEB8_6659_FD93];

/// Hash of a byte string (16-byte addresses, uuids, `bytes(N)`): xxh3-64 with `seed`.
#[inline]
#[must_use]
pub fn bytes(value: &[u8], seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(value, seed)
}

/// Hashes of 16-byte values (addresses, uuids): `hashes[i]` is [`bytes`] of `values[i]`.
///
/// # Panics
/// Unless both have the same length.
pub fn bytes_many(values: &[[u8; 16]], seed: u64, hashes: &mut [u64]) {
    assert_eq!(values.len(), hashes.len(), "one hash per value");
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = bytes(value, seed);
    }
}

/// A hash of 128 bits, of an item of any kind: 64 bits are too few for a rate of 1e-12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hash128 {
    /// The lower half.
    pub lo: u64,
    /// The upper half.
    pub hi: u64,
}

/// Hash of a value's plain bytes in a Parquet Bloom filter: xxHash64, seed 0.
#[inline]
#[must_use]
pub fn parquet(plain: &[u8]) -> u64 {
    xxhash_rust::xxh64::xxh64(plain, 0)
}

/// The primes of xxHash64, for its forms in registers.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) const XXH64_PRIMES: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];
