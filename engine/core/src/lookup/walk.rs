//! The predicate over one chunk of 64 slots: masks handed from leaf to leaf. AND narrows the
//! mask, OR asks only about slots where nothing was found yet.
//!
//! Hot path: no allocation beyond plans; work bounded by slots x leaves x probes.

use std::ops::Range;

use super::NoOpinion;
use super::evaluate::Deadline;
use super::normal::{Leaf, Node, Normal};
use super::plan::{FilterFinding, Plan};
use super::zone::{self, ZoneFinding};
use crate::seal::SealedBatch;
use crate::store::Chunk;

/// Slots of `mask` in which the tree may be true, by zone maps alone.
pub(super) fn zone_mask(normal: &Normal<'_>, node: &Node, chunk: &Chunk, mask: u64) -> u64 {
    match node {
        Node::Leaf(leaf) => select(mask, |slot| {
            let finding = zone_finding(&normal.leaves[*leaf], chunk.slot(slot).map(|b| &**b));
            finding != ZoneFinding::Absent
        }),
        Node::All(parts) => all(parts, mask, |part, mask| zone_mask(normal, part, chunk, mask)),
        Node::Any(parts) => any(parts, mask, |part, mask| zone_mask(normal, part, chunk, mask)),
    }
}

/// Slots of `mask` in which the tree may be true, by zone maps and filters.
pub(super) fn filter_mask(
    normal: &Normal<'_>,
    node: &Node,
    chunk: &Chunk,
    mask: u64,
    plan: &mut Plan,
    deadline: &mut Deadline<'_>,
) -> u64 {
    match node {
        Node::Leaf(leaf) => select(mask, |slot| {
            let batch = chunk.slot(slot).map(|b| &**b);
            let finding = finding(normal, *leaf, batch, plan, deadline);
            if let Finding::NoOpinion(why) = finding {
                plan.undecided[why.index()] += 1;
            }
            finding.may_match()
        }),
        Node::All(parts) => {
            all(parts, mask, |part, mask| filter_mask(normal, part, chunk, mask, plan, deadline))
        }
        Node::Any(parts) => {
            any(parts, mask, |part, mask| filter_mask(normal, part, chunk, mask, plan, deadline))
        }
    }
}

/// What decided a leaf for one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The zone map, for certain: false is absent, true present.
    Zone(bool),
    /// The filter: false is absent, true "maybe".
    Filter(bool),
    /// Nothing could.
    NoOpinion(NoOpinion),
}

impl Finding {
    /// Whether the leaf may be true. Every doubt says yes.
    pub(super) fn may_match(self) -> bool {
        match self {
            Finding::Zone(found) | Finding::Filter(found) => found,
            Finding::NoOpinion(_) => true,
        }
    }
}

/// One leaf against one batch.
pub(super) fn finding(
    normal: &Normal<'_>,
    leaf: usize,
    batch: Option<&SealedBatch>,
    plan: &mut Plan,
    deadline: &mut Deadline<'_>,
) -> Finding {
    let stated = &normal.leaves[leaf];
    let which: Range<usize> = match zone_finding(stated, batch) {
        ZoneFinding::Absent => return Finding::Zone(false),
        ZoneFinding::Present => return Finding::Zone(true),
        ZoneFinding::NoOpinion(why) => return Finding::NoOpinion(why),
        ZoneFinding::Ask(which) => which,
    };
    let column = batch.and_then(|batch| batch.columns.get(usize::from(stated.column)));
    let Some(column) = column else { return Finding::NoOpinion(NoOpinion::Corrupt) };
    match plan.ask(leaf, &stated.test, which, &column.filter, deadline) {
        FilterFinding::Absent => Finding::Filter(false),
        FilterFinding::Maybe => Finding::Filter(true),
        FilterFinding::NoOpinion(why) => Finding::NoOpinion(why),
    }
}

pub(super) fn zone_finding(leaf: &Leaf<'_>, batch: Option<&SealedBatch>) -> ZoneFinding {
    match batch.and_then(|batch| batch.columns.get(usize::from(leaf.column))) {
        Some(column) => zone::ask(&leaf.test, column),
        None => ZoneFinding::NoOpinion(NoOpinion::Corrupt),
    }
}

fn select(mask: u64, mut may_match: impl FnMut(usize) -> bool) -> u64 {
    let mut found = 0;
    let mut rest = mask;
    while rest != 0 {
        let slot = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        if may_match(slot) {
            found |= 1 << slot;
        }
    }
    found
}

fn all(parts: &[Node], mask: u64, mut part: impl FnMut(&Node, u64) -> u64) -> u64 {
    let mut alive = mask;
    for node in parts {
        if alive == 0 {
            break;
        }
        alive &= part(node, alive);
    }
    alive
}

fn any(parts: &[Node], mask: u64, mut part: impl FnMut(&Node, u64) -> u64) -> u64 {
    let mut found = 0;
    for node in parts {
        if found == mask {
            break;
        }
        found |= part(node, mask & !found);
    }
    found & mask
}
