//! Hot path: keys in order. Whether they are, by a sample; and the insert of intervals whose words
//! rarely change.

use super::KeyOrder;
use super::shape::set;
use crate::hash::mix;
use crate::{Layer, Layers};

/// Keys for which one sample decides.
pub(crate) const SEGMENT: usize = 4096;

/// Keys of one pass of the cascade through the layers.
pub(crate) const BLOCK: usize = 1024;

/// A list of the cascade, with room for whole registers behind its end.
pub(crate) type List = [u64; BLOCK + 16];

/// What is left of a list after a step upwards.
pub(crate) struct Left {
    /// Intervals that differ from their left neighbour: the new length.
    pub(crate) intervals: usize,
    /// How often the word changes from one to the next.
    pub(crate) words: usize,
}

impl Left {
    /// Whether gathering the bits of one word is worth its branches.
    pub(crate) fn has_runs(&self) -> bool {
        self.words * 3 < self.intervals
    }
}

/// Whether the cascade is the faster way for `keys`: what the caller knows, or a sample of up to
/// 256 pairs of neighbours, eight in a row. "Yes" where more than half are one interval of the
/// third layer (the highest, if there are fewer).
pub(crate) fn pays<T: Copy + Into<u64>>(layers: &Layers, order: KeyOrder, keys: &[T]) -> bool {
    match order {
        KeyOrder::Scattered => return false,
        KeyOrder::Ordered => return true,
        KeyOrder::Unknown => {}
    }
    let level = layers.hashed().iter().take(3).next_back().map_or(0, |layer| layer.start);
    let (mut asked, mut same) = (0usize, 0usize);
    let stride = (keys.len() / 32).max(9);
    for run in keys.chunks(stride) {
        for pair in run[..run.len().min(9)].windows(2) {
            let (left, right): (u64, u64) = (pair[0].into(), pair[1].into());
            asked += 1;
            same += usize::from((left ^ right) >> level == 0);
        }
    }
    same * 2 > asked
}

/// Gathers the bits of neighbours in one word and hashes once per word.
pub(crate) fn insert_runs(layer: &Layer, hashed: &mut [u64], list: &[u64]) {
    let Some(&first) = list.first() else { return };
    let word_shift = layer.width - 1;
    let (mut group, mut offsets) = (first >> word_shift, 0u64);
    for &interval in list {
        if interval >> word_shift != group {
            or_word(layer, hashed, group, offsets);
            (group, offsets) = (interval >> word_shift, 0);
        }
        offsets |= 1 << (interval & layer.offset_max());
    }
    or_word(layer, hashed, group, offsets);
}

/// Sets intervals of the exact top.
pub(crate) fn insert_top_intervals(top: &mut [u64], intervals: &[u64]) {
    // A key of the domain has 16 bits above the hashed layers; another one is refused by `set`.
    intervals.iter().for_each(|&at| set(top, u32::try_from(at).unwrap_or(u32::MAX)));
}

/// ORs the offsets of one group into its word.
#[inline]
fn or_word(layer: &Layer, hashed: &mut [u64], group: u64, offsets: u64) {
    let h = mix(group, layer.salt);
    let word = ((h >> 32) * hashed.len() as u64) >> 32;
    hashed[word as usize] |= offsets.rotate_left((h >> 8) as u32 & 63);
}
