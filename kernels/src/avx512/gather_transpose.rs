//! Hot path: registers only, besides one store per word that some field needs.
//!
//! Eight windows of eight words to eight words of eight rows.

use std::arch::x86_64::{
    __m512i, _mm512_shuffle_i64x2, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use super::lanes::store8;
use crate::columns::RowWords;

/// Transposes the windows of eight rows and stores the words of the set `needed` as group `g`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn put_words(rows: [__m512i; 8], needed: u8, words: &mut RowWords, g: usize) {
    if needed & 0x55 != 0 {
        let even = quarter([
            _mm512_unpacklo_epi64(rows[0], rows[1]),
            _mm512_unpacklo_epi64(rows[2], rows[3]),
            _mm512_unpacklo_epi64(rows[4], rows[5]),
            _mm512_unpacklo_epi64(rows[6], rows[7]),
        ]);
        put(even, 0, needed, words, g);
    }
    if needed & 0xAA != 0 {
        let odd = quarter([
            _mm512_unpackhi_epi64(rows[0], rows[1]),
            _mm512_unpackhi_epi64(rows[2], rows[3]),
            _mm512_unpackhi_epi64(rows[4], rows[5]),
            _mm512_unpackhi_epi64(rows[6], rows[7]),
        ]);
        put(odd, 1, needed, words, g);
    }
}

/// Transposes four registers of four 16-byte lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn quarter(pairs: [__m512i; 4]) -> [__m512i; 4] {
    let [a, b, c, d] = pairs;
    let (even_ab, even_cd) =
        (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0x88>(c, d));
    let (odd_ab, odd_cd) = (_mm512_shuffle_i64x2::<0xDD>(a, b), _mm512_shuffle_i64x2::<0xDD>(c, d));
    [
        _mm512_shuffle_i64x2::<0x88>(even_ab, even_cd),
        _mm512_shuffle_i64x2::<0x88>(odd_ab, odd_cd),
        _mm512_shuffle_i64x2::<0xDD>(even_ab, even_cd),
        _mm512_shuffle_i64x2::<0xDD>(odd_ab, odd_cd),
    ]
}

/// Stores words 0, 2, 4, 6 (`first` = 0) or 1, 3, 5, 7 (`first` = 1) where they are needed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn put(quarters: [__m512i; 4], first: usize, needed: u8, words: &mut RowWords, g: usize) {
    for (i, lanes) in quarters.into_iter().enumerate() {
        let word = 2 * i + first;
        if needed >> word & 1 == 1 {
            store8(&mut words.0[word][g], lanes);
        }
    }
}
