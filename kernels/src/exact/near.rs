//! Hot path: no allocation, no lock, no syscall; a question reads the words of its range at most.
//!
//! Frame of reference: a bitmap over `min..=max`.

use crate::scalar::bitmap;

/// An exact set of keys that lie close together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Near {
    pub(super) base: u64,
    pub(super) len: usize,
    pub(super) words: Box<[u64]>,
}

/// Bytes that [`Near::new`] would take; sorted, distinct keys.
pub(super) fn bytes_of(keys: &[u64]) -> usize {
    match keys {
        [first, .., last] => usize::try_from((last - first) / 64 + 1)
            .ok()
            .and_then(|words| words.checked_mul(size_of::<u64>()))
            .unwrap_or(usize::MAX),
        [_] => size_of::<u64>(),
        [] => 0,
    }
}

impl Near {
    /// The set of sorted, distinct keys.
    pub(super) fn new(keys: &[u64]) -> Self {
        let mut words = vec![0; bytes_of(keys) / size_of::<u64>()].into_boxed_slice();
        let base = keys.first().copied().unwrap_or(0);
        for key in keys {
            let offset = key - base;
            words[(offset / 64) as usize] |= 1 << (offset % 64);
        }
        Near { base, len: keys.len(), words }
    }

    /// Whether any key of `lo..=hi` is in the set.
    #[must_use]
    pub fn any(&self, lo: u64, hi: u64) -> bool {
        let span = self.words.len() as u64 * 64;
        if lo > hi || hi < self.base || span == 0 {
            return false;
        }
        let from = lo.saturating_sub(self.base);
        let to = (hi - self.base).min(span - 1);
        from <= to && bitmap::any_between(&self.words, from, to)
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True where there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The keys, ascending.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(move |(at, &word)| {
            let base = self.base + at as u64 * 64;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| base + bit)
        })
    }
}
