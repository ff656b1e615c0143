//! Hot path: a block folded in place, in the first cache.
//!
//! Any factor is 2s, 3s and 5s (permutations of two, three or five registers) and a rest by words;
//! blocks of eight words (a line) fold by whole registers.

use std::arch::x86_64::*;

use crate::avx512::lanes::{load8, store8};

/// Folds `block` in place by `factor` granules of `granule` words, into its first words.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
pub(super) fn block(block: &mut [u64], granule: usize, factor: usize) {
    if granule != 1 {
        by_granules(block, granule, factor);
        return;
    }
    let (mut len, mut factor) = (block.len(), factor);
    for prime in [2, 3, 5] {
        while factor.is_multiple_of(prime) {
            let words = &mut block[..len];
            match prime {
                2 => by::<2>(words),
                3 => by::<3>(words),
                _ => by::<5>(words),
            }
            (len, factor) = (len / prime, factor / prime);
        }
    }
    if factor > 1 {
        words(&mut block[..len], 0, factor);
    }
}

/// Granules other than one word: each target ORs its sources, a register or a word at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn by_granules(block: &mut [u64], granule: usize, factor: usize) {
    let targets = block.len() / (granule * factor);
    for target in 0..targets {
        let first = target * factor * granule;
        for lane in (0..granule).step_by(8) {
            if granule.is_multiple_of(8) {
                let mut union = _mm512_setzero_si512();
                for source in 0..factor {
                    if let Some(words) = block[first + source * granule + lane..].first_chunk() {
                        union = _mm512_or_si512(union, load8(words));
                    }
                }
                // The target lies at or before its first source.
                if let Some(words) = block[target * granule + lane..].first_chunk_mut() {
                    store8(words, union);
                }
                continue;
            }
            for lane in lane..granule.min(lane + 8) {
                let sources = (0..factor).map(|source| block[first + source * granule + lane]);
                block[target * granule + lane] = sources.fold(0, |all, word| all | word);
            }
        }
    }
}

/// By a small prime: F registers become one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn by<const F: usize>(block: &mut [u64]) {
    let table = const { &picks::<F>() };
    let groups = block.len() / (8 * F);
    for group in 0..groups {
        let mut registers = [_mm512_setzero_si512(); F];
        for (place, register) in registers.iter_mut().enumerate() {
            if let Some(words) = block[(group * F + place) * 8..].first_chunk::<8>() {
                *register = load8(words);
            }
        }
        let mut union = _mm512_setzero_si512();
        for picks in table {
            // The words at `place` of each eight runs of F words.
            let mut picked = registers[0];
            for (register, lanes) in registers.iter().enumerate() {
                let Pick { index, mask } = &picks[register];
                picked = _mm512_mask_permutexvar_epi64(picked, *mask, load8(index), *lanes);
            }
            union = _mm512_or_si512(union, picked);
        }
        if let Some(target) = block[group * 8..].first_chunk_mut::<8>() {
            store8(target, union);
        }
    }
    words(block, groups * 8, F);
}

/// Which lanes of one register go where.
#[derive(Clone, Copy)]
struct Pick {
    index: [u64; 8],
    mask: u8,
}

/// For the words at each place of a run, and each source register: its lanes, and where they go.
const fn picks<const F: usize>() -> [[Pick; F]; F] {
    let mut picks = [[Pick { index: [0; 8], mask: 0 }; F]; F];
    let mut place = 0;
    while place < F {
        let mut lane = 0;
        while lane < 8 {
            let word = lane * F + place;
            picks[place][word / 8].index[lane] = (word % 8) as u64;
            picks[place][word / 8].mask |= 1 << lane;
            lane += 1;
        }
        place += 1;
    }
    picks
}

/// Word by word, from target `from` on.
#[inline]
fn words(block: &mut [u64], from: usize, factor: usize) {
    for target in from..block.len() / factor {
        let sources = &block[target * factor..][..factor];
        block[target] = sources.iter().fold(0, |all, word| all | word);
    }
}
