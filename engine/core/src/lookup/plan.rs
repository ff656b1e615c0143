//! Hash once: the probes of every leaf, built when the first filter of a shape is met and run
//! against all others of it. Here: against one plain filter after the other; [`sliced`] asks
//! groups.
//!
//! Hot path: allocates only while plans are built. Cost: 3-30 ns per planned range and filter.

mod kept;
pub(super) mod sliced;

use std::ops::Range;

use bloomrf_kernels::blocked;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Answer, Layers};

use self::kept::Kept;
use super::evaluate::Deadline;
use super::normal::Test;
use super::{NoOpinion, NoOpinionCounts};
use crate::filter::{Filter, Top16, narrow_hash};

/// A filter's word on a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterFinding {
    /// No cell makes the leaf true. Never wrong.
    Absent,
    /// A cell may.
    Maybe,
    /// Cannot be decided.
    NoOpinion(NoOpinion),
}

impl From<Answer> for FilterFinding {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Absent => FilterFinding::Absent,
            Answer::Maybe => FilterFinding::Maybe,
            Answer::OverBudget => FilterFinding::NoOpinion(NoOpinion::Budget),
        }
    }
}

/// The hashed leaves of one lookup. Kept for the next one, for its memory.
#[derive(Debug, Default)]
pub(super) struct Plan {
    kept: Kept,
    /// Leaves that nothing could decide, once per batch asked.
    pub(super) undecided: NoOpinionCounts,
}

impl Plan {
    /// Forgets everything, for a question of `leaves` leaves.
    pub(super) fn reset(&mut self, leaves: usize, probes_max: u32) {
        self.kept.reset(leaves, probes_max);
        self.undecided = NoOpinionCounts::default();
    }

    /// Asks `filter` about the ranges or values `which` of leaf number `leaf`. Stops with "maybe"
    /// when the time is over.
    pub(super) fn ask(
        &mut self,
        leaf: usize,
        test: &Test,
        which: Range<usize>,
        filter: &Filter,
        deadline: &mut Deadline<'_>,
    ) -> FilterFinding {
        match test {
            Test::Keys { ranges, .. } => self.ask_ranges(leaf, ranges, which, filter, deadline),
            Test::Values(values) => self.ask_values(leaf, values, which, filter, deadline),
            _ => FilterFinding::Maybe,
        }
    }

    fn ask_ranges(
        &mut self,
        leaf: usize,
        ranges: &[(u64, u64)],
        which: Range<usize>,
        filter: &Filter,
        deadline: &mut Deadline<'_>,
    ) -> FilterFinding {
        let mut found = FilterFinding::Absent;
        for index in which {
            if deadline.is_over_after(1) {
                return FilterFinding::Maybe;
            }
            match self.ask_range(leaf, ranges, index, filter) {
                FilterFinding::Absent => {}
                FilterFinding::Maybe => return FilterFinding::Maybe,
                unsure => found = unsure,
            }
        }
        found
    }

    fn ask_range(
        &mut self,
        leaf: usize,
        ranges: &[(u64, u64)],
        index: usize,
        filter: &Filter,
    ) -> FilterFinding {
        let Some(&(lo, hi)) = ranges.get(index) else { return FilterFinding::Maybe };
        let any = |found: bool| if found { FilterFinding::Maybe } else { FilterFinding::Absent };
        match (filter, narrow_range(lo, hi)) {
            (Filter::None, _) => FilterFinding::NoOpinion(NoOpinion::NotFiltered),
            (Filter::Bitmap8(words), Some((lo, hi))) if hi < 256 => any(bitmap::any(words, lo, hi)),
            (Filter::Bitmap16(words), Some((lo, hi))) if words.len() == bitmap::WORDS_16 => {
                any(bitmap::any(words, lo, hi))
            }
            (Filter::List16(list), Some((lo, hi))) => any(bitmap::list_any(list, lo, hi)),
            (Filter::Near16 { base, offsets }, _) => match offset_range(*base, lo, hi) {
                Some((lo, hi)) => match offsets {
                    Top16::Bitmap(words) if words.len() == bitmap::WORDS_16 => {
                        any(bitmap::any(words, lo, hi))
                    }
                    Top16::List(list) => any(bitmap::list_any(list, lo, hi)),
                    _ => FilterFinding::NoOpinion(NoOpinion::Corrupt),
                },
                None => FilterFinding::Absent,
            },
            (Filter::Exact(keys), _) => any(keys.any(lo, hi)),
            (Filter::BloomRf { layers, hashed, top }, _) if is_whole(layers, hashed, top, hi) => {
                match self.kept.plan(leaf, ranges, index, layers) {
                    Some(plan) => plan.run(hashed, top.view()).into(),
                    None => FilterFinding::NoOpinion(NoOpinion::Budget),
                }
            }
            (Filter::Blocked { seed, blocks }, _) if is_blocks(blocks) => {
                if lo != hi {
                    return FilterFinding::NoOpinion(NoOpinion::NotFiltered);
                }
                any(blocked::contains(blocked::K_DEFAULT, blocks, narrow_hash(lo, *seed)))
            }
            _ => FilterFinding::NoOpinion(NoOpinion::Corrupt),
        }
    }

    fn ask_values(
        &mut self,
        leaf: usize,
        values: &[Box<[u8]>],
        which: Range<usize>,
        filter: &Filter,
        deadline: &mut Deadline<'_>,
    ) -> FilterFinding {
        let (seed, blocks) = match filter {
            Filter::None => return FilterFinding::NoOpinion(NoOpinion::NotFiltered),
            Filter::Blocked { seed, blocks } if is_blocks(blocks) => (*seed, blocks),
            _ => return FilterFinding::NoOpinion(NoOpinion::Corrupt),
        };
        let hashes = match self.kept.hashes(leaf, values, seed) {
            Some(hashes) => hashes.get(which).unwrap_or_default(),
            None => return FilterFinding::NoOpinion(NoOpinion::Budget),
        };
        for &hash in hashes {
            if deadline.is_over_after(1) || blocked::contains(blocked::K_DEFAULT, blocks, hash) {
                return FilterFinding::Maybe;
            }
        }
        FilterFinding::Absent
    }
}

/// A range of keys as offsets from `base`; `None` where it lies outside of what offsets reach.
fn offset_range(base: u64, lo: u64, hi: u64) -> Option<(u16, u16)> {
    let lo = u16::try_from(lo.saturating_sub(base)).ok()?;
    let hi = hi.checked_sub(base)?.min(u64::from(u16::MAX)) as u16;
    Some((lo, hi))
}

/// The range as 16-bit keys, if it is one.
fn narrow_range(lo: u64, hi: u64) -> Option<(u16, u16)> {
    Some((u16::try_from(lo).ok()?, u16::try_from(hi).ok()?))
}

/// Whether the parts of a bloomRF fit each other and the key.
fn is_whole(layers: &Layers, hashed: &[u64], top: &Top16, hi: u64) -> bool {
    let in_domain = layers.domain_bits() >= 64 || hi >> layers.domain_bits() == 0;
    let has_top = match top {
        Top16::None => false,
        Top16::Bitmap(words) => words.len() == bitmap::WORDS_16,
        Top16::List(_) => true,
    };
    in_domain && !hashed.is_empty() && has_top == layers.has_exact_top()
}

fn is_blocks(blocks: &[u64]) -> bool {
    !blocks.is_empty() && blocks.len().is_multiple_of(blocked::BLOCK_WORDS)
}
