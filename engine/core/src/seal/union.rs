//! The union of all shares of one batch, and the proof that it is the whole batch.
//!
//! Every share adds its frames to one table and its columns to one set. A frame that two queues
//! inserted is found by the table and its rows are counted as doubled, so that
//! `rows inserted - rows doubled = records` proves that what was received was also inserted.

use std::sync::Arc;

use super::SealedBatch;
use crate::filter::OpenColumn;
use crate::identity::BatchId;
use crate::ingest::{BatchTotals, FrameEntry, IngestConfig, Offer, Partial};
use crate::limits::LANES_MAX;
use crate::verify::{BatchHash, ChainHasher};

/// The shares of one batch that have come so far.
#[derive(Debug, Default)]
pub(super) struct Union {
    /// The first share, with everything merged into it, and the queue that it belongs to.
    base: Option<(usize, Box<Partial>)>,
    /// Rows that the shares inserted.
    rows: u64,
    /// Rows among them of frames that another share had already.
    doubled: u64,
    conflict: bool,
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
    /// Adds a share. The partial comes back when it is not needed any more.
    pub(super) fn absorb(&mut self, queue: usize, share: Box<Partial>) -> Option<Box<Partial>> {
        self.conflict |= share.refused;
        self.rows += share.rows;
        let Some((_, base)) = &mut self.base else {
            self.base = Some((queue, share));
            return None;
        };
        if base.hash != share.hash || base.lanes != share.lanes {
            self.conflict = true;
            return Some(share);
        }
        for &frame in share.frames.iter() {
            match base.frames.offer(frame) {
                Offer::New => {}
                Offer::Duplicate => self.doubled += u64::from(frame.records),
                Offer::Conflict | Offer::Full => self.conflict = true,
            }
        }
        for (ours, theirs) in base.columns.iter_mut().zip(&share.columns) {
            ours.merge(theirs);
        }
        Some(share)
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
        let Some((_, base)) = &self.base else {
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

    /// Hashes, folds and freezes a whole union.
    pub(super) fn seal(
        &self,
        config: &IngestConfig,
        batch: BatchId,
        totals: &BatchTotals,
    ) -> SealedBatch {
        let records = totals.records();
        let seal = |column: &OpenColumn| Arc::new(column.seal(&config.policy, records));
        let columns = match &self.base {
            Some((_, base)) => base.columns.iter().map(seal).collect(),
            // Nobody saw a record: empty columns of the smallest size.
            None => {
                let shapes = config.policy.open_shapes(&config.schema, 0);
                let columns = config.schema.columns().iter().zip(shapes);
                columns.map(|(column, shape)| seal(&OpenColumn::new(column, shape))).collect()
            }
        };
        SealedBatch { batch, records, hash: self.hash(config, batch, totals), columns }
    }

    /// The base partial, to be given back to its queue.
    pub(super) fn into_base(self) -> Option<(usize, Box<Partial>)> {
        self.base
    }

    fn hash(&self, config: &IngestConfig, batch: BatchId, totals: &BatchTotals) -> BatchHash {
        let fingerprint = config.schema.fingerprint();
        let mut hasher =
            ChainHasher::new(totals.hash(), config.cluster, fingerprint, batch, totals.lanes());
        let mut frames: Vec<&FrameEntry> =
            self.base.iter().flat_map(|(_, base)| base.frames.iter()).collect();
        frames.sort_unstable_by_key(|frame| (frame.lane, frame.sequence));
        for frame in frames {
            hasher.frame(frame.lane, &frame.digest);
        }
        hasher.finish(totals.records())
    }
}
