//! Candidates to slots: runs of ids whose batches lie side by side in one chunk, found by binary
//! search and then walked; an unsorted list by one search per id. Never a hash table per id.
//!
//! Hot path: no lock, no syscall; allocates only while `runs` grows. Cost: some ns per run of a
//! range, 1-3 ns per id of a sorted list, some 35 ns per id of an unsorted one.

use super::{CHUNK_SLOTS, Place, Snapshot};
use crate::identity::BatchId;
use crate::wire::lookup::Candidates;

/// Candidates that follow each other as sent, and whose batches do in one chunk. Candidates that
/// are in no run are not held by the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandidateRun {
    /// Index of the first candidate.
    pub at: usize,
    /// Place of its batch.
    pub place: Place,
    /// Number of candidates, 1 to 64; `place.slot + count` is at most 64.
    pub count: u32,
}

/// Batches with consecutive ids in consecutive slots of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdRun {
    first: BatchId,
    place: Place,
    /// At least 1.
    count: u32,
}

impl CandidateRun {
    /// The slots of the run, as a mask of its chunk.
    #[inline]
    #[must_use]
    pub fn slots(&self) -> u64 {
        ones(self.count) << self.place.slot
    }

    /// The bits of `mask`, a mask of the run's chunk, that belong to its candidates; bit 0 is the
    /// first one's.
    #[inline]
    #[must_use]
    pub fn pick(&self, mask: u64) -> u64 {
        mask >> self.place.slot & ones(self.count)
    }
}

impl IdRun {
    /// The runs of an index sorted by id.
    pub(super) fn all(index: &[(BatchId, Place)]) -> Vec<Self> {
        let mut runs: Vec<IdRun> = Vec::new();
        for &(id, place) in index {
            match runs.last_mut() {
                Some(run)
                    if run.last().checked_add(1) == Some(id)
                        && run.place.is_followed(run.count, place) =>
                {
                    run.count += 1;
                }
                _ => runs.push(IdRun { first: id, place, count: 1 }),
            }
        }
        runs
    }

    /// The last id of the run.
    #[inline]
    fn last(&self) -> BatchId {
        self.first + u64::from(self.count - 1)
    }
}

impl Place {
    /// Whether `next` is the slot after `count` ones from here, in the same chunk.
    #[inline]
    fn is_followed(self, count: u32, next: Place) -> bool {
        self.chunk == next.chunk && self.slot + count == next.slot
    }

    #[inline]
    fn plus(self, slots: u32) -> Place {
        Place { chunk: self.chunk, slot: self.slot + slots }
    }
}

impl Snapshot {
    /// Writes to `runs` where the candidates that the snapshot holds lie, in the order sent.
    pub fn resolve(&self, candidates: &Candidates, runs: &mut Vec<CandidateRun>) {
        self.resolve_while(candidates, runs, &mut || true);
    }

    /// The same, as long as `goes_on`, asked every `LOOK_EVERY` ids or ranges, says so. Candidates
    /// past the end are in no run, as if the snapshot did not hold them.
    pub fn resolve_while(
        &self,
        candidates: &Candidates,
        runs: &mut Vec<CandidateRun>,
        goes_on: &mut dyn FnMut() -> bool,
    ) {
        runs.clear();
        match candidates {
            Candidates::Range { first, count } => {
                self.resolve_range(*first, *count, 0, 0, runs);
            }
            Candidates::Ranges(ranges) => {
                let (mut at, mut from, mut last) = (0, 0, 0);
                for (number, range) in (1_usize..).zip(ranges) {
                    if number.is_multiple_of(LOOK_EVERY) && !goes_on() {
                        return;
                    }
                    if range.first < last {
                        from = 0;
                    }
                    last = range.first;
                    from = self.resolve_range(range.first, range.count, at, from, runs);
                    at += range.count as usize;
                }
            }
            Candidates::List(ids) => self.resolve_list(ids, runs, goes_on),
        }
    }

    /// The range whose first candidate is number `at`; every run before `from` ends below it.
    /// Returns the first run that does not.
    fn resolve_range(
        &self,
        first: BatchId,
        count: u32,
        at: usize,
        from: usize,
        runs: &mut Vec<CandidateRun>,
    ) -> usize {
        let from = self.gallop(from, first);
        let Some(reach) = count.checked_sub(1) else { return from };
        let last = first.saturating_add(u64::from(reach));
        for run in &self.runs[from..] {
            if run.first > last {
                break;
            }
            let (lo, hi) = (run.first.max(first), run.last().min(last));
            runs.push(CandidateRun {
                at: at + (lo - first) as usize,
                place: run.place.plus((lo - run.first) as u32),
                count: (hi - lo) as u32 + 1,
            });
        }
        from
    }

    fn resolve_list(
        &self,
        ids: &[BatchId],
        runs: &mut Vec<CandidateRun>,
        goes_on: &mut dyn FnMut() -> bool,
    ) {
        // Every run before `from` ends below `last`, so an ascending list never looks back.
        let (mut from, mut last) = (0, 0);
        for (at, &id) in ids.iter().enumerate() {
            if (at + 1).is_multiple_of(LOOK_EVERY) && !goes_on() {
                return;
            }
            from = self.gallop(if id >= last { from } else { 0 }, id);
            last = id;
            let Some(run) = self.runs.get(from).filter(|run| run.first <= id) else { continue };
            let place = run.place.plus((id - run.first) as u32);
            match runs.last_mut() {
                Some(run)
                    if run.at + run.count as usize == at
                        && run.place.is_followed(run.count, place) =>
                {
                    run.count += 1;
                }
                _ => runs.push(CandidateRun { at, place, count: 1 }),
            }
        }
    }

    /// First run at or after `from` that does not end below `id`.
    #[inline]
    fn gallop(&self, from: usize, id: BatchId) -> usize {
        let rest = &self.runs[from..];
        let mut bound = 1;
        while bound < rest.len() && rest[bound - 1].last() < id {
            bound *= 2;
        }
        // `bound / 2 - 1` was seen to end below.
        let lo = (bound / 2).min(rest.len());
        let hi = rest.len().min(bound);
        from + lo + rest[lo..hi].partition_point(|run| run.last() < id)
    }
}

/// Ids or ranges between two questions whether to go on: at most some 40 us.
const LOOK_EVERY: usize = 1_024;

/// `count` ones, 1 to 64.
#[inline]
fn ones(count: u32) -> u64 {
    u64::MAX >> (CHUNK_SLOTS as u32 - count)
}

#[cfg(test)]
mod tests;
