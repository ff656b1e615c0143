//! Called when a batch opens or closes, not per record.
//!
//! Runs of granules: best fit, joined with their neighbours when they come back.
//!
//! Invariant: free runs neither overlap nor touch, and both trees hold the same ones.

use std::collections::{BTreeMap, BTreeSet};

/// The free runs of a region of granules.
#[derive(Debug)]
pub(super) struct Runs {
    by_start: BTreeMap<usize, usize>,
    by_len: BTreeSet<(usize, usize)>,
}

impl Runs {
    /// One free run of `granules`.
    pub(super) fn new(granules: usize) -> Self {
        let mut runs = Runs { by_start: BTreeMap::new(), by_len: BTreeSet::new() };
        if granules > 0 {
            runs.add(0, granules);
        }
        runs
    }

    /// Takes `len >= 1` granules from the shortest run that has them, the lowest of equals.
    pub(super) fn take(&mut self, len: usize) -> Option<usize> {
        let &(run, start) = self.by_len.range((len, 0)..).next()?;
        self.remove(start, run);
        if run > len {
            self.add(start + len, run - len);
        }
        Some(start)
    }

    /// Gives back what `take` gave.
    pub(super) fn give(&mut self, start: usize, len: usize) {
        let (mut start, mut len) = (start, len);
        if let Some((&before, &run)) = self.by_start.range(..start).next_back()
            && before + run == start
        {
            self.remove(before, run);
            (start, len) = (before, run + len);
        }
        if let Some(&run) = self.by_start.get(&(start + len)) {
            self.remove(start + len, run);
            len += run;
        }
        self.add(start, len);
    }

    /// Granules of the longest free run.
    pub(super) fn longest(&self) -> usize {
        self.by_len.last().map_or(0, |&(len, _)| len)
    }

    fn add(&mut self, start: usize, len: usize) {
        self.by_start.insert(start, len);
        self.by_len.insert((len, start));
    }

    fn remove(&mut self, start: usize, len: usize) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
    }
}
