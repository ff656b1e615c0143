//! Hot path: the walk over bit-sliced groups with 512-bit masks, OR of rows and prefetch.
//!
//! Chosen on every CPU with AVX-512; about 1.3 times as fast as portable code, since memory
//! decides.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    _mm512_mask_or_epi64, _mm512_or_si512, _mm512_reduce_or_epi64, _mm512_setzero_si512,
};

use super::lanes::{load8, load8_part, prefetch};
use crate::RangePlan;
use crate::plan::Probe;
use crate::sliced::{Group, Masks, SLOTS, any_with, contains_with, run_with};
use crate::token::Avx512;

/// See [`crate::sliced::run_plan`].
pub(crate) fn run_plan(
    _: Avx512,
    plan: &RangePlan,
    groups: &[Option<Group<'_>>],
    ask: &Masks,
) -> Masks {
    // SAFETY: the token proves the features.
    unsafe { run_plan_inner(plan, groups, ask) }
}

/// See [`crate::sliced::exact_any`].
pub(crate) fn exact_any(
    _: Avx512,
    groups: &[Option<&[u64]>],
    ask: &Masks,
    lo: u16,
    hi: u16,
) -> Masks {
    // SAFETY: the token proves the features.
    unsafe { exact_any_inner(groups, ask, lo, hi) }
}

/// See [`crate::sliced::blocked_contains`].
pub(crate) fn blocked_contains(
    _: Avx512,
    k: u32,
    groups: &[Option<&[u64]>],
    ask: &Masks,
    hash: u64,
) -> Masks {
    // SAFETY: the token proves the features.
    unsafe { blocked_inner(k, groups, ask, hash) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn blocked_inner(k: u32, groups: &[Option<&[u64]>], ask: &Masks, hash: u64) -> Masks {
    contains_with(k, groups, ask, hash, |row| prefetch(row))
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn run_plan_inner(plan: &RangePlan, groups: &[Option<Group<'_>>], ask: &Masks) -> Masks {
    run_with(
        plan,
        groups,
        ask,
        |rows, need| any_row(rows, need),
        |word, probe, _| any_bit(word, probe),
        |row| prefetch(row),
    )
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn exact_any_inner(groups: &[Option<&[u64]>], ask: &Masks, lo: u16, hi: u16) -> Masks {
    any_with(groups, ask, lo, hi, |rows, need| any_row(rows, need))
}

/// OR of `rows`, or at least of as many as cover `need`, looked at every 64 rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn any_row(rows: &[u64], need: u64) -> u64 {
    if let [row] = rows {
        return *row;
    }
    let mut found = 0;
    for rows in rows.chunks(SLOTS) {
        let (lines, rest) = rows.as_chunks();
        let all =
            lines.iter().fold(load8_part(rest), |all, line| _mm512_or_si512(all, load8(line)));
        found |= _mm512_reduce_or_epi64(all) as u64;
        if need & !found == 0 {
            break;
        }
    }
    found
}

/// OR of the rows that the probe names in its word: a cyclic run, in at most nine steps of a line.
/// (To stop once `need` is covered gains nothing.)
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn any_bit(word: &[u64; SLOTS], probe: &Probe) -> u64 {
    let lines = word.as_chunks::<8>().0;
    let start = usize::from(probe.start & 63);
    let past = start + usize::from(probe.length);
    let mut all = _mm512_setzero_si512();
    // Only lines that hold a named row: another may be one more miss.
    for at in start / 8..past.div_ceil(8) {
        let named = (probe.mask >> (at % 8 * 8)) as u8;
        all = _mm512_mask_or_epi64(all, named, all, load8(&lines[at % 8]));
    }
    _mm512_reduce_or_epi64(all) as u64
}
