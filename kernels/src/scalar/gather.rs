//! Hot path: no allocation, no lock, no syscall; one strided pass over the rows per field.
//!
//! Rows to columns of keys, field by field.

use crate::columns::{Columns, Field, Gather, KeyArray, KeyChunk, Map, Order};

/// Keys and null bits of the whole records `rows`, to the rows of `chunk` from `at` on.
pub(crate) fn append(gather: &Gather, rows: &[u8], chunk: &mut KeyChunk, at: usize) {
    let stride = gather.record_bytes();
    let (columns, _) = chunk.parts_mut();
    for (i, field) in gather.fields().iter().enumerate() {
        append_field(field, rows, stride, &mut columns.keys[i], at);
        if let Some(bit) = field.null_bit {
            append_nulls(bit, rows, stride, columns, i, at);
        }
    }
}

fn append_field(field: &Field, rows: &[u8], stride: usize, array: &mut KeyArray, at: usize) {
    match (array, field.width) {
        (KeyArray::U8(keys), _) => strided::<1, u8>(field, rows, stride, keys.tail_mut(at)),
        (KeyArray::U16(keys), _) => strided::<2, u16>(field, rows, stride, keys.tail_mut(at)),
        (KeyArray::U32(keys), _) => strided::<4, u32>(field, rows, stride, keys.tail_mut(at)),
        (KeyArray::U64(keys), 6) => strided::<6, u64>(field, rows, stride, keys.tail_mut(at)),
        (KeyArray::U64(keys), _) => strided::<8, u64>(field, rows, stride, keys.tail_mut(at)),
    }
}

/// The choice of byte order and key map, once per call.
fn strided<const W: usize, T: Key>(field: &Field, rows: &[u8], stride: usize, keys: &mut [T]) {
    let bits = 8 * W as u32;
    let (offset, order, map) = (field.offset, field.order, field.map);
    let cells = Cells { rows, stride, offset };
    match (order, map) {
        (Order::Little, Map::Unsigned) => cells.put(keys, little::<W>),
        (Order::Big, Map::Unsigned) => cells.put(keys, big::<W>),
        (Order::Little, Map::Signed) => {
            cells.put(keys, |cell: [u8; W]| Map::Signed.key(little(cell), bits));
        }
        (Order::Big, Map::Signed) => {
            cells.put(keys, |cell: [u8; W]| Map::Signed.key(big(cell), bits));
        }
        (Order::Little, Map::Float) => {
            cells.put(keys, |cell: [u8; W]| Map::Float.key(little(cell), bits));
        }
        (Order::Big, Map::Float) => {
            cells.put(keys, |cell: [u8; W]| Map::Float.key(big(cell), bits));
        }
        (_, Map::Bool) => cells.put(keys, |cell: [u8; W]| Map::Bool.key(little(cell), bits)),
    }
}

/// One field of all rows.
struct Cells<'a> {
    rows: &'a [u8],
    stride: usize,
    offset: usize,
}

impl Cells<'_> {
    #[inline]
    fn put<const W: usize, T: Key>(&self, keys: &mut [T], key: impl Fn([u8; W]) -> u64) {
        if self.stride == LINE_BYTES {
            // No check per cell: the compiler sees that it lies in its record.
            let offset = self.offset.min(LINE_BYTES - W);
            for (slot, record) in keys.iter_mut().zip(self.rows.as_chunks::<LINE_BYTES>().0) {
                let mut cell = [0; W];
                cell.copy_from_slice(&record[offset..offset + W]);
                *slot = T::narrow(key(cell));
            }
            return;
        }
        let mut rest = self.rows.get(self.offset..).unwrap_or(&[]);
        for slot in keys {
            let Some(cell) = rest.first_chunk() else { break };
            *slot = T::narrow(key(*cell));
            rest = rest.get(self.stride..).unwrap_or(&[]);
        }
    }
}

/// Records of a cache line are the usual ones.
const LINE_BYTES: usize = 64;

#[inline]
fn little<const W: usize>(cell: [u8; W]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..W].copy_from_slice(&cell);
    u64::from_le_bytes(bytes)
}

#[inline]
fn big<const W: usize>(cell: [u8; W]) -> u64 {
    let mut bytes = [0; 8];
    bytes[8 - W..].copy_from_slice(&cell);
    u64::from_be_bytes(bytes)
}

fn append_nulls(
    bit: u16,
    rows: &[u8],
    stride: usize,
    columns: &mut Columns,
    field: usize,
    at: usize,
) {
    let (byte, shift) = (usize::from(bit / 8), bit % 8);
    for (i, block) in rows.chunks(64 * stride).enumerate() {
        let mut bits = 0;
        for (j, row) in block.chunks_exact(stride).enumerate() {
            bits |= u64::from(row[byte] >> shift & 1) << j;
        }
        columns.put_nulls(field, at + 64 * i, bits, block.len() / stride);
    }
}

/// A key of up to eight bytes.
trait Key: Copy {
    fn narrow(number: u64) -> Self;
}

macro_rules! key {
    ($($key:ty)*) => {$(
        impl Key for $key {
            #[inline]
            fn narrow(number: u64) -> Self {
                number as Self
            }
        }
    )*};
}

key!(u8 u16 u32 u64);
