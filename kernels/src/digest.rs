//! Hot path: no allocation, no lock, no syscall; one pass over the bytes.
//!
//! Doors of the frame digest xxh3-128, on any kernel set.
//!
//! Up to [`SHORT_BYTES_MAX`] bytes, and on the scalar set, the library's; longer ones in vectors:
//! each 64-byte stripe adds eight products to eight accumulators, every 16 stripes (a block) the
//! accumulators are scrambled, and the last 64 bytes are one more stripe, overlapping or not.
//!
//! Source: Collet, "XXH3 algorithm", in `doc/xxhash_spec.md` of the xxHash project.

use crate::kernel::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

/// Longest input that takes the short path.
pub const SHORT_BYTES_MAX: usize = 240;

/// Xxh3-128 with seed 0 of `bytes`, as `xxhash_rust::xxh3::xxh3_128` and every other
/// implementation of the published algorithm.
///
/// ```
/// use bloomrf_kernels::{Kernel, digest};
///
/// let empty = digest::xxh3_128(Kernel::best(), b"");
/// assert_eq!(empty, 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
/// ```
#[must_use]
pub fn xxh3_128(kernel: Kernel, bytes: &[u8]) -> u128 {
    if bytes.len() <= SHORT_BYTES_MAX {
        return xxhash_rust::xxh3::xxh3_128(bytes);
    }
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::digest::xxh3_128(token, bytes),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::digest::xxh3_128(token, bytes),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::digest::xxh3_128(token.avx512(), bytes),
        _ => xxhash_rust::xxh3::xxh3_128(bytes),
    }
}

/// Parts of the secret as the loops need them, one cache line each.
#[repr(align(64))]
pub(crate) struct Keys {
    /// Of the stripes of a block, in turn.
    pub(crate) stripes: [[u64; 8]; STRIPES],
    /// Of the last stripe.
    pub(crate) last: [u64; 8],
    /// Of the scrambling after a block.
    pub(crate) scramble: [u64; 8],
}

/// Stripes of a block.
pub(crate) const STRIPES: usize = 16;

pub(crate) static KEYS: Keys = Keys::new();

/// The accumulators before the first stripe.
pub(crate) static START: [u64; 8] =
    [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];

/// The digest of `bytes` bytes from the accumulators after the last stripe.
#[inline]
pub(crate) fn finish(sums: &[u64; 8], bytes: usize) -> u128 {
    let length = bytes as u64;
    let low = merge(sums, 11, length.wrapping_mul(PRIME64_1));
    let high = merge(sums, SECRET_BYTES - 64 - 11, !length.wrapping_mul(PRIME64_2));
    u128::from(high) << 64 | u128::from(low)
}

#[inline]
fn merge(sums: &[u64; 8], at: usize, start: u64) -> u64 {
    let mut hash = start;
    for (i, pair) in sums.as_chunks::<2>().0.iter().enumerate() {
        let one = u128::from(pair[0] ^ secret_word(at + 16 * i));
        let two = u128::from(pair[1] ^ secret_word(at + 16 * i + 8));
        let product = one.wrapping_mul(two);
        hash = hash.wrapping_add(product as u64 ^ (product >> 64) as u64);
    }
    hash ^= hash >> 37;
    hash = hash.wrapping_mul(0x1656_6791_9E37_79F9);
    hash ^ hash >> 32
}

impl Keys {
    const fn new() -> Self {
        let mut stripes = [[0; 8]; STRIPES];
        let mut i = 0;
        while i < STRIPES {
            stripes[i] = secret_words(8 * i);
            i += 1;
        }
        let last = secret_words(SECRET_BYTES - 64 - 7);
        Self { stripes, last, scramble: secret_words(SECRET_BYTES - 64) }
    }
}

const fn secret_words(at: usize) -> [u64; 8] {
    let mut words = [0; 8];
    let mut i = 0;
    while i < 8 {
        words[i] = secret_word(at + 8 * i);
        i += 1;
    }
    words
}

#[inline]
const fn secret_word(at: usize) -> u64 {
    let mut word = 0;
    let mut i = 0;
    while i < 8 {
        word |= (SECRET[at + i] as u64) << (8 * i);
        i += 1;
    }
    word
}

pub(crate) const PRIME32_1: u64 = 0x9E37_79B1;
const PRIME32_2: u64 = 0x85EB_CA77;
const PRIME32_3: u64 = 0xC2B2_AE3D;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME64_5: u64 = 0x27D4_EB2F_1656_67C5;

const SECRET_BYTES: usize = 192;

/// The algorithm's default secret.
#[rustfmt::skip]
const SECRET: [u8; SECRET_BYTES] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];
