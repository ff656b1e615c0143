//! The naive build that the engine's is compared with: one record after the other, scalar, into
//! filters of the largest open size.

use bloomrf_bench::flows::RECORD_BYTES;
use bloomrf_kernels::arena::{Arena, Words};
use bloomrf_kernels::hash::mix;
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, digest};

use crate::{FRAME_BYTES, Ingest, SEED};

/// Words of a filter of the largest open size.
pub(crate) const WORDS: usize = 122_880;
/// Widths of the layers of 8- and of 4-byte columns (see `params::layers_for`).
const WIDE: [u32; 8] = [7, 7, 7, 7, 4, 4, 2, 2];
const NARROW: [u32; 5] = [6, 3, 3, 2, 2];

/// What a first version does: every row through every column, one layer after the other; with all
/// that a compiler can know of it in advance.
pub(crate) struct Naive {
    wide: [u64; WIDE.len()],
    narrow: [u64; NARROW.len()],
    pub(crate) hashed: [Words; 5],
    exact: [Words; 6],
    bounds: [(u64, u64); 8],
    pub(crate) digests: Vec<u128>,
}

impl Naive {
    pub(crate) fn new(arena: &Arena) -> Self {
        let words = |len| arena.words(len).expect("the arena holds all builds");
        Naive {
            wide: salts(64, &WIDE),
            narrow: salts(32, &NARROW),
            hashed: std::array::from_fn(|_| words(WORDS)),
            exact: std::array::from_fn(|_| words(bitmap::WORDS_16)),
            bounds: [(u64::MAX, 0); 8],
            digests: Vec::with_capacity(1 << 13),
        }
    }

    /// Row after row; what it reads and writes lies in locals.
    fn take_rows(&mut self, rows: &[[u8; RECORD_BYTES]]) {
        let (wide, narrow, mut bounds) = (self.wide, self.narrow, self.bounds);
        let [h0, h1, h2, h3, h4] =
            self.hashed.each_mut().map(|words| words.first_chunk_mut().expect("W0 words"));
        let [t2, t3, t4, m5, m6, m7] =
            self.exact.each_mut().map(|words| words.first_chunk_mut().expect("a bitmap"));
        for row in rows {
            let keys = keys_of(row);
            for (bounds, key) in bounds.iter_mut().zip(keys) {
                *bounds = (bounds.0.min(key), bounds.1.max(key));
            }
            set_layers(&WIDE, &wide, h0, keys[0]);
            set_layers(&WIDE, &wide, h1, keys[1]);
            set_layers(&NARROW, &narrow, h2, keys[2]);
            set_bit(t2, keys[2] >> 16);
            set_layers(&NARROW, &narrow, h3, keys[3]);
            set_bit(t3, keys[3] >> 16);
            set_layers(&NARROW, &narrow, h4, keys[4]);
            set_bit(t4, keys[4] >> 16);
            set_bit(m5, keys[5]);
            set_bit(m6, keys[6]);
            set_bit(m7, keys[7]);
        }
        self.bounds = bounds;
    }
}

fn salts<const N: usize>(bits: u8, widths: &[u32; N]) -> [u64; N] {
    let layers = layers_for(bits, SEED);
    let same = layers.hashed().iter().map(|layer| u32::from(layer.width)).eq(*widths);
    assert!(same, "the naive build has other layers than the engine's");
    std::array::from_fn(|at| layers.hashed()[at].salt)
}

#[inline]
fn keys_of(row: &[u8; RECORD_BYTES]) -> [u64; 8] {
    let le8 = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().unwrap_or_default());
    let le4 = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().unwrap_or_default());
    let le2 = |at: usize| u16::from_le_bytes(row[at..at + 2].try_into().unwrap_or_default());
    [
        le8(0) ^ 1 << 63,
        le8(8),
        le4(16).swap_bytes().into(),
        le4(20).swap_bytes().into(),
        le4(24).into(),
        le2(28).into(),
        le2(30).into(),
        row[32].into(),
    ]
}

#[inline(always)]
fn set_layers<const N: usize>(
    widths: &[u32; N],
    salts: &[u64; N],
    words: &mut [u64; WORDS],
    key: u64,
) {
    let mut start = 0;
    for (width, salt) in widths.iter().zip(salts) {
        let hash = mix(key >> (start + width - 1), *salt);
        let word = (hash >> 32).wrapping_mul(WORDS as u64) >> 32;
        let offset = (key >> start) & ((1 << (width - 1)) - 1);
        // A rotated bit is the bit of the sum.
        words[word as usize] |= 1 << (offset.wrapping_add(hash >> 8) & 63);
        start += width;
    }
}

#[inline(always)]
fn set_bit(words: &mut [u64; bitmap::WORDS_16], key: u64) {
    words[(key >> 6) as usize & 1_023] |= 1 << (key & 63);
}

impl Ingest for Naive {
    fn clear(&mut self) {
        self.hashed.iter_mut().for_each(|words| words.fill(0));
        self.exact.iter_mut().for_each(|words| words.fill(0));
        self.bounds = [(u64::MAX, 0); 8];
        self.digests.clear();
    }

    fn take(&mut self, rows: &[u8]) -> u64 {
        for frame in rows.chunks(FRAME_BYTES) {
            self.digests.push(digest::xxh3_128(Kernel::Scalar, frame));
            self.take_rows(frame.as_chunks().0);
        }
        self.hashed[1][7] ^ self.bounds[0].1 ^ self.digests[self.digests.len() / 2] as u64
    }
}
