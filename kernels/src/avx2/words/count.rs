//! Hot path: set bits by carry-save adders, under six register operations for 32 bytes.
//!
//! Eight registers are added bit by bit into ones, twos and fours; only the eights that carry out
//! are counted, by a table of nibbles. (Harley and Seal's method.)

use std::arch::x86_64::*;

use crate::avx2::lanes::{load4, store4};

/// Words of a group of eight registers.
pub(super) const GROUP: usize = 32;

/// A running count.
pub(super) struct Count {
    ones: __m256i,
    twos: __m256i,
    fours: __m256i,
    /// Eights carried out so far, in four lanes.
    eights: __m256i,
}

/// Set bits of `words`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn ones(words: &[u64]) -> u64 {
    let mut count = Count::new();
    let (groups, rest) = words.as_chunks::<GROUP>();
    for group in groups {
        count.add(load_group(group));
    }
    count.total() + rest.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()
}

/// Eight registers.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn load_group(words: &[u64; GROUP]) -> [__m256i; 8] {
    let mut lanes = [_mm256_setzero_si256(); 8];
    for (lanes, words) in lanes.iter_mut().zip(words.as_chunks::<4>().0) {
        *lanes = load4(words);
    }
    lanes
}

impl Count {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn new() -> Self {
        let zero = _mm256_setzero_si256();
        Count { ones: zero, twos: zero, fours: zero, eights: zero }
    }

    /// Adds eight registers.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn add(&mut self, v: [__m256i; 8]) {
        let (ones, twos_a) = add3(self.ones, v[0], v[1]);
        let (ones, twos_b) = add3(ones, v[2], v[3]);
        let (twos, fours_a) = add3(self.twos, twos_a, twos_b);
        let (ones, twos_a) = add3(ones, v[4], v[5]);
        let (ones, twos_b) = add3(ones, v[6], v[7]);
        let (twos, fours_b) = add3(twos, twos_a, twos_b);
        let (fours, eights) = add3(self.fours, fours_a, fours_b);
        (self.ones, self.twos, self.fours) = (ones, twos, fours);
        self.eights = _mm256_add_epi64(self.eights, by_nibbles(eights));
    }

    /// Set bits of all that was added.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn total(&self) -> u64 {
        8 * sum(self.eights)
            + 4 * sum(by_nibbles(self.fours))
            + 2 * sum(by_nibbles(self.twos))
            + sum(by_nibbles(self.ones))
    }
}

/// Sum and carry of three bits in each place.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn add3(a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
    let differ = _mm256_xor_si256(a, b);
    let carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(differ, c));
    (_mm256_xor_si256(differ, c), carry)
}

/// Set bits of each lane.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn by_nibbles(lanes: __m256i) -> __m256i {
    let table = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    let table = _mm256_broadcastsi128_si256(table);
    let nibble = _mm256_set1_epi8(0x0F);
    let low = _mm256_shuffle_epi8(table, _mm256_and_si256(lanes, nibble));
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(lanes), nibble);
    let bytes = _mm256_add_epi8(low, _mm256_shuffle_epi8(table, high));
    _mm256_sad_epu8(bytes, _mm256_setzero_si256())
}

/// Sum of four lanes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn sum(lanes: __m256i) -> u64 {
    let mut words = [0; 4];
    store4(&mut words, lanes);
    words.iter().sum()
}
