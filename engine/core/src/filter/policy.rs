//! Which filter each column gets, and how large it opens: fixed when a batch opens.

use bloomrf_kernels::blocked::{BLOCK_WORDS, K_DEFAULT};
use bloomrf_kernels::params::{Budget, layers_for};
use bloomrf_kernels::scalar::bitmap::{WORDS_8, WORDS_16};
use bloomrf_kernels::{Kernel, Layers, SizeClasses};

use super::FilterKind;
use crate::schema::{Column, KeyClass, Schema};

/// The configured policy of a node.
#[derive(Clone, Debug)]
pub struct FilterPolicy {
    /// Bits per record and column.
    pub budget: Budget,
    /// Open sizes.
    pub sizes: SizeClasses,
    /// Hash seed of this data folder and schema epoch.
    pub seed: u64,
    /// Per column: filter it (true) or keep only its zone map.
    pub filtered: Vec<bool>,
    /// Kernel set of ingest and seal.
    pub kernel: Kernel,
    /// Keys that each column of an open batch keeps, per queue, so that they may be stored exactly
    /// at close; 0: none.
    pub exact_keys_max: usize,
}

/// How one column opens: decided before any queue inserts, equal on every queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenShape {
    /// Kind of filter; `FilterKind::None` for a column with a zone map only.
    pub kind: FilterKind,
    /// Layers, for `FilterKind::BloomRf`.
    pub layers: Option<Layers>,
    /// Hashed words (bloomRF, blocked Bloom), or the fixed words of a bitmap.
    pub words: u32,
    /// Hash seed.
    pub seed: u64,
}

impl FilterPolicy {
    /// The shape of `column` (ordinal `ordinal`) in a batch expected to hold `records` records.
    ///
    /// Allocates nothing: queues call it when a batch opens.
    #[must_use]
    pub fn open_shape(&self, ordinal: usize, column: &Column, records: u64) -> OpenShape {
        let kind = self.kind_of(ordinal, column);
        let layers = match (kind, column.kind().key_class()) {
            (FilterKind::BloomRf, KeyClass::Narrow { bits }) => Some(layers_for(bits, self.seed)),
            _ => None,
        };
        let words = match kind {
            FilterKind::None | FilterKind::Exact => 0,
            FilterKind::Bitmap8 => WORDS_8 as u32,
            FilterKind::Bitmap16 => WORDS_16 as u32,
            FilterKind::BloomRf | FilterKind::Blocked => self.open_words(kind, records),
        };
        OpenShape { kind, layers, words, seed: self.seed }
    }

    /// The shapes of all columns.
    #[must_use]
    pub fn open_shapes(&self, schema: &Schema, records: u64) -> Vec<OpenShape> {
        schema.columns().iter().enumerate().map(|(i, c)| self.open_shape(i, c, records)).collect()
    }

    /// Kind of filter of `column` (ordinal `ordinal`): by the width of its keys.
    #[must_use]
    pub fn kind_of(&self, ordinal: usize, column: &Column) -> FilterKind {
        if !self.filtered.get(ordinal).copied().unwrap_or(false) {
            return FilterKind::None;
        }
        match column.kind().key_class() {
            KeyClass::Narrow { bits: 8 } => FilterKind::Bitmap8,
            KeyClass::Narrow { bits: 16 } => FilterKind::Bitmap16,
            KeyClass::Narrow { .. } if self.budget.levels > 1 => FilterKind::BloomRf,
            KeyClass::Narrow { .. } | KeyClass::Wide { .. } => FilterKind::Blocked,
        }
    }

    /// The size class that pays for `records` records in a hashed filter of this kind: what a
    /// sealed one may hold at most (W0 where the budget would need more).
    #[must_use]
    pub fn stored_words_max(&self, kind: FilterKind, records: u64) -> u32 {
        self.sizes.at_least(self.words_for(kind, records), granule_of(kind))
    }

    /// Fill of a filter that holds just what its budget is meant for.
    pub(super) fn fill_target(&self, layers: Option<&Layers>) -> f64 {
        match layers {
            Some(layers) => self.budget.fill_target(layers.hashed().len()),
            None => 1.0 - (-f64::from(K_DEFAULT) / f64::from(self.budget.bits_per_key)).exp(),
        }
    }

    /// Fill up to which a filter is folded below what its budget pays for. Keys that lie close
    /// together (lengths, counters) share every upper prefix, so that only the lowest layer tells
    /// them apart: there a point passes at the rate of the fill itself, a range of 16 at 16 times
    /// that. Memory that the budget pays for anyway keeps those rates low.
    pub(super) fn fold_fill_max(&self, layers: Option<&Layers>) -> f64 {
        let target = self.fill_target(layers);
        if layers.is_some() { target.min(CLUSTERED_FILL_MAX) } else { target }
    }

    /// The smallest class that pays for `records` records, or for all but a sixteenth of them: a
    /// batch of the expected size is stored as it was opened, without a fold, and the open
    /// filters of a batch are as small as they can be while it is ingested. No power of two, which
    /// would fold to powers of two only and leave a smaller batch up to 1.9x over or under its
    /// budget; the sixteenth is what `15 * 2^n` words lack to the next one.
    fn open_words(&self, kind: FilterKind, records: u64) -> u32 {
        let need = self.words_for(kind, records);
        let least = need - need / 16;
        let granule = granule_of(kind);
        let folds_well =
            |&&w: &&u32| (w < 120 || !w.is_power_of_two()) && (w as usize).is_multiple_of(granule);
        let mut classes = self.sizes.words().iter().rev().filter(folds_well);
        let found = classes.find(|&&w| u64::from(w) >= least).copied();
        found.unwrap_or_else(|| self.sizes.at_least(u64::MAX, 1))
    }

    /// Words that the budget gives to `records` records, rounded up.
    fn words_for(&self, kind: FilterKind, records: u64) -> u64 {
        let bits = match kind {
            FilterKind::Blocked => self.budget.bits_per_key,
            _ => self.budget.bits_per_record(),
        };
        records.saturating_mul(u64::from(bits)).div_ceil(64).max(1)
    }
}

impl OpenShape {
    /// Whether the top 16 bits of 4-byte keys are kept exactly.
    #[must_use]
    pub fn has_top(&self) -> bool {
        self.layers.is_some_and(|layers| layers.has_exact_top())
    }
}

/// Words that stay together when a filter of this kind is folded (see [`SizeClasses::at_least`]).
pub(super) fn granule_of(kind: FilterKind) -> usize {
    if kind == FilterKind::Blocked { BLOCK_WORDS } else { 1 }
}

/// Rate at which a point beside clustered keys may pass.
const CLUSTERED_FILL_MAX: f64 = 0.02;

#[cfg(test)]
mod tests;
