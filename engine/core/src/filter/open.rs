//! An open column: takes rows, remembers min, max, flags and filter bits of one queue's share.
//!
//! Hot path: no allocation after `new`, no lock; one column after the other over a frame's rows.

use super::{FilterPolicy, OpenShape, SealedColumn};
use crate::schema::Column;

/// One queue's share of one column of an open batch.
#[derive(Clone, Debug)]
pub struct OpenColumn {
    shape: OpenShape,
}

impl OpenColumn {
    /// An empty column of that shape.
    #[must_use]
    pub fn new(column: &Column, shape: OpenShape) -> Self {
        let _ = column;
        OpenColumn { shape }
    }

    /// Shape it was opened with.
    #[must_use]
    pub fn shape(&self) -> &OpenShape {
        &self.shape
    }

    /// Inserts the cells of whole records of `record_bytes` bytes.
    pub fn insert_rows(&mut self, column: &Column, rows: &[u8], record_bytes: usize) {
        let _ = (column, rows, record_bytes);
        todo!("filter")
    }

    /// Adds what another queue saw; both have the same shape.
    pub fn merge(&mut self, other: &OpenColumn) {
        let _ = other;
        todo!("filter")
    }

    /// Empties it for another batch, with a new shape (reuses the memory where it suffices).
    pub fn reset(&mut self, shape: OpenShape) {
        let _ = shape;
        todo!("filter")
    }

    /// Folds to the budget, chooses the stored kind and freezes.
    #[must_use]
    pub fn seal(&self, column: &Column, policy: &FilterPolicy) -> SealedColumn {
        let _ = (column, policy);
        todo!("filter")
    }
}
