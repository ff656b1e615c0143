//! Questions to bit-sliced groups: one range or value, up to eight chunks, 64 filters each.
//!
//! Hot path: no allocation beyond plans. Cost: 0.5-1 us per range and eight groups. A slot that a
//! group cannot answer for goes into a mask of its own with the reason, and is found.

use bloomrf_kernels::Kernel;
use bloomrf_kernels::sliced::{self, BITMAP_ROWS, GROUPS, Group, Masks};

use super::{Plan, narrow_range};
use crate::filter::narrow_hash;
use crate::lookup::evaluate::Deadline;
use crate::lookup::normal::Test;
use crate::lookup::window::{Window, and, and_not, count, is_zero, or, slots};
use crate::lookup::zone::masks::{meets, meets_value};
use crate::lookup::{NoOpinion, NoOpinionCounts};
use crate::store::{ChunkColumn, ChunkZones, GroupForm};

/// A leaf, as groups are asked about it.
#[derive(Clone, Copy, Debug)]
pub(in crate::lookup) struct Question<'a, 's> {
    /// Number of the leaf.
    pub(in crate::lookup) leaf: usize,
    /// What it asks.
    pub(in crate::lookup) test: &'a Test,
    /// Ordinal of its column.
    pub(in crate::lookup) column: u16,
    /// The chunks.
    pub(in crate::lookup) window: &'a Window<'s>,
    /// Kernel set.
    pub(in crate::lookup) kernel: Kernel,
}

/// What groups say, slot by slot of those asked. A slot in none of the masks is absent.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::lookup) struct SlicedAnswer {
    /// May hold.
    found: Masks,
    /// No opinion, by the numbers of `REASONS`.
    unsure: [Masks; REASONS.len()],
}

/// Chunks of the window whose groups one plan answers for.
struct Class<'s> {
    forms: [Option<&'s GroupForm>; GROUPS],
    ask: Masks,
}

impl Plan {
    /// Asks the groups about the slots of `ask`, each of which its chunk's group answers for.
    /// When the time is over, the rest is found.
    pub(in crate::lookup) fn ask_groups(
        &mut self,
        question: &Question<'_, '_>,
        ask: &Masks,
        deadline: &mut Deadline<'_>,
    ) -> SlicedAnswer {
        let mut answer = SlicedAnswer::default();
        let mut left = *ask;
        while let Some((form, class)) = question.class(&left) {
            left = and_not(&left, &class.ask);
            match (question.test, form) {
                (Test::Keys { ranges, .. }, _) => {
                    self.ask_keys(question, form, &class, ranges, &mut answer, deadline);
                }
                (Test::Values(values), &GroupForm::Blocked { seed, k, .. }) => {
                    self.ask_hashes(question, (seed, k), &class, values, &mut answer, deadline);
                }
                _ => answer.doubt(NoOpinion::Corrupt, &class.ask),
            }
        }
        // A slot without a group was not to be asked here.
        answer.doubt(NoOpinion::Corrupt, &left);
        answer
    }

    fn ask_keys(
        &mut self,
        question: &Question<'_, '_>,
        form: &GroupForm,
        class: &Class<'_>,
        ranges: &[(u64, u64)],
        answer: &mut SlicedAnswer,
        deadline: &mut Deadline<'_>,
    ) {
        let mut ask = class.ask;
        let (hashed, rows) = (class.hashed(), class.rows());
        for index in question.hull(ranges, &ask) {
            let Some(&range) = ranges.get(index) else { break };
            // A range takes its time even where it meets the bounds of no slot.
            if deadline.is_over_after(weight(&ask)) {
                answer.found = or(&answer.found, &ask);
                return;
            }
            let asked = if ranges.len() == 1 { ask } else { question.meets(&ask, range) };
            if is_zero(&asked) {
                continue;
            }
            let outcome = if let GroupForm::BloomRf { layers, .. } = form {
                match self.kept.plan(question.leaf, ranges, index, layers) {
                    _ if range.1 > layers.key_max() => Err(NoOpinion::Corrupt),
                    Some(plan) if !plan.is_over_budget() => {
                        Ok(sliced::run_plan(question.kernel, plan, &hashed, &asked))
                    }
                    _ => Err(NoOpinion::Budget),
                }
            } else {
                ask_rows(question.kernel, form, &rows, &asked, range)
            };
            match outcome {
                Ok(found) => answer.found = or(&answer.found, &and(&found, &asked)),
                Err(why) => answer.doubt(why, &asked),
            }
            ask = and_not(&ask, &answer.found);
            if is_zero(&ask) {
                return;
            }
        }
    }

    fn ask_hashes(
        &mut self,
        question: &Question<'_, '_>,
        (seed, k): (u64, u32),
        class: &Class<'_>,
        values: &[Box<[u8]>],
        answer: &mut SlicedAnswer,
        deadline: &mut Deadline<'_>,
    ) {
        let Some(hashes) = self.kept.hashes(question.leaf, values, seed) else {
            answer.doubt(NoOpinion::Budget, &class.ask);
            return;
        };
        let mut ask = class.ask;
        let rows = class.rows();
        for (value, &hash) in values.iter().zip(hashes) {
            if deadline.is_over_after(weight(&ask)) {
                answer.found = or(&answer.found, &ask);
                return;
            }
            let asked = if values.len() == 1 { ask } else { question.meets_value(&ask, value) };
            if is_zero(&asked) {
                continue;
            }
            let found = sliced::blocked_contains(question.kernel, k, &rows, &asked, hash);
            answer.found = or(&answer.found, &and(&found, &asked));
            ask = and_not(&ask, &answer.found);
            if is_zero(&ask) {
                return;
            }
        }
    }
}

/// One range of a narrow column against groups other than bloomRF.
fn ask_rows(
    kernel: Kernel,
    form: &GroupForm,
    rows: &[Option<&[u64]>; GROUPS],
    asked: &Masks,
    (lo, hi): (u64, u64),
) -> Result<Masks, NoOpinion> {
    match (form, narrow_range(lo, hi)) {
        (GroupForm::Bitmap8 { .. }, Some((lo, hi))) if hi < 256 => {
            Ok(sliced::exact_any(kernel, rows, asked, lo, hi))
        }
        (GroupForm::Bitmap16 { .. }, Some((lo, hi))) => {
            Ok(sliced::exact_any(kernel, rows, asked, lo, hi))
        }
        (GroupForm::Blocked { .. }, _) if lo != hi => Err(NoOpinion::NotFiltered),
        (GroupForm::Blocked { seed, k, .. }, _) => {
            Ok(sliced::blocked_contains(kernel, *k, rows, asked, narrow_hash(lo, *seed)))
        }
        _ => Err(NoOpinion::Corrupt),
    }
}

impl<'s> Question<'_, 's> {
    /// The leaf's column in chunk number `g`.
    #[inline]
    fn column(&self, g: usize) -> Option<&'s ChunkColumn> {
        self.window.chunk(g)?.columns().get(usize::from(self.column))
    }

    /// The first chunk of `left` and all others whose groups have the same kind, layers and seed.
    fn class(&self, left: &Masks) -> Option<(&'s GroupForm, Class<'s>)> {
        let mut found: Option<(&'s GroupForm, Class<'s>)> = None;
        for (g, &ask) in left.iter().enumerate().filter(|(_, ask)| **ask != 0) {
            let group = self.column(g).and_then(ChunkColumn::group);
            let Some(form) = group.map(|group| &group.form) else { continue };
            let (first, class) =
                found.get_or_insert((form, Class { forms: [None; GROUPS], ask: [0; GROUPS] }));
            if is_same(first, form) {
                class.forms[g] = Some(form);
                class.ask[g] = ask;
            }
        }
        found
    }

    /// Slots of `ask` whose bounds a range meets. What the arrays do not tell of is asked.
    fn meets(&self, ask: &Masks, range: (u64, u64)) -> Masks {
        std::array::from_fn(|g| match self.column(g) {
            Some(column) if ask[g] != 0 => {
                meets(self.kernel, column, ask[g], range) | ask[g] & column.apart
            }
            _ => ask[g],
        })
    }

    /// The same for a wide value.
    fn meets_value(&self, ask: &Masks, value: &[u8]) -> Masks {
        std::array::from_fn(|g| match self.column(g) {
            Some(column) if ask[g] != 0 => {
                meets_value(column, ask[g], value) | ask[g] & column.apart
            }
            _ => ask[g],
        })
    }

    /// The ranges that meet the bounds of any slot of `ask`, by number; all where there are few.
    fn hull(&self, ranges: &[(u64, u64)], ask: &Masks) -> std::ops::Range<usize> {
        if ranges.len() <= FEW {
            return 0..ranges.len();
        }
        let (mut least, mut most) = (u64::MAX, 0);
        for (g, &ask) in ask.iter().enumerate() {
            let Some(column) = self.column(g) else { continue };
            match &*column.zones {
                ChunkZones::Narrow { min, max } if ask & column.apart == 0 => {
                    for slot in slots(ask) {
                        (least, most) = (least.min(min[slot]), most.max(max[slot]));
                    }
                }
                _ => return 0..ranges.len(),
            }
        }
        let from = ranges.partition_point(|&(_, hi)| hi < least);
        let to = ranges.partition_point(|&(lo, _)| lo <= most);
        from..to
    }
}

impl<'s> Class<'s> {
    /// bloomRF groups; one of whose rows parts are missing reads "found".
    fn hashed(&self) -> [Option<Group<'s>>; GROUPS] {
        self.forms.map(|form| match form? {
            GroupForm::BloomRf { layers, hashed, top } => {
                let top_fits = !layers.has_exact_top() || top.len() >= BITMAP_ROWS;
                (top_fits && !hashed.is_empty()).then_some(Group { hashed, top })
            }
            _ => None,
        })
    }

    /// Rows of the other kinds.
    fn rows(&self) -> [Option<&'s [u64]>; GROUPS] {
        self.forms.map(|form| match form? {
            GroupForm::BloomRf { .. } => None,
            GroupForm::Bitmap16 { rows }
            | GroupForm::Bitmap8 { rows }
            | GroupForm::Blocked { rows, .. } => Some(&**rows),
        })
    }
}

impl SlicedAnswer {
    /// What may be found, for whatever reason.
    pub(in crate::lookup) fn may_match(&self) -> Masks {
        self.unsure.iter().fold(self.found, |all, unsure| or(&all, unsure))
    }

    /// Counts the slots without an opinion.
    pub(in crate::lookup) fn count(&self, undecided: &mut NoOpinionCounts) {
        for (why, unsure) in REASONS.iter().zip(&self.unsure) {
            undecided[why.index()] += count(&and_not(unsure, &self.found));
        }
    }

    /// Why a single slot that was asked has no opinion.
    pub(in crate::lookup) fn why(&self) -> Option<NoOpinion> {
        let reasons = REASONS.iter().zip(&self.unsure);
        let mut unsure = reasons.filter(|(_, unsure)| !is_zero(&and_not(unsure, &self.found)));
        unsure.next().map(|(why, _)| *why)
    }

    /// No opinion about these slots: of several reasons the last one counts.
    fn doubt(&mut self, why: NoOpinion, masks: &Masks) {
        for (reason, unsure) in REASONS.iter().zip(&mut self.unsure) {
            *unsure = if *reason == why { or(unsure, masks) } else { and_not(unsure, masks) };
        }
    }
}

/// Whether one plan answers for both.
fn is_same(a: &GroupForm, b: &GroupForm) -> bool {
    match (a, b) {
        (GroupForm::BloomRf { layers: a, .. }, GroupForm::BloomRf { layers: b, .. }) => a == b,
        (GroupForm::Blocked { seed, k, .. }, GroupForm::Blocked { seed: seed_b, k: k_b, .. }) => {
            (seed, k) == (seed_b, k_b)
        }
        (GroupForm::Bitmap16 { .. }, GroupForm::Bitmap16 { .. })
        | (GroupForm::Bitmap8 { .. }, GroupForm::Bitmap8 { .. }) => true,
        _ => false,
    }
}

/// A question to groups, in questions to plain filters, for the clock.
fn weight(asked: &Masks) -> u32 {
    2 * asked.iter().filter(|ask| **ask != 0).count() as u32
}

/// Why a group has no opinion.
const REASONS: [NoOpinion; 3] = [NoOpinion::NotFiltered, NoOpinion::Budget, NoOpinion::Corrupt];
/// Ranges up to which all are tried against the bounds of the slots.
const FEW: usize = 4;
