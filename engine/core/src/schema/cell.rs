//! From a cell's bytes to its key. The only place where bytes become keys on the way in.
//!
//! Hot path: no allocation, no branch on the type per row beyond one match.

use super::keys::{f32_key, f64_key, signed_key};
use super::{ByteOrder, Column, ColumnType};

/// The key of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKey<'r> {
    /// Null: no key.
    Null,
    /// NaN: no key.
    Nan,
    /// An order-preserving unsigned integer.
    Narrow(u64),
    /// Bytes whose order is the values' order.
    Wide(&'r [u8]),
}

impl Column {
    /// Whether the cell of `record` (a whole record) is null.
    #[inline]
    #[must_use]
    pub fn is_null(&self, record: &[u8]) -> bool {
        self.null_bit.is_some_and(|b| record[usize::from(b / 8)] >> (b % 8) & 1 == 1)
    }

    /// The key of the cell of `record` (a whole record).
    #[inline]
    #[must_use]
    pub fn key<'r>(&self, record: &'r [u8]) -> CellKey<'r> {
        if self.is_null(record) {
            return CellKey::Null;
        }
        self.cell_key(&record[self.offset..self.offset + self.width()])
    }

    /// The key of a cell that is not null; `cell` holds its [`Column::width`] bytes.
    #[inline]
    #[must_use]
    pub fn cell_key<'r>(&self, cell: &'r [u8]) -> CellKey<'r> {
        let float = |key: Option<u64>| key.map_or(CellKey::Nan, CellKey::Narrow);
        match self.kind {
            ColumnType::U8 => CellKey::Narrow(cell[0].into()),
            ColumnType::Bool => CellKey::Narrow((cell[0] != 0).into()),
            ColumnType::I8 => CellKey::Narrow(signed_key((cell[0] as i8).into(), 8)),
            ColumnType::U16 => CellKey::Narrow(self.number::<2>(cell)),
            ColumnType::U32 => CellKey::Narrow(self.number::<4>(cell)),
            ColumnType::U64 => CellKey::Narrow(self.number::<8>(cell)),
            ColumnType::I16 => CellKey::Narrow(self.number::<2>(cell) ^ 1 << 15),
            ColumnType::I32 => CellKey::Narrow(self.number::<4>(cell) ^ 1 << 31),
            ColumnType::I64 | ColumnType::Timestamp(_) => {
                CellKey::Narrow(self.number::<8>(cell) ^ 1 << 63)
            }
            ColumnType::F32 => float(f32_key(f32::from_bits(self.number::<4>(cell) as u32))),
            ColumnType::F64 => float(f64_key(f64::from_bits(self.number::<8>(cell)))),
            ColumnType::Ipv4 => CellKey::Narrow(network_number::<4>(cell)),
            ColumnType::Mac => CellKey::Narrow(network_number::<6>(cell)),
            ColumnType::Ipv6 | ColumnType::Uuid | ColumnType::Bytes(_) => CellKey::Wide(cell),
        }
    }

    /// The `N` bytes of a number, in the column's order, as bits.
    #[inline]
    fn number<const N: usize>(&self, cell: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        match self.order {
            ByteOrder::Little => {
                bytes[..N].copy_from_slice(&cell[..N]);
                u64::from_le_bytes(bytes)
            }
            ByteOrder::Big => {
                bytes[8 - N..].copy_from_slice(&cell[..N]);
                u64::from_be_bytes(bytes)
            }
        }
    }
}

#[inline]
fn network_number<const N: usize>(cell: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[8 - N..].copy_from_slice(&cell[..N]);
    u64::from_be_bytes(bytes)
}
