//! What is resident is read again, a slice at a time, and compared with the digests kept of it. A
//! batch whose filter or bounds changed leaves: it reads "found", and is counted.
//!
//! Cost: the speed of memory; nothing is copied. The order is chunk by chunk, column by column:
//! the group, then the batches. A round that meets a change of the store goes on behind it.

use std::sync::{Arc, Weak};

use super::{Store, steps};
use crate::filter::Filter;
use crate::identity::BatchId;
use crate::store::digest::RowsDigest;
use crate::store::split::Splitting;
use crate::store::{Absence, CHUNK_SLOTS, Chunk, ColumnGroup};

/// What a slice of scrubbing did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// Words that were compared with their digests.
    pub words: u64,
    /// Batches that left because something of them had changed in memory, those found by other
    /// work since the last slice included. What the data folder has of them may be good.
    pub corrupt: Vec<BatchId>,
    /// Everything that is resident was looked at once more; the next slice begins a new round.
    pub is_round: bool,
}

/// Where the scrubber is, and what it found.
#[derive(Debug, Default)]
pub(super) struct Scrubber {
    /// Batches that left, ever.
    pub(super) corrupt: u64,
    /// Those not told of yet.
    untold: Vec<BatchId>,
    chunk: u64,
    ordinal: usize,
    /// A group under way. Held weakly: it may leave, and its memory does not come back as another
    /// one's while it is compared with.
    group: Option<(Weak<ColumnGroup>, RowsDigest)>,
    /// The column's group is done.
    is_group_done: bool,
    slot: usize,
}

impl Store {
    /// Compares about `words` more words of filters with their digests, from where the last slice
    /// stopped. A column's plain filter is always done whole. An empty store is a round.
    pub fn scrub(&mut self, words: usize) -> Scrubbed {
        let mut scrubbed = Scrubbed::default();
        while scrubbed.words < words as u64 && !scrubbed.is_round {
            scrubbed.words += self.scrub_next();
            scrubbed.is_round = self.scrubber.chunk == u64::MAX;
        }
        if scrubbed.is_round {
            self.scrubber.chunk = 0;
        }
        scrubbed.corrupt = std::mem::take(&mut self.scrubber.untold);
        scrubbed
    }

    /// One piece of a group, or the plain filter of one slot; its words. The round is over when
    /// `chunk` is `u64::MAX`.
    fn scrub_next(&mut self) -> u64 {
        let at = self.chunks.partition_point(|entry| entry.number < self.scrubber.chunk);
        let Some(entry) = self.chunks.get(at) else {
            self.scrubber.go_to(u64::MAX, 0);
            return 0;
        };
        let (number, chunk) = (entry.number, Arc::clone(&entry.chunk));
        if number != self.scrubber.chunk {
            self.scrubber.go_to(number, 0);
        }
        let ordinal = self.scrubber.ordinal;
        let Some(column) = chunk.columns().get(ordinal) else {
            self.scrubber.go_to(number + 1, 0);
            return 0;
        };
        match &column.group {
            Some(group) if !self.scrubber.is_group_done => self.scrub_rows(number, ordinal, group),
            _ if self.scrubber.slot < CHUNK_SLOTS => self.scrub_slot(number, &chunk, ordinal),
            _ => {
                self.scrubber.go_to(number, ordinal + 1);
                0
            }
        }
    }

    fn scrub_rows(&mut self, number: u64, ordinal: usize, group: &Arc<ColumnGroup>) -> u64 {
        let same = |of: &(Weak<ColumnGroup>, _)| std::ptr::eq(of.0.as_ptr(), Arc::as_ptr(group));
        let begun = self.scrubber.group.take().filter(same);
        let fresh = || (Arc::downgrade(group), RowsDigest::begin(self.workshop.kernel));
        let (which, mut digest) = begun.unwrap_or_else(fresh);
        let rows = digest.step(group.form.rows());
        if rows > 0 {
            self.scrubber.group = Some((which, digest));
            return rows as u64;
        }
        self.scrubber.is_group_done = true;
        if digest.finish(&group.form) != group.digest {
            self.rescue(number, ordinal, group);
        }
        0
    }

    fn scrub_slot(&mut self, number: u64, chunk: &Chunk, ordinal: usize) -> u64 {
        let slot = self.scrubber.slot;
        self.scrubber.slot += 1;
        let Some(column) = chunk.sealed(slot, ordinal) else { return 0 };
        let kernel = self.workshop.kernel;
        let says = &chunk.columns()[ordinal];
        let is_in_group = says.group().is_some_and(|group| group.slots >> slot & 1 == 1);
        let is_sliced = matches!(column.filter, Filter::Sliced(_));
        let is_sound = chunk.digest(slot, ordinal).is_some_and(|digest| {
            digest.has_bounds_of(kernel, column)
                && says.is_true_of(slot, column)
                && is_sliced == is_in_group
                && (is_sliced || digest.is_of(kernel, &column.filter))
        });
        if !is_sound {
            self.drop_corrupt(number, 1 << slot);
        }
        (column.filter.own_bytes() / size_of::<u64>()) as u64
    }

    /// Takes the filters of a damaged group out of it. Nobody consults its batches meanwhile;
    /// those whose own filter is what went in stay, the others leave.
    fn rescue(&mut self, number: u64, ordinal: usize, group: &Arc<ColumnGroup>) {
        let Ok(at) = self.chunk_at(number) else { return };
        self.drop_work();
        let chunk = Arc::clone(&self.chunks[at].chunk);
        self.lower(number, group.slots);
        let kept = steps::kept_of(&chunk, ordinal, group);
        let mut splitting = Splitting::begin(Arc::clone(group), &kept);
        while !splitting.step(self.workshop.kernel, usize::MAX) {}
        self.finish_filters(number, ordinal, splitting.finish());
        self.raise_verified(number);
    }

    /// Batches in these slots of a chunk leave as corrupt.
    pub(super) fn drop_corrupt(&mut self, number: u64, slots: u64) {
        if slots == 0 {
            return;
        }
        let is_one = |at: usize, store: &Self| slots >> store.held[at].slot & 1 == 1;
        let mut at = self.held.partition_point(|held| held.chunk < number);
        while self.held.get(at).is_some_and(|held| held.chunk == number) {
            if !is_one(at, self) {
                at += 1;
                continue;
            }
            let batch = self.held[at].batch.batch;
            self.remove(at);
            self.remember(batch, Absence::Corrupt);
            self.scrubber.corrupt += 1;
            self.scrubber.untold.push(batch);
        }
        self.publish();
    }

    /// Nothing is consulted in these slots of a chunk, for now.
    pub(super) fn lower(&self, number: u64, slots: u64) {
        if let Ok(at) = self.chunk_at(number) {
            let chunk = &self.chunks[at].chunk;
            (0..CHUNK_SLOTS).filter(|slot| slots >> slot & 1 == 1).for_each(|s| chunk.lower(s));
        }
    }

    fn raise_verified(&self, number: u64) {
        let Ok(at) = self.chunk_at(number) else { return };
        let first = self.held.partition_point(|held| held.chunk < number);
        for held in self.held.iter().skip(first).take_while(|held| held.chunk == number) {
            if held.verified {
                self.chunks[at].chunk.raise(held.slot);
            }
        }
    }
}

impl Scrubber {
    fn go_to(&mut self, chunk: u64, ordinal: usize) {
        (self.chunk, self.ordinal, self.slot) = (chunk, ordinal, 0);
        (self.group, self.is_group_done) = (None, false);
    }
}

#[cfg(test)]
mod tests;
