//! Hot path: a block folded in place, in the first cache.
//!
//! Twos fold by two registers, other factors word by word (a word costs one OR either way);
//! granules of four words and more fold by whole registers.

use std::arch::x86_64::*;

use crate::avx2::lanes::{load4, store4};

/// Folds `block` in place by `factor` granules of `granule` words, into its first words.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn block(block: &mut [u64], granule: usize, factor: usize) {
    if granule != 1 {
        by_granules(block, granule, factor);
        return;
    }
    let (mut len, mut factor) = (block.len(), factor);
    while factor.is_multiple_of(2) {
        by_two(&mut block[..len]);
        (len, factor) = (len / 2, factor / 2);
    }
    let block = &mut block[..len];
    match factor {
        1 => {}
        3 => by::<3>(block, 0),
        5 => by::<5>(block, 0),
        _ => words(block, factor),
    }
}

/// Granules other than one word: each target ORs its sources, a register or a word at a time.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn by_granules(block: &mut [u64], granule: usize, factor: usize) {
    let targets = block.len() / (granule * factor);
    for target in 0..targets {
        let first = target * factor * granule;
        for lane in (0..granule).step_by(4) {
            if granule.is_multiple_of(4) {
                let mut union = _mm256_setzero_si256();
                for source in 0..factor {
                    if let Some(words) = block[first + source * granule + lane..].first_chunk() {
                        union = _mm256_or_si256(union, load4(words));
                    }
                }
                // The target lies at or before its first source.
                if let Some(words) = block[target * granule + lane..].first_chunk_mut() {
                    store4(words, union);
                }
                continue;
            }
            for lane in lane..granule.min(lane + 4) {
                let sources = (0..factor).map(|source| block[first + source * granule + lane]);
                block[target * granule + lane] = sources.fold(0, |all, word| all | word);
            }
        }
    }
}

/// Two registers become one.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn by_two(block: &mut [u64]) {
    let groups = block.len() / 8;
    for group in 0..groups {
        let Some(low) = block[group * 8..].first_chunk::<4>() else { break };
        let Some(high) = block[group * 8 + 4..].first_chunk::<4>() else { break };
        let (low, high) = (load4(low), load4(high));
        let union =
            _mm256_or_si256(_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
        if let Some(target) = block[group * 4..].first_chunk_mut() {
            store4(target, _mm256_permute4x64_epi64::<0b11_01_10_00>(union));
        }
    }
    by::<2>(block, groups * 4);
}

/// Word by word, from target `from` on.
#[inline]
fn by<const F: usize>(block: &mut [u64], from: usize) {
    for target in from..block.len() / F {
        if let Some(sources) = block[target * F..].first_chunk::<F>() {
            block[target] = sources.iter().fold(0, |all, word| all | word);
        }
    }
}

/// Word by word, by any factor.
fn words(block: &mut [u64], factor: usize) {
    for target in 0..block.len() / factor {
        let sources = &block[target * factor..][..factor];
        block[target] = sources.iter().fold(0, |all, word| all | word);
    }
}
