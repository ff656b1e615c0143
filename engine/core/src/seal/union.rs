//! The union of all shares of one batch, and the proof that it is the whole batch.
//!
//! Every share adds its frames to one table. A frame that two queues inserted is found by the table
//! and its rows are counted as doubled, so that `rows inserted - rows doubled = records` proves
//! that what was received was also inserted. The columns wait until the batch is sealed: then one
//! pass over all shares merges, folds and clears them.

use std::sync::Arc;

use bloomrf_kernels::Kernel;

use super::SealedBatch;
use super::lanes::LaneQueues;
use crate::filter::{OpenColumn, SealedColumn};
use crate::identity::BatchId;
use crate::ingest::{BatchTotals, FrameEntry, FrameTable, IngestConfig, Offer, Partial};
use crate::limits::{LANES_MAX, REPAIR_FRAMES_MAX, REPAIR_RANGES_MAX};
use crate::verify::{BatchHash, ChainHasher};
use crate::wire::stream::FrameRange;

/// The shares of one batch that have come so far.
#[derive(Debug, Default)]
pub(super) struct Union {
    /// One share per queue, with the queue that it belongs to.
    shares: Vec<(usize, Box<Partial>)>,
    /// The share whose table has the frames of all of them: none has a larger table.
    base: usize,
    /// Rows that the shares inserted.
    rows: u64,
    /// Rows among them of frames that another share had already.
    doubled: u64,
    conflict: bool,
    lanes: LaneQueues,
}

/// More is missing than is ever asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// What joining two tables of frames showed.
struct Joined {
    /// Rows of frames that are in both.
    doubled: u64,
    conflict: bool,
}

fn join(table: &mut FrameTable, frames: impl Iterator<Item = FrameEntry>) -> Joined {
    let mut joined = Joined { doubled: 0, conflict: false };
    for frame in frames {
        match table.offer(frame) {
            Offer::New => {}
            Offer::Duplicate => joined.doubled += u64::from(frame.records),
            Offer::Conflict | Offer::Full => joined.conflict = true,
        }
    }
    joined
}

/// How the union compares with the totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// Frames are missing.
    Missing,
    /// Every frame is there, once.
    Whole,
    /// Shares, totals or copies of frames contradict each other.
    Conflict,
    /// Every frame is there, but the rows inserted are not its records: our own mistake.
    Rows,
}

impl Union {
    /// Adds a share. The partial comes back when it is not needed any more: a queue lends one to a
    /// batch, what its stragglers filled is merged into that one at once.
    pub(super) fn absorb(
        &mut self,
        queue: usize,
        share: Box<Partial>,
        kernel: Kernel,
    ) -> Option<Box<Partial>> {
        self.conflict |= share.refused;
        self.rows += share.rows;
        self.lanes.note(queue, share.frames.iter());
        let known = self.shares.iter().position(|(of, _)| *of == queue);
        let Some((_, base)) = self.shares.get_mut(self.base) else {
            self.shares.push((queue, share));
            return None;
        };
        if base.hash != share.hash || base.lanes != share.lanes {
            self.conflict = true;
            return Some(share);
        }
        if known.is_none() && share.frames.frames_max() > base.frames.frames_max() {
            let mut share = share;
            let before = self.shares[self.base].1.frames.iter().copied();
            let joined = join(&mut share.frames, before);
            self.count(joined);
            self.base = self.shares.len();
            self.shares.push((queue, share));
            return None;
        }
        let joined = join(&mut base.frames, share.frames.iter().copied());
        self.count(joined);
        let Some((_, ours)) = known.and_then(|at| self.shares.get_mut(at)) else {
            self.shares.push((queue, share));
            return None;
        };
        for (ours, theirs) in ours.columns.iter_mut().zip(&share.columns) {
            ours.merge(kernel, theirs);
        }
        Some(share)
    }

    fn count(&mut self, joined: Joined) {
        self.doubled += joined.doubled;
        self.conflict |= joined.conflict;
    }

    /// The frames that are not there yet, of a union that is `Coverage::Missing`.
    pub(super) fn missing(&self, totals: &BatchTotals) -> Result<Vec<FrameRange>, TooMany> {
        let mut seen: Vec<(u8, u32)> =
            self.frames().map(|frame| (frame.lane, frame.sequence)).collect();
        if totals.frames().saturating_sub(seen.len() as u64) > REPAIR_FRAMES_MAX as u64 {
            return Err(TooMany);
        }
        seen.sort_unstable();
        let mut seen = seen.into_iter().peekable();
        let mut ranges = Vec::new();
        for (lane, total) in (0..totals.lanes()).zip(totals.per_lane()) {
            let mut next = 0;
            while next < total.frames {
                let frame = seen.next_if(|frame| frame.0 == lane).map(|frame| frame.1);
                let end = frame.map_or(total.frames, |sequence| sequence.min(total.frames));
                if next < end {
                    ranges.push(FrameRange { lane, first: next, count: end - next });
                }
                next = end.saturating_add(1);
            }
            while seen.next_if(|frame| frame.0 == lane).is_some() {}
        }
        if ranges.len() > REPAIR_RANGES_MAX { Err(TooMany) } else { Ok(ranges) }
    }

    fn frames(&self) -> impl Iterator<Item = &FrameEntry> + '_ {
        self.shares.get(self.base).into_iter().flat_map(|(_, base)| base.frames.iter())
    }

    /// The queues that its lanes came to.
    pub(super) fn lanes(&self) -> &LaneQueues {
        &self.lanes
    }

    /// True once shares have contradicted each other.
    pub(super) fn has_conflict(&self) -> bool {
        self.conflict
    }

    /// Compares with what the CLOSE frame says.
    pub(super) fn coverage(&self, totals: &BatchTotals) -> Coverage {
        if self.conflict {
            return Coverage::Conflict;
        }
        let Some((_, base)) = self.shares.get(self.base) else {
            return match (totals.frames(), totals.records()) {
                (0, 0) => Coverage::Whole,
                (0, _) => Coverage::Conflict,
                _ => Coverage::Missing,
            };
        };
        if base.hash != totals.hash() || base.lanes != totals.lanes() {
            return Coverage::Conflict;
        }
        let lanes = totals.per_lane();
        let mut records = [0u64; LANES_MAX];
        for frame in base.frames.iter() {
            match lanes.get(usize::from(frame.lane)) {
                Some(lane) if frame.sequence < lane.frames => {}
                _ => return Coverage::Conflict,
            }
            records[usize::from(frame.lane)] += u64::from(frame.records);
        }
        // The table holds each (lane, sequence) once and all of them are below the totals: equal
        // counts therefore mean that none is missing.
        if (base.frames.len() as u64) < totals.frames() {
            return Coverage::Missing;
        }
        if lanes.iter().zip(records).any(|(lane, records)| lane.records != records) {
            return Coverage::Conflict;
        }
        if self.rows.checked_sub(self.doubled) != Some(totals.records()) {
            return Coverage::Rows;
        }
        Coverage::Whole
    }

    /// Hashes, merges, folds and freezes a whole union. The shares are left without bits.
    pub(super) fn seal(
        &mut self,
        config: &IngestConfig,
        batch: BatchId,
        totals: &BatchTotals,
    ) -> SealedBatch {
        let records = totals.records();
        let hash = self.hash(config, batch, totals);
        let columns = (0..config.schema.columns().len())
            .map(|ordinal| Arc::new(self.seal_column(config, ordinal, records)))
            .collect();
        SealedBatch { batch, records, hash, columns }
    }

    fn seal_column(&mut self, config: &IngestConfig, ordinal: usize, records: u64) -> SealedColumn {
        let mut shares: Vec<&mut OpenColumn> =
            self.shares.iter_mut().map(|(_, share)| &mut share.columns[ordinal]).collect();
        if !shares.is_empty() {
            return OpenColumn::seal_shares(&mut shares, &config.policy, records);
        }
        // Nobody saw a record: an empty column of the smallest size.
        let column = &config.schema.columns()[ordinal];
        let shape = config.policy.open_shape(ordinal, column, 0);
        OpenColumn::seal_shares(&mut [&mut OpenColumn::new(column, shape)], &config.policy, records)
    }

    /// The partials, to be given back to their queues.
    pub(super) fn into_shares(self) -> impl Iterator<Item = (usize, Box<Partial>)> {
        self.shares.into_iter()
    }

    fn hash(&self, config: &IngestConfig, batch: BatchId, totals: &BatchTotals) -> BatchHash {
        let fingerprint = config.schema.fingerprint();
        let mut hasher =
            ChainHasher::new(totals.hash(), config.cluster, fingerprint, batch, totals.lanes());
        let mut frames: Vec<&FrameEntry> = self.frames().collect();
        frames.sort_unstable_by_key(|frame| (frame.lane, frame.sequence));
        for frame in frames {
            hasher.frame(frame.lane, &frame.digest);
        }
        hasher.finish(totals.records())
    }
}
