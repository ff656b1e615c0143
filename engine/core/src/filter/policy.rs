//! Which filter each column gets, and how large it opens: fixed when a batch opens.

use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Layers, SizeClasses};

use super::FilterKind;
use crate::schema::{Column, Schema};

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
    #[must_use]
    pub fn open_shape(&self, ordinal: usize, column: &Column, records: u64) -> OpenShape {
        let _ = (ordinal, column, records);
        todo!("filter")
    }

    /// The shapes of all columns.
    #[must_use]
    pub fn open_shapes(&self, schema: &Schema, records: u64) -> Vec<OpenShape> {
        schema.columns().iter().enumerate().map(|(i, c)| self.open_shape(i, c, records)).collect()
    }
}
