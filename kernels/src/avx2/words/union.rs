//! Hot path: shares ORed into one block, counted and (where asked) zeroed on the way.

use std::arch::x86_64::*;

use super::count::{Count, GROUP, load_group};
use crate::avx2::lanes::{load4, store4};

/// ORs `source` into `target`, of the same length.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn merge(target: &mut [u64], source: &[u64]) {
    let (targets, target_rest) = target.as_chunks_mut::<4>();
    let (sources, source_rest) = source.as_chunks::<4>();
    for (target, source) in targets.iter_mut().zip(sources) {
        let union = _mm256_or_si256(load4(target), load4(source));
        store4(target, union);
    }
    target_rest.iter_mut().zip(source_rest).for_each(|(target, source)| *target |= source);
}

/// The union of `shares` from word `at` on, into `block`; returns its set bits.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn kept(shares: &[&[u64]], at: usize, block: &mut [u64]) -> u64 {
    let mut count = Count::new();
    let (groups, rest) = block.as_chunks_mut::<GROUP>();
    let mut at = at;
    for group in groups {
        let mut union = [_mm256_setzero_si256(); 8];
        for share in shares {
            let Some(words) = share[at..].first_chunk::<GROUP>() else { continue };
            or_group(&mut union, load_group(words));
        }
        store_group(group, union);
        count.add(union);
        at += GROUP;
    }
    rest.fill(0);
    for share in shares {
        rest.iter_mut().zip(&share[at..]).for_each(|(all, word)| *all |= word);
    }
    count.total() + super::count::ones(rest)
}

/// [`kept`] that leaves the words of the shares zeroed.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn zeroed(shares: &mut [&mut [u64]], at: usize, block: &mut [u64]) -> u64 {
    let mut count = Count::new();
    let (groups, rest) = block.as_chunks_mut::<GROUP>();
    let mut at = at;
    for group in groups {
        let mut union = [_mm256_setzero_si256(); 8];
        for share in shares.iter_mut() {
            let Some(words) = share[at..].first_chunk_mut::<GROUP>() else { continue };
            or_group(&mut union, load_group(words));
            store_group(words, [_mm256_setzero_si256(); 8]);
        }
        store_group(group, union);
        count.add(union);
        at += GROUP;
    }
    rest.fill(0);
    for share in shares {
        for (all, word) in rest.iter_mut().zip(&mut share[at..]) {
            *all |= std::mem::take(word);
        }
    }
    count.total() + super::count::ones(rest)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn or_group(union: &mut [__m256i; 8], lanes: [__m256i; 8]) {
    for (union, lanes) in union.iter_mut().zip(lanes) {
        *union = _mm256_or_si256(*union, lanes);
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn store_group(words: &mut [u64; GROUP], lanes: [__m256i; 8]) {
    for (words, lanes) in words.as_chunks_mut::<4>().0.iter_mut().zip(lanes) {
        store4(words, lanes);
    }
}
