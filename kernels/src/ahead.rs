//! Hot path: look-ahead of the kernels that ask one line per key, and their last group.

use crate::hash::Hash128;

/// Groups of eight keys between prefetch and use where the filter lies in L2.
pub(crate) const NEAR: usize = 4;

/// The same past L2; the latency of memory is that much longer.
pub(crate) const FAR: usize = 16;

/// Whether a filter of these words counts as past L2 (1 MiB a core and more on servers).
#[inline]
pub(crate) fn is_far(words: &[u64]) -> bool {
    words.len() > NEAR_WORDS_MAX
}

/// Groups of eight keys, and the last group where it is short: filled up with its last key, for
/// which inserting it again changes nothing and asking again is cleared by [`clear_behind`].
#[inline]
pub(crate) fn group_or(keys: &[u64]) -> (&[[u64; 8]], [u64; 8]) {
    let (groups, tail) = keys.as_chunks::<8>();
    let mut last = [tail.last().copied().unwrap_or(0); 8];
    last[..tail.len()].copy_from_slice(tail);
    (groups, last)
}

/// Clears the answers behind the last of `keys` keys; `found` has a word for each 64.
#[inline]
pub(crate) fn clear_behind(found: &mut [u64], keys: usize) {
    if let (Some(word), rest @ 1..) = (found.last_mut(), keys % 64) {
        *word &= (1 << rest) - 1;
    }
}

/// Items of a chunk that is asked probe by probe, where the filter lies in L2.
pub(crate) const NEAR_ITEMS: usize = 128;

/// The same past L2: the last rounds of a chunk, of few items, are waited for.
pub(crate) const FAR_ITEMS: usize = 512;

/// Places of eight items between prefetch and use of an insert of many probes an item; no fewer
/// than the most probes.
pub(crate) const PLACES_AHEAD: usize = 64;

/// The first eight items, filled up with the last one where there are fewer.
#[inline]
pub(crate) fn eight(items: &[Hash128]) -> [Hash128; 8] {
    if let Some(eight) = items.first_chunk() {
        return *eight;
    }
    let mut filled = [items.last().copied().unwrap_or_default(); 8];
    filled[..items.len()].copy_from_slice(items);
    filled
}

/// 1 MiB.
const NEAR_WORDS_MAX: usize = 1 << 17;
