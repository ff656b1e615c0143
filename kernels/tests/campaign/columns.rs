//! Columns of keys: bounds of every width, exact maps.

use std::fmt::Debug;

use bloomrf_kernels::Kernel;
use bloomrf_kernels::columns as door;

use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

pub(crate) fn bounds(case: &mut Case<'_>) {
    bounds_of(case, 8, |key| key as u8, door::bounds_u8);
    bounds_of(case, 16, |key| key as u16, door::bounds_u16);
    bounds_of(case, 32, |key| key as u32, door::bounds_u32);
    bounds_of(case, 64, |key| key, door::bounds_u64);
}

fn bounds_of<T: Copy + Ord + Debug>(
    case: &mut Case<'_>,
    bits: u32,
    narrow: impl Fn(u64) -> T,
    door: impl Fn(Kernel, &[T]) -> Option<(T, T)>,
) {
    let keys = narrow_keys(case, case.length, bits, &narrow);
    let expected = keys.iter().copied().min().zip(keys.iter().copied().max());
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let keys = Placed::new(case, &keys, narrow(0));
        case.same(set, "bounds", &[door(kernel, keys.get())], &[expected]);
        case.count(set, case.length);
    }
}

/// Keys of a column of `bits` bits; some columns keep away from the ends of their type.
pub(crate) fn narrow_keys<T>(
    case: &mut Case<'_>,
    count: usize,
    bits: u32,
    narrow: impl Fn(u64) -> T,
) -> Vec<T> {
    let (shift, base) = match case.below(3) {
        0 => (0, 0),
        _ => (1 + case.below(bits as usize - 1), case.next() >> (65 - bits)),
    };
    let keys = inputs::keys(case, count, bits);
    keys.into_iter().map(|key| narrow((key >> shift).wrapping_add(base))).collect()
}

pub(crate) fn bounds_wide(case: &mut Case<'_>) {
    let stride = 16 + case.below(60);
    let offset = case.below(stride - 15);
    let null_bit = case.once_in(2).then(|| case.below(8 * stride) as u16);
    let words = inputs::keys(case, (stride * case.length).div_ceil(8), 64);
    let mut rows: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take(stride * case.length).collect();
    if case.once_in(2) {
        // Equal upper halves: the lower ones decide.
        rows.chunks_mut(stride).for_each(|row| row[offset..offset + 9].fill(0x80));
    }
    let is_null =
        |row: &&[u8]| null_bit.is_some_and(|bit| row[usize::from(bit / 8)] >> (bit % 8) & 1 == 1);
    let append = |number, &byte: &u8| number << 8 | u128::from(byte);
    let cells: Vec<u128> = rows
        .chunks(stride)
        .filter(|row| !is_null(row))
        .map(|row| row[offset..offset + 16].iter().fold(0, append))
        .collect();
    let expected = cells.iter().copied().min().zip(cells.iter().copied().max());
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let rows = Placed::new(case, &rows, 0xA5);
        let bounds = door::bounds_wide(kernel, rows.get(), stride, offset, null_bit);
        case.same(set, "bounds of 16 bytes", &[bounds], &[expected]);
        door::prefetch(kernel, rows.get());
        case.count(set, case.length);
    }
}

pub(crate) fn maps(case: &mut Case<'_>) {
    let keys = narrow_keys(case, case.length, 16, |key| key as u16);
    let bytes: Vec<u8> = keys.iter().map(|&key| (key >> (key & 7)) as u8).collect();
    let (mut expected, mut expected_bytes) = ([0u64; 1_024], [0u64; 4]);
    keys.iter().for_each(|&key| expected[usize::from(key / 64)] |= 1 << (key % 64));
    bytes.iter().for_each(|&key| expected_bytes[usize::from(key / 64)] |= 1 << (key % 64));
    let middle = case.below(case.length + 1);
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let (keys, bytes) = (Placed::new(case, &keys, 0), Placed::new(case, &bytes, 0));
        let (first, second) = keys.get().split_at(middle);
        let mut four = Placed::zeros(case, 4 * 1_024);
        door::map_u16(kernel, four.get_mut(), first);
        door::map_u16(kernel, four.get_mut(), second);
        let mut joined = [0; 1_024];
        door::join_maps(kernel, four.get(), &mut joined);
        case.same(set, "a map of 2-byte keys", &joined, &expected);
        four.assert_guarded("four maps");
        let mut marks = [0; 256];
        door::map_u8(kernel, &mut marks, bytes.get());
        let bits = door::bytes_to_bits(kernel, &marks);
        case.same(set, "a map of 1-byte keys", &bits, &expected_bytes);
        case.count(set, 2 * case.length);
    }
}
