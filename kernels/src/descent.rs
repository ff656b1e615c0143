//! Hot path: no allocation, no lock, no syscall; at most 9 layers are walked.
//!
//! The two-path descent of one range, as a list of what to read: no filter is looked at here.
//!
//! From the top layer down, one covering interval is followed until the ends of the range part;
//! from there a left path follows `lo` and a right path follows `hi`, and the whole intervals
//! between the path and the middle are asked at once. [`Step`] says what a hit means.

use crate::layers::EXACT_TOP;
use crate::{Layer, Layers, Step};

/// One thing that the search does in a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Visit {
    /// Read the intervals `from..=to` of `layer` (indices at the layer's level).
    Read(Run),
    /// Reads nothing: `EndLeft`, `EndRight` or `Yes`.
    Mark(Step),
}

/// Adjacent intervals of one layer, read for one purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The layer; [`EXACT_TOP`] where `exact`.
    pub(crate) layer: Layer,
    /// Read from the exact bitmap, not from hashed words.
    pub(crate) exact: bool,
    /// What a hit or a miss means.
    pub(crate) step: Step,
    /// First interval.
    pub(crate) from: u64,
    /// Last interval.
    pub(crate) to: u64,
}

impl Run {
    /// First and last word (group of intervals) that the run touches.
    pub(crate) fn groups(&self) -> (u64, u64) {
        let shift = u32::from(self.layer.width) - 1;
        (self.from >> shift, self.to >> shift)
    }

    /// Hashed words that the run reads.
    pub(crate) fn probes(&self) -> u64 {
        let (first, last) = self.groups();
        if self.exact { 0 } else { (last - first).saturating_add(1) }
    }
}

/// Calls `visit` with everything that the search of `lo..=hi` may have to read, in order.
pub(crate) fn descend(layers: &Layers, lo: u64, hi: u64, mut visit: impl FnMut(Visit)) {
    if lo > hi {
        visit(Visit::Mark(Step::EndLeft));
        visit(Visit::Mark(Step::EndRight));
        return;
    }
    if hi > layers.key_max() {
        // Outside the domain nothing is known, so nothing is excluded.
        visit(Visit::Mark(Step::Yes));
        return;
    }
    let top = layers.has_exact_top().then_some((EXACT_TOP, true));
    let hashed = layers.hashed().iter().rev().map(|&layer| (layer, false));
    let mut paths = Paths { parted: false, left: true, right: true };
    for (layer, exact) in top.into_iter().chain(hashed) {
        let ends = Ends::new(layer, exact, lo, hi);
        if paths.parted {
            paths.follow(&ends, &mut visit);
        } else if ends.a == ends.b {
            visit(ends.read(Step::Cover, ends.a, ends.a));
            if ends.a_full && ends.b_full {
                visit(Visit::Mark(Step::Yes));
                return;
            }
        } else {
            paths.part(&ends, &mut visit);
        }
        if !paths.left && !paths.right {
            return;
        }
    }
}

/// Hashed words that the search of `lo..=hi` may read in all.
pub(crate) fn probes(layers: &Layers, lo: u64, hi: u64) -> u64 {
    let mut count = 0u64;
    descend(layers, lo, hi, |visit| {
        if let Visit::Read(run) = visit {
            count = count.saturating_add(run.probes());
        }
    });
    count
}

/// The two ends of the range, seen from one layer.
struct Ends {
    layer: Layer,
    exact: bool,
    /// Interval of `lo`, and whether the range holds all of it.
    a: u64,
    a_full: bool,
    /// Interval of `hi`, and whether the range holds all of it.
    b: u64,
    b_full: bool,
}

impl Ends {
    fn new(layer: Layer, exact: bool, lo: u64, hi: u64) -> Self {
        let low = (1u64 << layer.start) - 1;
        let (a, b) = (lo >> layer.start, hi >> layer.start);
        Ends { layer, exact, a, a_full: lo & low == 0, b, b_full: hi & low == low }
    }

    fn read(&self, step: Step, from: u64, to: u64) -> Visit {
        Visit::Read(Run { layer: self.layer, exact: self.exact, step, from, to })
    }
}

/// Which paths are still to be followed downwards.
struct Paths {
    parted: bool,
    left: bool,
    right: bool,
}

impl Paths {
    /// The layer at which the ends fall into different intervals.
    fn part(&mut self, ends: &Ends, visit: &mut impl FnMut(Visit)) {
        self.parted = true;
        // `a < b`, so neither of these wraps.
        let from = if ends.a_full { ends.a } else { ends.a + 1 };
        let to = if ends.b_full { ends.b } else { ends.b - 1 };
        if from <= to {
            visit(ends.read(Step::Any, from, to));
        }
        self.end_left(ends, visit);
        self.end_right(ends, visit);
    }

    /// A layer below the parting: the children of the last covering intervals.
    fn follow(&mut self, ends: &Ends, visit: &mut impl FnMut(Visit)) {
        let children = (1u64 << ends.layer.width) - 1;
        if self.left {
            let last = ends.a | children;
            if ends.a_full {
                visit(ends.read(Step::AnyLeft, ends.a, last));
            } else if ends.a < last {
                visit(ends.read(Step::AnyLeft, ends.a + 1, last));
            }
            self.end_left(ends, visit);
        }
        if self.right {
            let first = ends.b & !children;
            if ends.b_full {
                visit(ends.read(Step::AnyRight, first, ends.b));
            } else if first < ends.b {
                visit(ends.read(Step::AnyRight, first, ends.b - 1));
            }
            self.end_right(ends, visit);
        }
    }

    fn end_left(&mut self, ends: &Ends, visit: &mut impl FnMut(Visit)) {
        self.left = !ends.a_full;
        visit(match self.left {
            true => ends.read(Step::Left, ends.a, ends.a),
            false => Visit::Mark(Step::EndLeft),
        });
    }

    fn end_right(&mut self, ends: &Ends, visit: &mut impl FnMut(Visit)) {
        self.right = !ends.b_full;
        visit(match self.right {
            true => ends.read(Step::Right, ends.b, ends.b),
            false => Visit::Mark(Step::EndRight),
        });
    }
}
