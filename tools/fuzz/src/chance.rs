//! Chance by a seed, and what it does to bytes.

/// A stream of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// By its seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n.max(1) as u64) as usize
    }

    /// Damages `bytes` at a few places: bits, numbers that tend to be hostile, parts left out,
    /// doubled or taken from `other`.
    pub fn wound(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(16)).min(bytes.len());
            match self.below(7) {
                0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (at % 8)),
                1 => self.hostile_number(bytes, at),
                2 => bytes[at.min(end)..end].fill(self.draw() as u8),
                3 => drop(bytes.drain(at.min(end)..end)),
                4 => {
                    let doubled = bytes[at.min(end)..end].to_vec();
                    drop(bytes.splice(at..at, doubled));
                }
                5 => {
                    let from = self.below(other.len());
                    let part = &other[from..(from + 64).min(other.len())];
                    drop(bytes.splice(at..at, part.iter().copied()));
                }
                _ => bytes.truncate(at),
            }
        }
        bytes.truncate(INPUT_BYTES_MAX);
    }

    fn hostile_number(&mut self, bytes: &mut [u8], at: usize) {
        let value = HOSTILE[self.below(HOSTILE.len())].to_le_bytes();
        let width = 1 << self.below(4);
        bytes.iter_mut().skip(at).zip(&value[..width]).for_each(|(byte, new)| *byte = *new);
    }
}

/// Edges of widths and limits.
const HOSTILE: [u64; 14] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    1 << 17,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX,
];
/// Longest input that is tried.
const INPUT_BYTES_MAX: usize = 1 << 20;
