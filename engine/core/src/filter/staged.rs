//! The keys of an open column, kept as they are until the batch closes.
//!
//! Hot path: no allocation after `reserve`, no lock; one copy per chunk of keys.
//!
//! Why: sorted, the keys of a batch often take less memory than a filter of them, and then nobody
//! guesses any more (`bloomrf_kernels::exact`). What is kept is bounded; past the bound, or where
//! the keys lie so far apart that a filter will be smaller, the column gives up for this batch and
//! the filter, which is built in any case, is all there is.
//!
//! What is chosen: a list or a frame-of-reference bitmap wherever it is no larger than the filter.
//! Elias-Fano wherever it is no larger and the keys rise or fall with the order of arrival, as
//! timestamps do: then zone maps tell batches apart and hardly any is asked. Of other columns every
//! batch is asked, one by one, since an exact column has left its bit-sliced group: three dependent
//! cache misses a batch, 0.2 us and more, where the group takes 5 ns. There Elias-Fano has to take
//! at most a quarter of the filter's bytes ([`UNORDERED_SHARE`]), or be so small that those of a
//! whole store stay in cache and miss nothing ([`SMALL_BYTES`]).
//!
//! Invariant: while [`Staged::keys`] says anything, it holds every key that the filter was given.

use bloomrf_kernels::exact::{Exact, sort_distinct};

/// Kept keys of one column and queue.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    keys: Vec<u64>,
    keys_max: usize,
    /// More bits a key than the stored filter would pay for are not worth keeping keys for.
    bits_max: u32,
    is_whole: bool,
}

impl Staged {
    /// Memory for `keys_max` keys (0: keeps none), of a column whose filter takes about `bits_max`
    /// bits a record.
    pub(super) fn reserve(keys_max: usize, bits_max: u32) -> Self {
        // Pages are touched only where keys are written.
        Staged { keys: Vec::with_capacity(keys_max), keys_max, bits_max, is_whole: keys_max > 0 }
    }

    /// Forgets everything, for another batch.
    pub(super) fn reset(&mut self) {
        self.keys.clear();
        self.is_whole = self.keys_max > 0;
    }

    /// Keeps keys, unless it has given up.
    pub(super) fn push<K: Copy + Into<u64>>(&mut self, keys: &[K]) {
        if !self.is_whole {
            return;
        }
        if keys.len() > self.keys_max - self.keys.len() {
            return self.give_up();
        }
        self.keys.extend(keys.iter().map(|&key| key.into()));
    }

    /// Told the least and the greatest key so far: gives up where the keys lie too far apart.
    pub(super) fn judge(&mut self, min: u64, max: u64) {
        let count = self.keys.len() as u64;
        if !self.is_whole || count < JUDGED_KEYS {
            return;
        }
        let bits = ((max - min) / count).checked_ilog2().unwrap_or(0) + 2;
        // Eight times as many keys, which is what may still come, lie three bits closer.
        if bits > self.bits_max + self.bits_max / 4 + 3 {
            self.give_up();
        }
    }

    /// Every key that came, in the order in which they came and with repetitions; `None` once it
    /// has given up.
    pub(super) fn keys(&self) -> Option<&[u64]> {
        self.is_whole.then_some(&self.keys)
    }

    /// Keeps no keys until the next batch.
    pub(super) fn give_up(&mut self) {
        self.keys.clear();
        self.is_whole = false;
    }
}

/// The keys of all shares in the smallest exact form of at most `bytes_max` bytes, if there is one
/// and no share has given up. `bounds` is the zone map: keys that do not reach from its least to
/// its greatest are not all there were, and are left alone. Sorts: not for an ingest core.
pub(super) fn exact<'s>(
    shares: impl Iterator<Item = &'s Staged> + Clone,
    bounds: Option<(u64, u64)>,
    bytes_max: usize,
) -> Option<Exact> {
    let count =
        shares.clone().map(|share| share.keys().map(<[u64]>::len)).sum::<Option<usize>>()?;
    if count == 0 {
        return None;
    }
    let is_ordered = shares.clone().filter_map(Staged::keys).all(is_ordered);
    let mut keys = Vec::with_capacity(count);
    shares.filter_map(Staged::keys).for_each(|share| keys.extend_from_slice(share));
    sort_distinct(&mut keys);
    let ends = keys.first().copied().zip(keys.last().copied());
    if ends != bounds {
        return None;
    }
    let smallest = Exact::smallest(&keys, bytes_max)?;
    let pays = match &smallest {
        Exact::List(_) | Exact::Near(_) => true,
        Exact::EliasFano(keys) => {
            is_ordered || keys.bytes() <= (bytes_max / UNORDERED_SHARE).max(SMALL_BYTES)
        }
    };
    pays.then_some(smallest)
}

/// Whether keys rise, or fall, with the order in which they came, give or take half of their span:
/// of [`PAIRS`] pairs that lie half of the keys apart nearly all agree.
fn is_ordered(keys: &[u64]) -> bool {
    let half = keys.len() / 2;
    let pairs = half.min(PAIRS);
    let rising = (0..pairs).filter(|pair| {
        let at = pair * half / pairs;
        keys[at] <= keys[at + half]
    });
    let rising = rising.count();
    rising.min(pairs - rising) <= pairs / 16
}

/// Filter bytes over Elias-Fano bytes from which on the latter is worth being asked one by one.
const UNORDERED_SHARE: usize = 4;

/// Elias-Fano this small is chosen wherever it is no larger than the filter: 512 of them are 1 MiB.
const SMALL_BYTES: usize = 2_048;

/// Pairs of keys by which the order of arrival is judged.
const PAIRS: usize = 64;

/// Keys after which it is judged whether keeping more is worth it.
const JUDGED_KEYS: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Option<(u64, u64)> = Some((3, 1 << 40));

    #[test]
    fn keys_of_all_shares_come_out_sorted_and_once() {
        let (mut a, mut b) = (Staged::reserve(9, 32), Staged::reserve(9, 32));
        a.push(&[9u32, 3, 9]);
        b.push(&[3u64, 1 << 40]);
        let exact = exact([&a, &b].into_iter(), BOUNDS, 1_000).unwrap();
        assert_eq!(exact.keys(), [3, 9, 1 << 40]);
        assert_eq!(super::exact([&a, &b].into_iter(), BOUNDS, 23), None, "larger than allowed");
        let wider = Some((2, 1 << 40));
        assert_eq!(super::exact([&a, &b].into_iter(), wider, 1_000), None, "a key is missing");
    }

    #[test]
    fn elias_fano_needs_keys_in_order_or_a_quarter_of_the_bytes() {
        let rising: Vec<u64> = (0..3_000).map(|i| 3 + i * 5_000 + i % 7).collect();
        let falling: Vec<u64> = rising.iter().rev().copied().collect();
        let mixed: Vec<u64> = (0..3_000).map(|i| rising[i * 577 % 3_000]).collect();
        let bounds = Some((rising[0], rising[2_999]));
        let chosen = |keys: &[u64], bytes_max| {
            let mut share = Staged::reserve(3_000, 32);
            share.push(keys);
            exact([&share].into_iter(), bounds, bytes_max).is_some()
        };
        let bytes = Exact::smallest(&rising, usize::MAX).unwrap().bytes();
        for (keys, ordered) in [(&rising, true), (&falling, true), (&mixed, false)] {
            assert_eq!(chosen(keys, bytes), ordered);
            assert!(!chosen(keys, bytes - 1), "larger than the filter");
            assert!(chosen(keys, 4 * bytes), "a quarter");
            assert_eq!(chosen(keys, 4 * bytes - 1), ordered, "more than a quarter");
        }
        // A small set, whatever the order.
        let few: Vec<u64> = mixed.iter().copied().filter(|key| *key < 3_000_000).collect();
        let mut share = Staged::reserve(1_000, 32);
        share.push(&few);
        let ends = few.iter().min().copied().zip(few.iter().max().copied());
        assert!(exact([&share].into_iter(), ends, SMALL_BYTES).is_some());
        // Frame of reference, whatever the order.
        let dense: Vec<u64> = (0..1_000).map(|i| 3 + i * 577 % 1_000).collect();
        let mut share = Staged::reserve(1_000, 32);
        share.push(&dense);
        assert!(exact([&share].into_iter(), Some((3, 1_002)), 128).is_some());
    }

    #[test]
    fn one_share_that_gave_up_means_that_nothing_is_exact() {
        let (mut a, mut b) = (Staged::reserve(4, 32), Staged::reserve(4, 32));
        a.push(&[1u64, 2, 3]);
        a.push(&[4u64, 5]);
        assert_eq!(a.keys(), None, "five keys are more than four");
        a.push(&[6u64]);
        b.push(&[7u64]);
        assert_eq!(a.keys(), None, "it does not start again in the middle");
        assert_eq!(exact([&a, &b].into_iter(), BOUNDS, 1_000), None);
        a.reset();
        assert_eq!(a.keys(), Some(&[][..]), "but with the next batch");
        assert_eq!(Staged::reserve(0, 32).keys(), None, "off");
    }

    #[test]
    fn keys_far_apart_are_given_up_and_close_ones_are_not() {
        let keys: Vec<u64> = (0..8_192).collect();
        for (gap_bits, kept) in [(0, true), (20, true), (36, true), (44, false), (50, false)] {
            let mut staged = Staged::reserve(10_000, 32);
            staged.push(&keys);
            staged.judge(0, 8_191 << gap_bits);
            assert_eq!(staged.keys().is_some(), kept, "{gap_bits}");
        }
    }
}
