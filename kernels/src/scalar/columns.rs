//! Hot path: no allocation, no lock, no syscall; one pass over the keys.
//!
//! Work on columns of keys: bounds, valid keys, exact maps.

use super::bitmap::WORDS_16;

/// Smallest and largest of `keys`; `None` where there are none.
#[inline]
#[must_use]
pub fn bounds<T: Copy + Ord>(keys: &[T]) -> Option<(T, T)> {
    let (&first, rest) = keys.split_first()?;
    // Locals, so that the compiler need not store them for each key.
    let (mut low, mut high) = (first, first);
    for &key in rest {
        low = low.min(key);
        high = high.max(key);
    }
    Some((low, high))
}

/// Smallest and largest of the 16-byte big-endian cells at `offset` of records of `stride` bytes,
/// without those whose `null_bit` is set in the bitmap at the record's start.
#[must_use]
pub fn bounds_wide(
    rows: &[u8],
    stride: usize,
    offset: usize,
    null_bit: Option<u16>,
) -> Option<(u128, u128)> {
    let (mut low, mut high) = (u128::MAX, 0);
    let mut any = false;
    for row in rows.chunks_exact(stride) {
        if null_bit.is_some_and(|bit| row[usize::from(bit / 8)] >> (bit % 8) & 1 == 1) {
            continue;
        }
        let mut cell = [0; 16];
        cell.copy_from_slice(&row[offset..offset + 16]);
        let key = u128::from_be_bytes(cell);
        low = low.min(key);
        high = high.max(key);
        any = true;
    }
    any.then_some((low, high))
}

/// Copies the keys whose bit of `nulls` is clear to the start of `out`, which is as long as
/// `keys`; returns how many.
pub fn keep_valid<T: Copy>(keys: &[T], nulls: &[u64], out: &mut [T]) -> usize {
    let mut kept = 0;
    for (block, &null) in keys.chunks(64).zip(nulls) {
        if null == 0 {
            out[kept..kept + block.len()].copy_from_slice(block);
            kept += block.len();
            continue;
        }
        for (i, &key) in block.iter().enumerate() {
            out[kept] = key;
            kept += usize::from(null >> i & 1 == 0);
        }
    }
    kept
}

/// Copies the keys of `low..=high` to the start of `out`, which is as long as `keys`; returns
/// how many.
pub fn keep_between<T: Copy + Ord>(keys: &[T], low: T, high: T, out: &mut [T]) -> usize {
    let mut kept = 0;
    for &key in keys {
        out[kept] = key;
        kept += usize::from(low <= key && key <= high);
    }
    kept
}

/// Bit `i` is set where byte `i` is not 0.
#[must_use]
pub fn bytes_to_bits(bytes: &[u8; 256]) -> [u64; 4] {
    let mut bits = [0; 4];
    for (i, &byte) in bytes.iter().enumerate() {
        bits[i / 64] |= u64::from(byte != 0) << (i % 64);
    }
    bits
}

/// Sets the bit of each key in one of the four bitmaps of [`WORDS_16`] words of `maps`, in turn;
/// does nothing where there are not four.
pub fn map_u16(maps: &mut [u64], keys: &[u16]) {
    let (maps, _) = maps.as_chunks_mut::<WORDS_16>();
    let [a, b, c, d] = maps else { return };
    let (fours, rest) = keys.as_chunks::<4>();
    for keys in fours {
        set(a, keys[0]);
        set(b, keys[1]);
        set(c, keys[2]);
        set(d, keys[3]);
    }
    for &key in rest {
        set(a, key);
    }
}

#[inline]
fn set(map: &mut [u64; WORDS_16], key: u16) {
    map[usize::from(key >> 6)] |= 1 << (key & 63);
}

/// ORs each bitmap of `maps` into `target`.
pub fn join_maps(maps: &[u64], target: &mut [u64; WORDS_16]) {
    for map in maps.chunks_exact(WORDS_16) {
        for (word, &more) in target.iter_mut().zip(map) {
            *word |= more;
        }
    }
}
