//! Rows into an open column one at a time: the reference of the way by chunks, and what tests
//! and small tools build a column with.
//!
//! Not on the hot path: queues insert by chunks. No allocation, no lock.

use bloomrf_kernels::scalar::{bitmap, bloomrf};
use bloomrf_kernels::{blocked, hash};

use super::open::OpenColumn;
use super::sealed::{narrow_hash, wide_zone_key};
use super::{ColumnZone, FilterKind};
use crate::schema::{CellKey, Column};

impl OpenColumn {
    /// Inserts the cells of whole records of `record_bytes` bytes, one after the other.
    pub fn insert_rows(&mut self, column: &Column, rows: &[u8], record_bytes: usize) {
        for record in rows.chunks_exact(record_bytes) {
            match column.key(record) {
                CellKey::Narrow(key) => self.insert_key(key),
                CellKey::Wide(bytes) => self.insert_bytes(bytes),
                CellKey::Null => self.flags.has_null = true,
                CellKey::Nan => self.flags.has_nan = true,
            }
        }
    }

    fn insert_key(&mut self, key: u64) {
        self.widen(key, key);
        let shape = self.shape;
        let (hashed, top) = self.filter_mut();
        match (shape.kind, &shape.layers) {
            (FilterKind::Bitmap8 | FilterKind::Bitmap16, _) => bitmap::insert(hashed, key as u16),
            (FilterKind::BloomRf, Some(layers)) => {
                bloomrf::insert(layers, hashed, top, key);
                self.stage(&[key]);
                if let Some(low) = self.low_mut() {
                    bitmap::insert(low, key as u16);
                }
            }
            (FilterKind::Blocked, _) => {
                blocked::insert(blocked::K_DEFAULT, hashed, narrow_hash(key, shape.seed))
            }
            (FilterKind::None | FilterKind::Exact | FilterKind::BloomRf, _) => {}
        }
    }

    fn insert_bytes(&mut self, bytes: &[u8]) {
        self.flags.has_value = true;
        if let ColumnZone::Wide(zone) = &mut self.zone {
            zone.insert(wide_zone_key(bytes));
        }
        if self.shape.kind == FilterKind::Blocked {
            let hash = hash::bytes(bytes, self.shape.seed);
            blocked::insert(blocked::K_DEFAULT, self.filter_mut().0, hash);
        }
    }
}
