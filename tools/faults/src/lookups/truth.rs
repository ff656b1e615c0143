//! What every batch really holds, column by column: kept as cells, beside everything that the
//! engine makes of them.

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::{CellKey, Column};

use super::cells::Cell;
use super::direct::Keys;

/// The cells of one column, of all batches.
#[derive(Debug, Default)]
pub(super) struct ColumnTruth {
    /// Sorted and distinct once settled.
    held: Vec<(Cell, BatchId)>,
}

impl ColumnTruth {
    /// A batch's cells; each once is enough.
    pub(super) fn add(&mut self, batch: BatchId, cells: &[Cell]) {
        self.held.extend(cells.iter().map(|cell| (*cell, batch)));
    }

    /// Sorts them; the batches before `first` are gone.
    pub(super) fn settle(&mut self, first: BatchId) {
        self.held.retain(|(_, batch)| *batch >= first);
        self.held.sort_unstable();
        self.held.dedup();
    }

    /// Every cell with the batches that hold it.
    pub(super) fn cells(&self) -> impl Iterator<Item = &[(Cell, BatchId)]> {
        self.held.chunk_by(|a, b| a.0 == b.0)
    }
}

/// The keys of cells, as filters know them: NaN is none.
pub(super) fn keys(column: &Column, cells: &[Cell]) -> Keys {
    let (mut narrow, mut wide) = (Vec::new(), Vec::new());
    for cell in cells {
        match column.cell_key(&cell[..column.width()]) {
            CellKey::Narrow(key) => narrow.push(key),
            CellKey::Wide(bytes) => wide.push(bytes.to_vec()),
            CellKey::Null | CellKey::Nan => {}
        }
    }
    if wide.is_empty() { Keys::Narrow(narrow) } else { Keys::Wide(wide) }
}
