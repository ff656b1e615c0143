//! Hot path: set bits by carry-save adders, less than three register operations for 64 bytes.
//!
//! Eight registers are added bit by bit into ones, twos and fours; only the eights that carry out
//! are counted, by a table of nibbles. (Harley and Seal's method.)

use std::arch::x86_64::*;

use crate::avx512::lanes::load8;

/// Words of a group of eight registers.
pub(super) const GROUP: usize = 64;

/// A running count.
pub(super) struct Count {
    ones: __m512i,
    twos: __m512i,
    fours: __m512i,
    /// Eights carried out so far, in eight lanes.
    eights: __m512i,
}

/// Set bits of `words`.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn ones(words: &[u64]) -> u64 {
    let mut count = Count::new();
    let (groups, rest) = words.as_chunks::<GROUP>();
    for group in groups {
        count.add(load_group(group));
    }
    if !rest.is_empty() {
        let mut last = [0; GROUP];
        last[..rest.len()].copy_from_slice(rest);
        count.add(load_group(&last));
    }
    count.total()
}

/// Eight registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn load_group(words: &[u64; GROUP]) -> [__m512i; 8] {
    let mut lanes = [_mm512_setzero_si512(); 8];
    for (lanes, words) in lanes.iter_mut().zip(words.as_chunks::<8>().0) {
        *lanes = load8(words);
    }
    lanes
}

impl Count {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    pub(super) fn new() -> Self {
        let zero = _mm512_setzero_si512();
        Count { ones: zero, twos: zero, fours: zero, eights: zero }
    }

    /// Adds eight registers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    pub(super) fn add(&mut self, v: [__m512i; 8]) {
        let (ones, twos_a) = add3(self.ones, v[0], v[1]);
        let (ones, twos_b) = add3(ones, v[2], v[3]);
        let (twos, fours_a) = add3(self.twos, twos_a, twos_b);
        let (ones, twos_a) = add3(ones, v[4], v[5]);
        let (ones, twos_b) = add3(ones, v[6], v[7]);
        let (twos, fours_b) = add3(twos, twos_a, twos_b);
        let (fours, eights) = add3(self.fours, fours_a, fours_b);
        (self.ones, self.twos, self.fours) = (ones, twos, fours);
        self.eights = _mm512_add_epi64(self.eights, by_nibbles(eights));
    }

    /// Set bits of all that was added.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
    pub(super) fn total(&self) -> u64 {
        let sum = |lanes| _mm512_reduce_add_epi64(lanes).cast_unsigned();
        8 * sum(self.eights)
            + 4 * sum(by_nibbles(self.fours))
            + 2 * sum(by_nibbles(self.twos))
            + sum(by_nibbles(self.ones))
    }
}

/// Sum and carry of three bits in each place.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn add3(a: __m512i, b: __m512i, c: __m512i) -> (__m512i, __m512i) {
    (_mm512_ternarylogic_epi64::<0x96>(a, b, c), _mm512_ternarylogic_epi64::<0xE8>(a, b, c))
}

/// Set bits of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn by_nibbles(lanes: __m512i) -> __m512i {
    let table =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    let nibble = _mm512_set1_epi8(0x0F);
    let low = _mm512_shuffle_epi8(table, _mm512_and_si512(lanes, nibble));
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(lanes), nibble);
    let bytes = _mm512_add_epi8(low, _mm512_shuffle_epi8(table, high));
    _mm512_sad_epu8(bytes, _mm512_setzero_si512())
}
