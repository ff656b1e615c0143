//! Called when a batch opens or closes, not per record.
//!
//! Which part of the region is whose: slabs for small blocks, runs of granules for large ones.

use super::runs::Runs;
use super::slabs::{Slabs, class_of};

/// Bytes of a cache line, which every block begins at.
pub(super) const LINE_BYTES: usize = 64;
/// Lines of a granule (64 KiB).
pub(super) const GRANULE_LINES: usize = 1_024;
/// Granules of a slab (256 KiB).
pub(super) const SLAB_GRANULES: usize = 4;
/// Bytes of a granule.
pub(super) const GRANULE_BYTES: usize = GRANULE_LINES * LINE_BYTES;

/// The free and the used parts of a region.
#[derive(Debug)]
pub(super) struct Pool {
    runs: Runs,
    slabs: Slabs,
    used_bytes: usize,
}

/// A part of the region in use. Not `Clone`: who holds it owns it.
#[derive(Debug)]
pub(super) struct Block {
    first_line: usize,
    lines: usize,
    /// A granule more than its lines, unreadable.
    guarded: bool,
}

impl Block {
    /// First byte, from the start of the region.
    pub(super) fn offset(&self) -> usize {
        self.first_line * LINE_BYTES
    }

    /// Bytes of the block, its guard not counted.
    pub(super) fn bytes(&self) -> usize {
        self.lines * LINE_BYTES
    }

    /// The unreadable bytes behind it, from the start of the region.
    pub(super) fn guard(&self) -> Option<std::ops::Range<usize>> {
        let end = self.offset() + self.bytes();
        self.guarded.then_some(end..end + GRANULE_BYTES)
    }
}

impl Pool {
    /// A region of `bytes` bytes (whole granules), all free.
    pub(super) fn new(bytes: usize) -> Self {
        let runs = Runs::new(bytes / GRANULE_BYTES);
        Pool { runs, slabs: Slabs::default(), used_bytes: 0 }
    }

    /// A block of at least `len` words.
    pub(super) fn take(&mut self, len: usize, guards: bool) -> Option<Block> {
        let lines = len.div_ceil(LINE_BYTES / size_of::<u64>()).max(1);
        let block = if lines <= GRANULE_LINES {
            let lines = class_of(lines);
            let first_line = self.slabs.take(lines, &mut self.runs)?;
            Block { first_line, lines, guarded: false }
        } else {
            let granules = lines.div_ceil(GRANULE_LINES);
            let start = self.runs.take(granules.checked_add(usize::from(guards))?)?;
            let first_line = start * GRANULE_LINES;
            Block { first_line, lines: granules * GRANULE_LINES, guarded: guards }
        };
        self.used_bytes += block.bytes();
        Some(block)
    }

    /// Takes a block back.
    pub(super) fn give(&mut self, block: Block) {
        self.used_bytes -= block.bytes();
        if block.lines <= GRANULE_LINES {
            self.slabs.give(block.first_line, &mut self.runs);
        } else {
            let granules = block.lines / GRANULE_LINES + usize::from(block.guarded);
            self.runs.give(block.first_line / GRANULE_LINES, granules);
        }
    }

    pub(super) fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// Words of the largest block that `take` would give.
    pub(super) fn largest_words(&self, guards: bool) -> usize {
        let granules = self.runs.longest();
        let run = granules.saturating_sub(usize::from(guards));
        // One granule or less comes from a slab, which needs a run of its own.
        let usable = if run <= 1 { usize::from(granules >= SLAB_GRANULES) } else { run };
        usable * GRANULE_BYTES / size_of::<u64>()
    }
}
