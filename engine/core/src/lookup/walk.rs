//! The predicate over eight chunks of 64 slots: masks handed from leaf to leaf. AND narrows the
//! masks, OR asks only about slots where nothing was found yet.
//!
//! Hot path: no allocation beyond plans; work bounded by slots x leaves x probes. Every doubt is
//! a mask too, and reads "found".

use bloomrf_kernels::Kernel;
use bloomrf_kernels::sliced::{GROUPS, Masks};

use super::NoOpinion;
use super::evaluate::Deadline;
use super::normal::{Node, Normal};
use super::plan::sliced::Question;
use super::plan::{FilterFinding, Plan};
use super::window::{Window, and, and_not, count, is_zero, or, slots};
use super::zone::masks::{LeafZones, reason};
use super::zone::{ZoneFinding, of_batch};
use crate::store::Chunk;

/// One lookup on its way through the windows.
pub(super) struct Walk<'a, 'c> {
    /// The question.
    pub(super) normal: &'a Normal<'a>,
    /// Kernel set.
    pub(super) kernel: Kernel,
    /// What has been hashed.
    pub(super) plan: &'a mut Plan,
    /// What zone maps said in this window.
    pub(super) zones: &'a mut ZonesKept,
    /// Time left.
    pub(super) deadline: &'a mut Deadline<'c>,
}

/// The zone maps' word on every leaf that was met in the current window: it is asked twice, with
/// other masks.
#[derive(Debug, Default)]
pub(super) struct ZonesKept {
    zones: Vec<LeafZones>,
    is_known: Vec<bool>,
}

/// Whom the leaves ask.
#[derive(Clone, Copy)]
enum Phase {
    ZoneMaps,
    Filters,
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

impl Walk<'_, '_> {
    /// Slots in which the tree may be true: first by zone maps alone, then by filters too.
    pub(super) fn window(&mut self, window: &Window<'_>) -> (Masks, Masks) {
        self.zones.reset(self.normal.leaves.len());
        let left = self.node(&self.normal.root, window, window.live(), Phase::ZoneMaps);
        let found = self.node(&self.normal.root, window, &left, Phase::Filters);
        (left, found)
    }

    fn node(&mut self, node: &Node, window: &Window<'_>, mask: &Masks, phase: Phase) -> Masks {
        match (node, phase) {
            (Node::Leaf(leaf), Phase::ZoneMaps) => and_not(mask, &self.zones(*leaf, window).absent),
            (Node::Leaf(leaf), Phase::Filters) => self.leaf(*leaf, window, mask),
            (Node::All(parts), _) => {
                let mut alive = *mask;
                for part in parts {
                    if is_zero(&alive) {
                        break;
                    }
                    alive = and(&alive, &self.node(part, window, &alive, phase));
                }
                alive
            }
            (Node::Any(parts), _) => {
                let mut found = [0; GROUPS];
                for part in parts {
                    let rest = and_not(mask, &found);
                    if is_zero(&rest) {
                        break;
                    }
                    found = or(&found, &self.node(part, window, &rest, phase));
                }
                and(&found, mask)
            }
        }
    }

    /// The slots of `mask` in which a leaf may be true, by zone maps and filters.
    fn leaf(&mut self, leaf: usize, window: &Window<'_>, mask: &Masks) -> Masks {
        let zones = self.zones(leaf, window);
        if self.deadline.is_over() {
            return *mask;
        }
        let Some(stated) = self.normal.leaves.get(leaf) else { return *mask };
        let undecided = &mut self.plan.undecided;
        undecided[reason(&stated.test).index()] += count(&and(mask, &zones.unsure));
        undecided[NoOpinion::Corrupt.index()] += count(&and(mask, &zones.corrupt));
        let ask = and(mask, &zones.ask);
        let mut found = and_not(mask, &or(&zones.absent, &ask));
        if is_zero(&ask) {
            return found;
        }
        let column = usize::from(stated.column);
        let mut sliced = [0; GROUPS];
        for (g, chunk) in window.chunks() {
            sliced[g] = ask[g] & sliced_slots(chunk, column);
        }
        if !is_zero(&sliced) {
            let (test, column) = (&stated.test, stated.column);
            let question = Question { leaf, test, column, window, kernel: self.kernel };
            let answer = self.plan.ask_groups(&question, &sliced, self.deadline);
            answer.count(&mut self.plan.undecided);
            found = or(&found, &and(&answer.may_match(), &sliced));
        }
        let plain = and_not(&ask, &sliced);
        for (g, chunk) in window.chunks() {
            for slot in slots(plain[g]) {
                let finding = self.plain(leaf, chunk, slot);
                if let Finding::NoOpinion(why) = finding {
                    self.plan.undecided[why.index()] += 1;
                }
                found[g] |= u64::from(finding.may_match()) << slot;
            }
        }
        found
    }

    /// One leaf against one slot: the same by another way, for explanations.
    pub(super) fn finding(&mut self, leaf: usize, chunk: &Chunk, slot: usize) -> Finding {
        let Some(stated) = self.normal.leaves.get(leaf) else {
            return Finding::NoOpinion(NoOpinion::Operator);
        };
        let is_sliced = sliced_slots(chunk, usize::from(stated.column)) >> slot & 1 == 1;
        let zone = of_batch(stated, chunk.slot(slot).map(|batch| &**batch));
        if !is_sliced || !matches!(zone, ZoneFinding::Ask(_)) {
            return self.plain(leaf, chunk, slot);
        }
        let window = Window::of_slot(chunk, slot as u32);
        let (test, column, kernel) = (&stated.test, stated.column, self.kernel);
        let question = Question { leaf, test, column, window: &window, kernel };
        let answer = self.plan.ask_groups(&question, window.live(), self.deadline);
        match answer.why() {
            Some(why) => Finding::NoOpinion(why),
            None => Finding::Filter(!is_zero(&answer.may_match())),
        }
    }

    /// One leaf against the zone map and the plain filter of one slot.
    fn plain(&mut self, leaf: usize, chunk: &Chunk, slot: usize) -> Finding {
        let Some(stated) = self.normal.leaves.get(leaf) else {
            return Finding::NoOpinion(NoOpinion::Operator);
        };
        let batch = chunk.slot(slot).map(|batch| &**batch);
        let which = match of_batch(stated, batch) {
            ZoneFinding::Absent => return Finding::Zone(false),
            ZoneFinding::Present => return Finding::Zone(true),
            ZoneFinding::NoOpinion(why) => return Finding::NoOpinion(why),
            ZoneFinding::Ask(which) => which,
        };
        let column = batch.and_then(|batch| batch.columns.get(usize::from(stated.column)));
        let Some(column) = column else { return Finding::NoOpinion(NoOpinion::Corrupt) };
        match self.plan.ask(leaf, &stated.test, which, &column.filter, self.deadline) {
            FilterFinding::Absent => Finding::Filter(false),
            FilterFinding::Maybe => Finding::Filter(true),
            FilterFinding::NoOpinion(why) => Finding::NoOpinion(why),
        }
    }

    /// What the zone maps of the window say about a leaf. When the time is over: "found".
    fn zones(&mut self, leaf: usize, window: &Window<'_>) -> LeafZones {
        let (Some(stated), Some(zones), Some(is_known)) = (
            self.normal.leaves.get(leaf),
            self.zones.zones.get_mut(leaf),
            self.zones.is_known.get_mut(leaf),
        ) else {
            return LeafZones::FOUND;
        };
        if !*is_known {
            if self.deadline.is_over_after(ZONES_WEIGHT) {
                return LeafZones::FOUND;
            }
            *zones = LeafZones::of(self.kernel, stated, window);
            *is_known = true;
        }
        *zones
    }
}

impl ZonesKept {
    fn reset(&mut self, leaves: usize) {
        self.zones.resize(leaves, LeafZones::FOUND);
        self.is_known.clear();
        self.is_known.resize(leaves, false);
    }
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

/// Slots of a column that its group answers for.
#[inline]
fn sliced_slots(chunk: &Chunk, column: usize) -> u64 {
    let group = chunk.columns().get(column).and_then(|column| column.group());
    group.map_or(0, |group| group.slots)
}

/// The zone maps of a leaf and eight chunks, in questions to plain filters, for the clock.
const ZONES_WEIGHT: u32 = 8;
