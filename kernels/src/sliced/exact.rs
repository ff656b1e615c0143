//! Hot path: no allocation, no lock, no syscall; reads at most 1,152 rows with a summary, all
//! 65,536 without one, and stops where every slot asked is found.
//!
//! Exact bitmaps, bit-sliced: row `key` holds, in bit b, whether the batch in slot b has that key.

use super::{BITMAP_ROWS, GROUPS, Masks, SUMMARY_ROWS};
use crate::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::{avx2::sliced as avx2, avx512::sliced as avx512};

/// Which slots of `ask` hold a key of `lo..=hi`; none where `lo > hi`.
///
/// A group has 256 rows (1-byte keys) or 65,536 (2-byte keys), the latter with or without its
/// summary after them. `None`, and a key past the end of the rows: all of `ask`.
///
/// # Panics
/// Where there are more than 8 groups.
#[must_use]
pub fn exact_any(
    kernel: Kernel,
    groups: &[Option<&[u64]>],
    ask: &Masks,
    lo: u16,
    hi: u16,
) -> Masks {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::exact_any(token, groups, ask, lo, hi),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::exact_any(token, groups, ask, lo, hi),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::exact_any(token.avx512(), groups, ask, lo, hi),
        _ => any_with(groups, ask, lo, hi, any_row),
    }
}

/// Fills the summary of a group of 2-byte bitmaps: row `BITMAP_ROWS + word` becomes the OR of the
/// 64 rows of `word`. Wide ranges then read 1/64 of the rows; 8 KiB more for 512 KiB.
///
/// # Panics
/// Unless there are `BITMAP_ROWS + SUMMARY_ROWS` rows.
pub fn summarise(rows: &mut [u64]) {
    let all = BITMAP_ROWS + SUMMARY_ROWS;
    assert_eq!(rows.len(), all, "rows of a bitmap group with its summary");
    let (rows, summary) = rows.split_at_mut(BITMAP_ROWS);
    for (whole, rows) in summary.iter_mut().zip(rows.as_chunks::<64>().0) {
        *whole = rows.iter().fold(0, |all, row| all | row);
    }
}

/// [`exact_any`], with the OR of rows given.
#[inline(always)]
pub(crate) fn any_with(
    groups: &[Option<&[u64]>],
    ask: &Masks,
    lo: u16,
    hi: u16,
    any_row: impl Fn(&[u64], u64) -> u64 + Copy,
) -> Masks {
    assert!(groups.len() <= GROUPS, "{} groups where at most {GROUPS} are asked", groups.len());
    let mut found = *ask;
    for (found, group) in found.iter_mut().zip(groups) {
        if let Some(rows) = group
            && *found != 0
        {
            *found &= if lo > hi { 0 } else { any_in(rows, lo, hi, *found, any_row) };
        }
    }
    found
}

/// OR of the rows `lo..=hi` (`lo <= hi`), or at least of as many as cover `need`.
#[inline(always)]
pub(crate) fn any_in(
    rows: &[u64],
    lo: u16,
    hi: u16,
    need: u64,
    any_row: impl Fn(&[u64], u64) -> u64,
) -> u64 {
    let (lo, hi) = (usize::from(lo), usize::from(hi));
    let (rows, summary) = match rows.split_at_checked(BITMAP_ROWS) {
        Some((rows, summary)) if summary.len() == SUMMARY_ROWS => (rows, summary),
        _ => (rows, &[][..]),
    };
    let Some(run) = rows.get(lo..=hi) else { return u64::MAX };
    // Whole words that lie between the first and the last, which are read row by row.
    let Some(inner) = summary.get(lo / 64 + 1..hi / 64) else { return any_row(run, need) };
    let mut found = any_row(inner, need);
    if need & !found != 0 {
        found |= any_row(&rows[lo..(lo | 63) + 1], need & !found);
    }
    if need & !found != 0 {
        found |= any_row(&rows[hi & !63..=hi], need & !found);
    }
    found
}

/// OR of `rows`, or at least of as many as cover `need`.
#[inline(always)]
pub(crate) fn any_row(rows: &[u64], need: u64) -> u64 {
    let mut found = 0;
    for rows in rows.chunks(8) {
        found = rows.iter().fold(found, |all, row| all | row);
        if need & !found == 0 {
            break;
        }
    }
    found
}
