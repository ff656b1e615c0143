//! Called when a batch opens or closes, not per record.
//!
//! Blocks of up to 64 KiB: slabs of [`SLAB_GRANULES`] granules, each cut into blocks of one class.
//!
//! Classes are 4, 5, 6 and 7 quarters of a power of two, so at most a fifth of a block is unused.
//! An empty slab goes back to the runs. Invariant: a slab listed as open has a free block.

use std::collections::{BTreeMap, BTreeSet};

use super::pool::{GRANULE_LINES, SLAB_GRANULES};
use super::runs::Runs;

/// All slabs, by class.
#[derive(Debug, Default)]
pub(super) struct Slabs {
    by_start: BTreeMap<usize, Slab>,
    /// (class in lines, first granule) of slabs with a free block.
    open: BTreeSet<(usize, usize)>,
}

#[derive(Debug)]
struct Slab {
    class_lines: usize,
    /// Indices of free blocks, the next to be used last.
    free: Vec<u16>,
    blocks: usize,
}

/// The class of a block of `lines` lines (1..=1,024), in lines.
pub(super) fn class_of(lines: usize) -> usize {
    if lines <= 4 {
        return lines.max(1);
    }
    // The quarter of the power of two below.
    let quarter = 1 << ((lines - 1).ilog2() - 2);
    lines.next_multiple_of(quarter)
}

impl Slabs {
    /// Takes a block of a class; returns its first line.
    pub(super) fn take(&mut self, class_lines: usize, runs: &mut Runs) -> Option<usize> {
        let start = match self.open.range((class_lines, 0)..).next() {
            Some(&(class, start)) if class == class_lines => start,
            _ => self.add(class_lines, runs)?,
        };
        let slab = self.by_start.get_mut(&start)?;
        let index = usize::from(slab.free.pop()?);
        if slab.free.is_empty() {
            self.open.remove(&(class_lines, start));
        }
        Some(start * GRANULE_LINES + index * class_lines)
    }

    /// Gives back what `take` gave.
    pub(super) fn give(&mut self, first_line: usize, runs: &mut Runs) {
        let granule = first_line / GRANULE_LINES;
        let Some((&start, slab)) = self.by_start.range_mut(..=granule).next_back() else { return };
        let index = (first_line - start * GRANULE_LINES) / slab.class_lines;
        slab.free.push(index as u16);
        let class = slab.class_lines;
        if slab.free.len() == slab.blocks {
            self.open.remove(&(class, start));
            self.by_start.remove(&start);
            runs.give(start, SLAB_GRANULES);
        } else {
            self.open.insert((class, start));
        }
    }

    fn add(&mut self, class_lines: usize, runs: &mut Runs) -> Option<usize> {
        let start = runs.take(SLAB_GRANULES)?;
        let blocks = SLAB_GRANULES * GRANULE_LINES / class_lines;
        // `blocks` is at most 4,096.
        let free = (0..blocks as u16).rev().collect();
        self.by_start.insert(start, Slab { class_lines, free, blocks });
        self.open.insert((class_lines, start));
        Some(start)
    }
}
