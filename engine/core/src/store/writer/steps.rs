//! Work beside inserts and verdicts, in slices of at most about a millisecond: full chunks are
//! sliced, newest first; the oldest one is split again before the next batch needs its room.
//!
//! Every finished column is published by itself, so that only one column's filters are held
//! twice at a time. What the work was begun with may be gone when it ends: slots that were emptied
//! meanwhile are not answered for.

use std::sync::Arc;

use super::Store;
use crate::filter::{Filter, SealedColumn, SlicedFilter};
use crate::store::build::{Building, Built, Joined};
use crate::store::shape::{ColumnPlan, GroupShape, Member, plan_chunk};
use crate::store::split::{Splitting, TakenOut};
use crate::store::{CHUNK_SLOTS, Chunk, ColumnGroup};

/// A chunk at work.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(super) enum Work {
    Slice(SliceChunk),
    Split(SplitChunk),
}

/// A chunk that is being sliced.
#[derive(Debug)]
pub(super) struct SliceChunk {
    number: u64,
    /// Columns looked at so far.
    members: Vec<[Option<Member>; CHUNK_SLOTS]>,
    /// Once all were looked at.
    plans: Option<Vec<Option<ColumnPlan>>>,
    /// Columns that are done.
    ordinal: usize,
    building: Option<Building>,
}

/// A chunk whose groups are being split.
#[derive(Debug)]
pub(super) struct SplitChunk {
    pub(super) number: u64,
    /// The column at work.
    splitting: Option<(usize, Splitting)>,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// There is more to do.
    More,
    /// The chunk is done.
    Done,
    /// There is no room for the next column.
    Stuck,
}

impl Store {
    /// Does a slice of the work that waits, of at most about a millisecond; false where there is
    /// none. Call it between other work. Never evicts anything.
    pub fn step(&mut self) -> bool {
        let Some(mut work) = self.work.take().or_else(|| self.next_work()) else { return false };
        let progress = match &mut work {
            Work::Slice(work) => self.slice(work),
            Work::Split(work) => self.split(work),
        };
        match progress {
            Progress::More => self.work = Some(work),
            Progress::Done => self.work_bytes = 0,
            Progress::Stuck => {
                self.work_bytes = 0;
                self.is_stuck = true;
            }
        }
        progress != Progress::Stuck
    }

    /// Gives up the work under way; it is begun again, if it is still wanted.
    pub(super) fn drop_work(&mut self) {
        self.work = None;
        self.work_bytes = 0;
    }

    /// Splits a chunk to the end.
    pub(super) fn finish_split(&mut self, mut work: SplitChunk) {
        while self.split_column(&mut work, usize::MAX) {}
        self.work_bytes = 0;
    }

    fn next_work(&mut self) -> Option<Work> {
        if self.is_stuck {
            return None;
        }
        if let Some(number) = self.in_the_way() {
            return Some(Work::Split(SplitChunk::new(number)));
        }
        let bytes_max = self.chunk_bytes_max();
        for entry in self.chunks.iter_mut().rev() {
            if !entry.is_settled && entry.chunk.is_full() {
                if entry.plain_bytes() <= bytes_max {
                    return Some(Work::Slice(SliceChunk::new(entry.number)));
                }
                entry.is_settled = true;
            }
        }
        None
    }

    fn slice(&mut self, work: &mut SliceChunk) -> Progress {
        let Ok(at) = self.chunk_at(work.number) else { return Progress::Done };
        let chunk = Arc::clone(&self.chunks[at].chunk);
        if let Some(building) = &mut work.building {
            if building.step(self.workshop.kernel, STEP_WORDS)
                && let Some(building) = work.building.take()
            {
                self.finish_group(work.number, work.ordinal, building.finish());
                work.ordinal += 1;
                self.work_bytes = 0;
            } else if let Some(building) = &work.building {
                self.work_bytes = building.bytes();
            }
            return Progress::More;
        }
        let Some(plans) = &work.plans else {
            self.survey(&chunk, work);
            return Progress::More;
        };
        let next = plans.iter().enumerate().skip(work.ordinal).find_map(|(i, p)| Some((i, (*p)?)));
        let Some((ordinal, plan)) = next else {
            self.last_plans.clone_from(plans);
            self.chunks[at].is_settled = true;
            return Progress::Done;
        };
        work.ordinal = ordinal;
        if !self.has_room(&chunk, ordinal, &plan) {
            return Progress::Stuck;
        }
        let column_of =
            |slot: usize| chunk.sealed(slot, ordinal).cloned().zip(chunk.digest(slot, ordinal));
        match Building::begin(&self.workshop, &plan, column_of) {
            Some(building) => {
                self.work_bytes = building.bytes();
                work.building = Some(building);
            }
            // The arena is too scattered for it: the column stays plain.
            None => work.ordinal += 1,
        }
        Progress::More
    }

    /// Looks at some columns of the chunk; when all are seen, makes the plan.
    fn survey(&self, chunk: &Chunk, work: &mut SliceChunk) {
        let mut left = STEP_WORDS;
        while left > 0 {
            let ordinal = work.members.len();
            if ordinal == chunk.columns().len() {
                let plain: usize = chunk.batches().map(|(_, batch)| super::own_bytes(batch)).sum();
                let max = self.chunk_bytes_max();
                work.plans = Some(plan_chunk(&work.members, &self.last_plans, plain, max));
                return;
            }
            // Begun before and given up: what is in a group already stays there, and what stayed
            // beside it does not make another one.
            let is_done = chunk.columns()[ordinal].group().is_some();
            let filter_of = |slot: usize| {
                chunk.sealed(slot, ordinal).filter(|_| !is_done).map(|column| &column.filter)
            };
            let shapes = || (0..CHUNK_SLOTS).filter_map(|slot| GroupShape::of(filter_of(slot)?));
            // Fills decide which filters may be folded; where all are of one size, none is.
            let is_mixed =
                shapes().map(|s| s.words()).any(|w| Some(w) != shapes().next().map(|s| s.words()));
            let member = |slot| {
                let filter = filter_of(slot)?;
                let fill = if is_mixed {
                    SlicedFilter::of(self.workshop.kernel, filter).fill
                } else {
                    0.0
                };
                Member::new(filter, fill)
            };
            work.members.push(std::array::from_fn(member));
            let words: usize = if is_mixed { shapes().map(|s| s.words()).sum() } else { 0 };
            left = left.saturating_sub(1 + words / 4);
        }
    }

    /// Whether a group can be built beside its filters, and its like be split again after that.
    fn has_room(&self, chunk: &Chunk, ordinal: usize, plan: &ColumnPlan) -> bool {
        let slots = (0..CHUNK_SLOTS).filter(|slot| plan.slots >> slot & 1 == 1);
        let filters =
            || slots.clone().filter_map(|slot| Some(&chunk.sealed(slot, ordinal)?.filter));
        let needed = Building::bytes_needed(&plan.shape, filters());
        let joined: usize = filters().map(Filter::own_bytes).sum();
        let growth = plan.shape.bytes().saturating_sub(joined);
        let reserve = self.reserve_bytes().max(plan.shape.bytes());
        needed <= self.free_bytes() && growth + reserve <= self.free_bytes()
    }

    /// Publishes a finished group in place of the plain filters that went into it.
    fn finish_group(&mut self, number: u64, ordinal: usize, built: Built) {
        let Ok(at) = self.chunk_at(number) else { return };
        let mut group = built.group;
        let chunk = &self.chunks[at].chunk;
        let mut columns = Vec::with_capacity(CHUNK_SLOTS);
        group.slots = 0;
        let mut corrupt = 0;
        for (slot, joined) in built.slots.into_iter().enumerate() {
            let Some(Joined { column, kept, digest }) = joined else { continue };
            let is_there = chunk.sealed(slot, ordinal).is_some_and(|now| Arc::ptr_eq(now, &column));
            match kept {
                Some(kept) if is_there => {
                    let filter = Filter::Sliced(kept);
                    let SealedColumn { flags, zone, .. } = *column;
                    columns.push((slot, Arc::new(SealedColumn { flags, zone, filter }), digest));
                    group.slots |= 1 << slot;
                }
                None if is_there => corrupt |= 1 << slot,
                _ => {}
            }
        }
        if !columns.is_empty() && chunk.columns()[ordinal].group().is_none() {
            self.replace_columns(number, ordinal, Some(group), columns);
            self.publish_versions();
        }
        self.drop_corrupt(number, corrupt);
    }

    fn split(&mut self, work: &mut SplitChunk) -> Progress {
        let step = STEP_WORDS;
        if self.split_column(work, step) { Progress::More } else { Progress::Done }
    }

    /// Works off about `budget` words of a chunk's groups; false when it has none any more.
    fn split_column(&mut self, work: &mut SplitChunk, budget: usize) -> bool {
        let Ok(at) = self.chunk_at(work.number) else { return false };
        let chunk = Arc::clone(&self.chunks[at].chunk);
        if let Some((ordinal, mut splitting)) = work.splitting.take() {
            if splitting.step(self.workshop.kernel, budget) {
                self.finish_filters(work.number, ordinal, splitting.finish());
                self.work_bytes = 0;
            } else {
                work.splitting = Some((ordinal, splitting));
            }
            return true;
        }
        self.chunks[at].is_settled = true;
        let Some((ordinal, group)) = self.chunks[at].groups().next() else { return false };
        let splitting = Splitting::begin(Arc::clone(group), &kept_of(&chunk, ordinal, group));
        self.work_bytes = splitting.bytes();
        work.splitting = Some((ordinal, splitting));
        true
    }

    /// Publishes plain filters in place of the group that they were taken out of. Batches whose
    /// filter is not what went in leave.
    pub(super) fn finish_filters(
        &mut self,
        number: u64,
        ordinal: usize,
        filters: Vec<Option<TakenOut>>,
    ) {
        let Ok(at) = self.chunk_at(number) else { return };
        let chunk = &self.chunks[at].chunk;
        let mut columns = Vec::with_capacity(CHUNK_SLOTS);
        let mut corrupt = 0;
        for (slot, taken) in filters.into_iter().enumerate() {
            let Some(column) = chunk.sealed(slot, ordinal) else { continue };
            let Some(TakenOut { filter, digest }) = taken else { continue };
            if chunk.digest(slot, ordinal).is_none_or(|kept| kept.filter != digest) {
                corrupt |= 1 << slot;
            }
            let SealedColumn { flags, zone, .. } = **column;
            columns.push((slot, Arc::new(SealedColumn { flags, zone, filter }), digest));
        }
        self.lower(number, corrupt);
        self.replace_columns(number, ordinal, None, columns);
        self.publish_versions();
        self.drop_corrupt(number, corrupt);
    }
}

/// What is kept of the filters of a chunk that are in a group.
pub(super) fn kept_of(
    chunk: &Chunk,
    ordinal: usize,
    group: &ColumnGroup,
) -> [Option<SlicedFilter>; CHUNK_SLOTS] {
    std::array::from_fn(|slot| match chunk.sealed(slot, ordinal)?.filter {
        Filter::Sliced(kept) if group.slots >> slot & 1 == 1 => Some(kept),
        _ => None,
    })
}

impl SliceChunk {
    fn new(number: u64) -> Self {
        SliceChunk { number, members: Vec::new(), plans: None, ordinal: 0, building: None }
    }
}

impl SplitChunk {
    pub(super) fn new(number: u64) -> Self {
        SplitChunk { number, splitting: None }
    }
}

/// Words of filters in one step: some 0.2 ms with AVX-512, 0.8 ms in portable code.
const STEP_WORDS: usize = 1 << 17;
