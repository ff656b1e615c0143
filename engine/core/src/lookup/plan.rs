//! Hash once: the probes of every leaf, built when the first filter of a shape is met and run
//! against all others of it.
//!
//! Hot path: allocates only while plans are built; memory bounded by `PLANS_MAX` and
//! `SHAPES_MAX`. Cost: 3-30 ns per planned range and filter.

use std::ops::Range;

use bloomrf_kernels::blocked;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Answer, Layers, RangePlan, hash};

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

/// The hashed leaves of one lookup.
#[derive(Debug)]
pub(super) struct Plan {
    leaves: Vec<LeafPlans>,
    probes_max: u32,
    /// Plans kept so far, over all leaves.
    kept: usize,
    scratch: RangePlan,
    /// Leaves that nothing could decide, once per batch asked.
    pub(super) undecided: NoOpinionCounts,
}

/// What one leaf has hashed so far. Seed and layers may differ between batches.
#[derive(Debug, Default)]
struct LeafPlans {
    ranges: Vec<(Layers, Vec<Option<RangePlan>>)>,
    hashes: Vec<(u64, Vec<u64>)>,
}

impl Plan {
    /// An empty plan for `leaves` leaves.
    pub(super) fn new(leaves: usize, probes_max: u32) -> Self {
        let leaves = std::iter::repeat_with(LeafPlans::default).take(leaves).collect();
        let undecided = NoOpinionCounts::default();
        Plan { leaves, probes_max, kept: 0, scratch: RangePlan::default(), undecided }
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
            Test::Keys { ranges, .. } => {
                let ranges = ranges.get(which.clone()).unwrap_or_default();
                self.ask_ranges(leaf, ranges, which.start, filter, deadline)
            }
            Test::Values(values) => self.ask_values(leaf, values, which, filter, deadline),
            _ => FilterFinding::Maybe,
        }
    }

    fn ask_ranges(
        &mut self,
        leaf: usize,
        ranges: &[(u64, u64)],
        first: usize,
        filter: &Filter,
        deadline: &mut Deadline<'_>,
    ) -> FilterFinding {
        let mut found = FilterFinding::Absent;
        for (i, &range) in ranges.iter().enumerate() {
            if deadline.is_over_after(1) {
                return FilterFinding::Maybe;
            }
            match self.ask_range(leaf, first + i, range, filter) {
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
        index: usize,
        (lo, hi): (u64, u64),
        filter: &Filter,
    ) -> FilterFinding {
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
            (Filter::BloomRf { layers, hashed, top }, _) if is_whole(layers, hashed, top, hi) => {
                match self.plan(leaf, index, layers, lo, hi) {
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
        let hashes = match self.hashes(leaf, values, seed) {
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

    /// The plan of one range under these layers; `None` past `SHAPES_MAX`.
    fn plan(
        &mut self,
        leaf: usize,
        index: usize,
        layers: &Layers,
        lo: u64,
        hi: u64,
    ) -> Option<&RangePlan> {
        let shapes = &mut self.leaves.get_mut(leaf)?.ranges;
        let at = match shapes.iter().position(|shape| shape.0 == *layers) {
            Some(at) => at,
            None if shapes.len() < SHAPES_MAX => {
                shapes.push((*layers, Vec::new()));
                shapes.len() - 1
            }
            None => return None,
        };
        let plans = &mut shapes.get_mut(at)?.1;
        let is_kept = plans.get(index).is_some_and(Option::is_some);
        if !is_kept && self.kept >= PLANS_MAX {
            self.scratch.build(layers, lo, hi, self.probes_max);
            return Some(&self.scratch);
        }
        if plans.len() <= index {
            plans.resize(index + 1, None);
        }
        let plan = plans.get_mut(index)?;
        if plan.is_none() {
            self.kept += 1;
        }
        Some(plan.get_or_insert_with(|| {
            let mut plan = RangePlan::default();
            plan.build(layers, lo, hi, self.probes_max);
            plan
        }))
    }

    /// The hashes of a leaf's values under `seed`; `None` past `SHAPES_MAX`.
    fn hashes(&mut self, leaf: usize, values: &[Box<[u8]>], seed: u64) -> Option<&[u64]> {
        let seeds = &mut self.leaves.get_mut(leaf)?.hashes;
        let at = match seeds.iter().position(|known| known.0 == seed) {
            Some(at) => at,
            None if seeds.len() < SHAPES_MAX => {
                seeds.push((seed, values.iter().map(|v| hash::bytes(v, seed)).collect()));
                seeds.len() - 1
            }
            None => return None,
        };
        seeds.get(at).map(|known| &known.1[..])
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

/// Distinct layer sets (or seeds) that one leaf is hashed for; filters of further ones have no
/// say. One data folder and schema epoch has one.
const SHAPES_MAX: usize = 8;
/// Range plans that one lookup keeps (some 300 bytes each); further ones are built anew for
/// every filter, within the time budget.
const PLANS_MAX: usize = 8_192;
