//! An open column: min, max, flags and filter bits of one queue's share of a batch.
//!
//! Hot path: no allocation after `reserve`, no lock; a chunk of rows at a time.
//!
//! Invariants: memory past the words of the present shape holds no bits; `low` is the exact set of
//! the low halves while the keys span less than 65,536, and empty from then on.

use bloomrf_kernels::arena::{Arena, Words};
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, Zone, words};

use super::fold::{common_size, fold_by};
use super::policy::granule_of;
use super::staged::Staged;
use super::{ColumnFlags, ColumnZone, FilterKind, FilterPolicy, OpenShape};
use crate::schema::{Column, KeyClass};

/// One queue's share of one column of an open batch.
#[derive(Clone, Debug)]
pub struct OpenColumn {
    pub(super) shape: OpenShape,
    pub(super) flags: ColumnFlags,
    pub(super) zone: ColumnZone,
    /// Hashed words, blocks or bitmap: the first `shape.words` of what is reserved.
    words: Words,
    /// The exact top 16 bits, where the layers have them.
    pub(super) top: Words,
    /// The low 16 bits of every key, where there is a top: the exact set of keys, should they
    /// turn out to span less than 65,536.
    pub(super) low: Words,
    /// The keys themselves, for an exact kind at close.
    pub(super) staged: Staged,
    /// Keys have spanned too much for `low`: it is empty.
    is_low_dropped: bool,
    /// No bit is set anywhere.
    is_zeroed: bool,
}

impl OpenColumn {
    /// An empty column of that shape.
    #[must_use]
    pub fn new(column: &Column, shape: OpenShape) -> Self {
        Self::with_memory(column, shape, None, Staged::reserve(0, 0))
    }

    /// An empty column with memory for shapes of up to that size, from the arena while it lasts,
    /// that keeps its keys as `policy` says.
    #[must_use]
    pub fn reserve(
        column: &Column,
        shape: OpenShape,
        policy: &FilterPolicy,
        arena: Option<&Arena>,
    ) -> Self {
        let keys_max = if shape.kind == FilterKind::BloomRf { policy.exact_keys_max } else { 0 };
        let staged = Staged::reserve(keys_max, policy.budget.bits_per_record());
        Self::with_memory(column, shape, arena, staged)
    }

    fn with_memory(
        column: &Column,
        shape: OpenShape,
        arena: Option<&Arena>,
        staged: Staged,
    ) -> Self {
        let words = |len| arena.and_then(|a| a.words(len)).unwrap_or_else(|| Words::heap(len));
        let exact = if shape.has_top() { bitmap::WORDS_16 } else { 0 };
        OpenColumn {
            shape,
            flags: ColumnFlags::default(),
            zone: match column.kind().key_class() {
                KeyClass::Narrow { .. } => ColumnZone::Narrow(Zone::default()),
                KeyClass::Wide { .. } => ColumnZone::Wide(Zone::default()),
            },
            words: words(shape.words as usize),
            top: words(exact),
            low: words(exact),
            staged,
            is_low_dropped: false,
            is_zeroed: true,
        }
    }

    /// Shape it was opened with (after a merge of differing sizes: the common size).
    #[must_use]
    pub fn shape(&self) -> &OpenShape {
        &self.shape
    }

    /// Adds what another queue saw of the same batch and column.
    ///
    /// Both normally have one shape. Should two queues have opened with different sizes (see
    /// `OpenBoard`), both are folded exactly to their greatest common size.
    ///
    /// # Panics
    /// Where they are not shares of one column: our own mistake.
    pub fn merge(&mut self, kernel: Kernel, other: &OpenColumn) {
        let common = self.common_size(other.shape.words);
        self.fold_to(common);
        if other.shape.words == common {
            words::merge(kernel, self.hashed_mut(), other.hashed());
        } else {
            let factor = (other.shape.words / common) as usize;
            let folded = fold_by(other.hashed(), factor, granule_of(self.shape.kind));
            words::merge(kernel, self.hashed_mut(), &folded);
        }
        words::merge(kernel, &mut self.top, &other.top);
        words::merge(kernel, &mut self.low, &other.low);
        self.is_zeroed &= other.is_zeroed;
        match other.staged.keys() {
            Some(keys) => self.staged.push(keys),
            None => self.staged.give_up(),
        }
        self.merge_marks(other);
        self.keep_low();
    }

    /// Empties it for another batch, with a new shape (reuses the memory where it suffices).
    pub fn reset(&mut self, shape: OpenShape) {
        self.zero();
        if self.words.len() < shape.words as usize {
            self.words = Words::heap(shape.words as usize);
        }
        self.shape = shape;
        self.staged.reset();
        self.is_low_dropped = false;
        self.flags = ColumnFlags::default();
        self.zone = match self.zone {
            ColumnZone::Narrow(_) => ColumnZone::Narrow(Zone::default()),
            ColumnZone::Wide(_) => ColumnZone::Wide(Zone::default()),
        };
    }

    /// Clears its bits, where there are any.
    pub fn zero(&mut self) {
        if !self.is_zeroed {
            self.hashed_mut().fill(0);
            self.top.fill(0);
            self.low.fill(0);
            self.is_zeroed = true;
        }
    }

    /// Folds shares of differing sizes to their greatest common one.
    pub(super) fn even_out(shares: &mut [&mut OpenColumn]) {
        let Some(first) = shares.first().map(|share| share.shape.words) else { return };
        if shares.iter().any(|share| share.shape.words != first) {
            let common = shares.iter().fold(first, |common, share| share.common_size(common));
            shares.iter_mut().for_each(|share| share.fold_to(common));
        }
    }

    /// Merges flags and bounds alone.
    pub(super) fn merge_marks(&mut self, other: &OpenColumn) {
        let (ours, theirs) = (&self.shape, &other.shape);
        assert!(
            ours.kind == theirs.kind && ours.layers == theirs.layers && ours.seed == theirs.seed,
            "shares of one column differ in size at most"
        );
        self.flags.merge(other.flags);
        match (&mut self.zone, &other.zone) {
            (ColumnZone::Narrow(zone), ColumnZone::Narrow(other)) => zone.merge(other),
            (ColumnZone::Wide(zone), ColumnZone::Wide(other)) => zone.merge(other),
            _ => unreachable!("one column has one class of keys"),
        }
    }

    /// Hashed words, blocks or bitmap.
    pub(super) fn hashed(&self) -> &[u64] {
        &self.words[..self.shape.words as usize]
    }

    pub(super) fn hashed_mut(&mut self) -> &mut [u64] {
        &mut self.words[..self.shape.words as usize]
    }

    /// Hashed words and exact top, to be inserted into.
    pub(super) fn filter_mut(&mut self) -> (&mut [u64], &mut [u64]) {
        self.is_zeroed = false;
        (&mut self.words[..self.shape.words as usize], &mut self.top)
    }

    /// The set of low halves, while it is kept.
    pub(super) fn low_mut(&mut self) -> Option<&mut [u64]> {
        (!self.is_low_dropped && !self.low.is_empty()).then_some(&mut *self.low)
    }

    /// Keeps keys that the filter was given, and whose bounds the zone map knows.
    pub(super) fn stage<K: Copy + Into<u64>>(&mut self, keys: &[K]) {
        self.staged.push(keys);
        if let ColumnZone::Narrow(zone) = &self.zone
            && let Some((min, max)) = zone.bounds()
        {
            self.staged.judge(min, max);
        }
    }

    /// Every bit has been cleared by whoever read them.
    pub(super) fn mark_zeroed(&mut self) {
        self.is_zeroed = true;
    }

    /// Widens the zone map of narrow keys; drops the low halves where they do not tell the keys
    /// apart any more.
    pub(super) fn widen(&mut self, min: u64, max: u64) {
        self.flags.has_value = true;
        if let ColumnZone::Narrow(zone) = &mut self.zone {
            zone.insert(min);
            zone.insert(max);
        }
        self.keep_low()
    }

    fn keep_low(&mut self) {
        let ColumnZone::Narrow(zone) = &self.zone else { return };
        let is_near = zone.bounds().is_none_or(|(min, max)| max - min <= u64::from(u16::MAX));
        if !is_near && !std::mem::replace(&mut self.is_low_dropped, true) {
            self.low.fill(0);
        }
    }

    fn common_size(&self, words: u32) -> u32 {
        let ours = self.shape.words;
        if ours == words {
            return ours;
        }
        common_size(ours as usize, words as usize, granule_of(self.shape.kind)) as u32
    }

    fn fold_to(&mut self, words: u32) {
        if self.shape.words != words {
            let factor = (self.shape.words / words) as usize;
            let folded = fold_by(self.hashed(), factor, granule_of(self.shape.kind));
            self.hashed_mut().fill(0);
            self.shape.words = words;
            self.hashed_mut().copy_from_slice(&folded);
        }
    }
}

/// Equal in everything that a batch is made of, whatever memory is reserved.
impl PartialEq for OpenColumn {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.flags == other.flags
            && self.zone == other.zone
            && self.hashed() == other.hashed()
            && self.top == other.top
            && self.low == other.low
    }
}

#[cfg(test)]
mod tests;
