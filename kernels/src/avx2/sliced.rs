//! Hot path: the portable code of bit-sliced groups, compiled for AVX2, with prefetch.
//!
//! Chosen where there is no AVX-512. OR of rows and the 64 x 64 transpose vectorise by themselves.
#![allow(unsafe_code)]

use super::lanes::prefetch;
use crate::RangePlan;
use crate::sliced::{
    Group, Masks, SLOTS, Source, any_bit, any_row, any_with, build_portable, contains_with,
    run_with, unbuild_portable,
};
use crate::token::Avx2;

/// See [`crate::sliced::run_plan`].
pub(crate) fn run_plan(
    _: Avx2,
    plan: &RangePlan,
    groups: &[Option<Group<'_>>],
    ask: &Masks,
) -> Masks {
    // SAFETY: the token proves the features.
    unsafe { run_plan_inner(plan, groups, ask) }
}

/// See [`crate::sliced::exact_any`].
pub(crate) fn exact_any(
    _: Avx2,
    groups: &[Option<&[u64]>],
    ask: &Masks,
    lo: u16,
    hi: u16,
) -> Masks {
    // SAFETY: the token proves the features.
    unsafe { exact_any_inner(groups, ask, lo, hi) }
}

/// See [`crate::sliced::build_words`]; `rows` begin with those of word `first`.
pub(crate) fn build(_: Avx2, rows: &mut [u64], sources: &[Source<'_>; SLOTS], first: usize) {
    // SAFETY: the token proves the features.
    unsafe { build_inner(rows, sources, first) }
}

/// See [`crate::sliced::unbuild_words`]; `rows` begin with those of word `first`.
pub(crate) fn unbuild(
    _: Avx2,
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
) {
    // SAFETY: the token proves the features.
    unsafe { unbuild_inner(rows, filters, ratios, first) }
}

/// See [`crate::sliced::blocked_contains`].
pub(crate) fn blocked_contains(
    _: Avx2,
    k: u32,
    groups: &[Option<&[u64]>],
    ask: &Masks,
    hash: u64,
) -> Masks {
    // SAFETY: the token proves the features.
    unsafe { blocked_inner(k, groups, ask, hash) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn blocked_inner(k: u32, groups: &[Option<&[u64]>], ask: &Masks, hash: u64) -> Masks {
    contains_with(k, groups, ask, hash, |row| prefetch(row))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_plan_inner(plan: &RangePlan, groups: &[Option<Group<'_>>], ask: &Masks) -> Masks {
    run_with(plan, groups, ask, any_row, any_bit, |row| prefetch(row))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn exact_any_inner(groups: &[Option<&[u64]>], ask: &Masks, lo: u16, hi: u16) -> Masks {
    any_with(groups, ask, lo, hi, any_row)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn build_inner(rows: &mut [u64], sources: &[Source<'_>; SLOTS], first: usize) {
    build_portable(rows, sources, first);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn unbuild_inner(
    rows: &[u64],
    filters: &mut [&mut [u64]; SLOTS],
    ratios: &[usize; SLOTS],
    first: usize,
) {
    unbuild_portable(rows, filters, ratios, first);
}
