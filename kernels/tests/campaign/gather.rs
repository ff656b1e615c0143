//! Rows to columns of keys: any record shape, frame after frame, some of them refused.

use bloomrf_kernels::Kernel;
use bloomrf_kernels::columns::{Field, Gather, KeyChunk, KeysRef, Map, Order};
use xxhash_rust::xxh3::xxh3_128;

use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

const WIDTHS: [usize; 5] = [1, 2, 4, 6, 8];

/// Records of any length; a case is a cell.
pub(crate) fn append(case: &mut Case<'_>) {
    let record_bytes = match case.below(8) {
        0..3 => 1 + case.below(70),
        3..6 => 8 * (1 + case.below(16)),
        6 => 1 + case.below(300),
        _ => 64 * (1 + case.below(5)),
    };
    append_records(case, record_bytes);
}

/// Records of one cache line, of which keys and digest are made in one pass.
pub(crate) fn append_line(case: &mut Case<'_>) {
    append_records(case, 64);
}

fn append_records(case: &mut Case<'_>, record_bytes: usize) {
    let fields = fields(case, record_bytes);
    let gather = Gather::new(record_bytes, &fields).expect("fields within the record");
    let frames = frames(case, record_bytes);
    let kept: Vec<&[u8]> =
        frames.iter().flat_map(|(rows, kept)| rows.chunks(record_bytes).take(*kept)).collect();
    let columns: Vec<Vec<u64>> =
        fields.iter().map(|field| kept.iter().map(|row| naive_key(field, row)).collect()).collect();
    let digests: Vec<u128> = frames.iter().map(|(rows, _)| xxh3_128(rows)).collect();
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let chunk = appended(case, kernel, &gather, &frames, &digests);
        assert_eq!(chunk.rows(), kept.len());
        for (i, (field, expected)) in fields.iter().zip(&columns).enumerate() {
            let what = format!("{field:?} of {record_bytes} bytes");
            let keys: Vec<u64> = match chunk.column(i) {
                KeysRef::U8(keys) => keys.iter().map(|&key| key.into()).collect(),
                KeysRef::U16(keys) => keys.iter().map(|&key| key.into()).collect(),
                KeysRef::U32(keys) => keys.iter().map(|&key| key.into()).collect(),
                KeysRef::U64(keys) => keys.to_vec(),
            };
            case.same(set, &what, &keys, expected);
            assert_eq!(chunk.nulls(i).is_some(), field.null_bit.is_some(), "{what}");
            for (row, record) in kept.iter().enumerate() {
                let Some((nulls, bit)) = chunk.nulls(i).zip(field.null_bit) else { break };
                let null = record[usize::from(bit / 8)] >> (bit % 8) & 1;
                let found = nulls[row / 64] >> (row % 64) & 1;
                assert_eq!(found, null.into(), "{kernel}: null of row {row}, {what}");
            }
            case.count(set, kept.len());
        }
    }
}

/// A chunk of all frames, each as its turn comes with or without its digest.
fn appended(
    case: &mut Case<'_>,
    kernel: Kernel,
    gather: &Gather,
    frames: &[(Vec<u8>, usize)],
    digests: &[u128],
) -> KeyChunk {
    let rows_max = frames.iter().map(|(rows, _)| rows.len() / gather.record_bytes()).sum();
    let mut chunk = KeyChunk::new(gather, rows_max);
    for ((rows, kept), expected) in frames.iter().zip(digests) {
        let rows = Placed::new(case, rows, 0xA5);
        if case.once_in(2) {
            let digest = gather.append_digest(kernel, rows.get(), &mut chunk);
            assert_eq!(digest, *expected, "{kernel}: digest of {} bytes", rows.get().len());
        } else {
            gather.append(kernel, rows.get(), &mut chunk);
        }
        chunk.commit(*kept);
    }
    chunk
}

/// `length` records in frames, and how many of each count.
fn frames(case: &mut Case<'_>, record_bytes: usize) -> Vec<(Vec<u8>, usize)> {
    let mut frames = vec![];
    let mut left = case.length;
    let longest = case.one_of(&[5, 22, 64, 200, 5_000]);
    loop {
        let rows = left.min(1 + case.below(longest));
        left -= rows;
        let kept = if case.once_in(8) { case.below(rows + 1) } else { rows };
        frames.push((bytes(case, rows * record_bytes), kept));
        if left == 0 {
            return frames;
        }
    }
}

/// Bytes among which extreme cells are common.
fn bytes(case: &mut Case<'_>, count: usize) -> Vec<u8> {
    let specials = [
        u64::from(f32::NAN.to_bits()) << 32 | u64::from(f32::INFINITY.to_bits()),
        u64::from((-0.0f32).to_bits()) << 32 | u64::from((-0.0f32).to_bits()),
        u64::from((-0.0f32).to_bits().swap_bytes()) << 32,
        (-0.0f64).to_bits(),
        (-0.0f64).to_bits().swap_bytes(),
        f64::NAN.to_bits(),
        0,
        u64::MAX,
    ];
    let word = |case: &mut Case<'_>| match case.below(8) {
        0 => case.one_of(&specials),
        1 => inputs::extreme(case, 64),
        _ => case.next(),
    };
    let words = (0..count.div_ceil(8)).map(|_| word(case)).collect::<Vec<_>>();
    words.iter().flat_map(|word| word.to_le_bytes()).take(count).collect()
}

/// A few fields of any type and place, overlapping or not.
fn fields(case: &mut Case<'_>, record_bytes: usize) -> Vec<Field> {
    let count = case.below(5);
    let mut fields = vec![];
    while fields.len() <= count {
        let width = case.one_of(&WIDTHS);
        let map = case.one_of(&[Map::Unsigned, Map::Signed, Map::Bool, Map::Float]);
        if width > record_bytes || map == Map::Float && width != 4 && width != 8 {
            continue;
        }
        // Often the last bytes of the record.
        let last = record_bytes - width;
        let offset = if case.once_in(4) { last } else { case.below(last + 1) };
        let null_bit = case.once_in(2).then(|| case.below(8 * record_bytes) as u16);
        let order = case.one_of(&[Order::Little, Order::Big]);
        fields.push(Field { offset, width, order, map, null_bit });
    }
    fields
}

/// The key of a cell, from the typed value.
fn naive_key(field: &Field, record: &[u8]) -> u64 {
    let cell = &record[field.offset..field.offset + field.width];
    let append = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    let number = match field.order {
        Order::Little => cell.iter().rev().fold(0, append),
        Order::Big => cell.iter().fold(0, append),
    };
    let bits = 8 * field.width as u32;
    match field.map {
        Map::Unsigned => number,
        Map::Signed => {
            let signed = (number << (64 - bits)) as i64 >> (64 - bits);
            (i128::from(signed) + (1 << (bits - 1))) as u64
        }
        Map::Bool => u64::from(number != 0),
        Map::Float if bits == 32 => {
            let value = f32::from_bits(number as u32);
            let bits = if value == 0.0 { 0 } else { value.to_bits() };
            u64::from(if (bits as i32) < 0 { !bits } else { bits + (1 << 31) })
        }
        Map::Float => {
            let value = f64::from_bits(number);
            let bits = if value == 0.0 { 0 } else { value.to_bits() };
            if (bits as i64) < 0 { !bits } else { bits + (1 << 63) }
        }
    }
}
