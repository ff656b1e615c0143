//! Hot path: one pass over the shares, in blocks that stay in the first cache.
//!
//! The walk that all kernel sets share. They differ in what happens within a block, [`Blocks`].

use super::Ones;

/// Words of a block: half of a small first cache.
pub(crate) const BLOCK: usize = 2048;

/// A block on the stack; its registers do not straddle cache lines.
#[repr(align(64))]
struct Scratch([u64; BLOCK]);

/// What a kernel set does to one block.
pub(crate) trait Blocks {
    /// Puts the union of all shares from word `at` on into `block`; returns its set bits.
    fn union(&mut self, at: usize, block: &mut [u64]) -> u64;

    /// Folds `block` in place by `factor` granules, into its first words.
    fn fold(&self, block: &mut [u64], granule: usize, factor: usize);

    /// Set bits.
    fn ones(&self, words: &[u64]) -> u64;
}

/// Folds the union of shares of `target.len() * factor` words into `target`.
///
/// # Panics
/// Where a granule is more than a block.
pub(crate) fn merge_fold(
    mut blocks: impl Blocks,
    granule: usize,
    factor: usize,
    target: &mut [u64],
) -> Ones {
    assert!(granule <= BLOCK, "a granule of {granule} words is more than {BLOCK}");
    if factor == 1 {
        return merge(blocks, target);
    }
    let mut ones = Ones::default();
    let mut scratch = Scratch([0; BLOCK]);
    let span = granule.saturating_mul(factor);
    if span > BLOCK {
        return merge_fold_far(blocks, granule, factor, target);
    }
    let mut at = 0;
    // Whole granules of the target whose sources fill a block.
    for part in target.chunks_mut(BLOCK / span * granule) {
        let sources = &mut scratch.0[..part.len() * factor];
        ones.before += blocks.union(at, sources);
        at += sources.len();
        blocks.fold(sources, granule, factor);
        part.copy_from_slice(&sources[..part.len()]);
        ones.after += blocks.ones(part);
    }
    ones
}

/// No fold: the union goes to its place.
fn merge(mut blocks: impl Blocks, target: &mut [u64]) -> Ones {
    let mut before = 0;
    for (index, part) in target.chunks_mut(BLOCK).enumerate() {
        before += blocks.union(index * BLOCK, part);
    }
    Ones { before, after: before }
}

/// The sources of one granule are more than a block: they are folded piece by piece.
fn merge_fold_far(
    mut blocks: impl Blocks,
    granule: usize,
    factor: usize,
    target: &mut [u64],
) -> Ones {
    let mut ones = Ones::default();
    let mut scratch = Scratch([0; BLOCK]);
    let piece = BLOCK / granule;
    let mut at = 0;
    for part in target.chunks_mut(granule) {
        part.fill(0);
        let mut left = factor;
        while left > 0 {
            let folded = left.min(piece);
            let sources = &mut scratch.0[..folded * granule];
            ones.before += blocks.union(at, sources);
            at += sources.len();
            left -= folded;
            blocks.fold(sources, granule, folded);
            part.iter_mut().zip(&*sources).for_each(|(word, source)| *word |= source);
        }
        ones.after += blocks.ones(part);
    }
    ones
}

/// Folds `words` in place by `factor` words, a block at a time; the caller cuts off the rest.
/// `factor` divides the length and is at most [`BLOCK`].
#[cfg(target_arch = "x86_64")]
pub(crate) fn fold(words: &mut [u64], factor: usize, fold: impl Fn(&mut [u64], usize)) {
    let step = BLOCK / factor * factor;
    let mut target = 0;
    for at in (0..words.len()).step_by(step) {
        let end = words.len().min(at + step);
        fold(&mut words[at..end], factor);
        // The target lies at or before the source: nothing unread is overwritten.
        let folded = (end - at) / factor;
        words.copy_within(at..at + folded, target);
        target += folded;
    }
}
