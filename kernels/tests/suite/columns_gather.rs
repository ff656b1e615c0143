//! Rows to columns of keys, on every kernel set, against typed values read one by one.

use bloomrf_kernels::Kernel;
use bloomrf_kernels::columns::{Field, Gather, GatherError, KeyChunk, KeysRef, Map, Order};
use bloomrf_kernels::digest;

use crate::seeded::Splitmix;

/// The key of the cell at `field.offset` of `record`, from the typed value.
pub(crate) fn naive_key(field: &Field, record: &[u8]) -> u64 {
    let mut cell = record[field.offset..field.offset + field.width].to_vec();
    if field.order == Order::Big {
        cell.reverse();
    }
    let number = cell.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    let bits = 8 * field.width as u32;
    match field.map {
        Map::Unsigned => number,
        Map::Signed => {
            let signed = (number << (64 - bits)) as i64 >> (64 - bits);
            (i128::from(signed) + (1 << (bits - 1))) as u64
        }
        Map::Bool => u64::from(cell.iter().any(|&byte| byte != 0)),
        Map::Float if bits == 32 => {
            let mut value = f32::from_bits(number as u32);
            if value == 0.0 {
                value = 0.0;
            }
            let bits = value.to_bits();
            u64::from(if value.is_sign_negative() { !bits } else { bits + (1 << 31) })
        }
        Map::Float => {
            let mut value = f64::from_bits(number);
            if value == 0.0 {
                value = 0.0;
            }
            let bits = value.to_bits();
            if value.is_sign_negative() { !bits } else { bits + (1 << 63) }
        }
    }
}

fn naive_null(field: &Field, record: &[u8]) -> bool {
    field.null_bit.is_some_and(|bit| record[usize::from(bit) / 8] >> (bit % 8) & 1 == 1)
}

/// What the chunk holds, against `records`.
fn assert_holds(chunk: &KeyChunk, fields: &[Field], records: &[&[u8]], case: &str) {
    assert_eq!(chunk.rows(), records.len(), "{case}");
    for (i, field) in fields.iter().enumerate() {
        let keys: Vec<u64> = match chunk.column(i) {
            KeysRef::U8(keys) => keys.iter().map(|&key| key.into()).collect(),
            KeysRef::U16(keys) => keys.iter().map(|&key| key.into()).collect(),
            KeysRef::U32(keys) => keys.iter().map(|&key| key.into()).collect(),
            KeysRef::U64(keys) => keys.to_vec(),
        };
        let expected: Vec<u64> = records.iter().map(|r| naive_key(field, r)).collect();
        assert_eq!(keys, expected, "field {i} {field:?}, {case}");
        assert_eq!(chunk.nulls(i).is_some(), field.null_bit.is_some());
        if let Some(nulls) = chunk.nulls(i) {
            assert_eq!(nulls.len(), records.len().div_ceil(64));
            for (row, record) in records.iter().enumerate() {
                let null = nulls[row / 64] >> (row % 64) & 1 == 1;
                assert_eq!(null, naive_null(field, record), "row {row}, {field:?}, {case}");
            }
        }
    }
}

/// `count` records in an allocation that ends with the last of them; many cells are extreme.
fn records(random: &mut Splitmix, record_bytes: usize, count: usize) -> Box<[u8]> {
    let mut rows = Vec::with_capacity(record_bytes * count);
    while rows.len() < record_bytes * count {
        let left = record_bytes * count - rows.len();
        let word = match random.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << 63,
            3 => (-0.0f32).to_bits().into(),
            4 => u64::from(f32::NAN.to_bits()) << 32 | u64::from(f32::INFINITY.to_bits()),
            5 => 0x80 << random.below(57),
            _ => random.next(),
        };
        rows.extend_from_slice(&word.to_le_bytes()[..left.min(8)]);
    }
    rows.into_boxed_slice()
}

fn shapes() -> Vec<(usize, Order, Map)> {
    let mut shapes = Vec::new();
    for width in [1, 2, 4, 6, 8] {
        for order in [Order::Little, Order::Big] {
            for map in [Map::Unsigned, Map::Signed, Map::Bool, Map::Float] {
                if map != Map::Float || width == 4 || width == 8 {
                    shapes.push((width, order, map));
                }
            }
        }
    }
    shapes
}

#[test]
fn every_width_order_map_and_offset_gathers_the_typed_keys() {
    let mut random = Splitmix::of("every_width_order_map_and_offset_gathers_the_typed_keys");
    for (width, order, map) in shapes() {
        for offset in 0..=70 {
            let null_bit = (offset > 0).then(|| random.below(8 * offset as u64) as u16);
            let fields = [Field { offset, width, order, map, null_bit }];
            let record_bytes = offset + width + random.below(3) as usize;
            let gather = Gather::new(record_bytes, &fields).unwrap();
            for count in [1, 8, 23] {
                let rows = records(&mut random, record_bytes, count);
                let expected: Vec<&[u8]> = rows.chunks(record_bytes).collect();
                for kernel in Kernel::all() {
                    let mut chunk = KeyChunk::new(&gather, count);
                    assert_eq!(gather.append(kernel, &rows, &mut chunk), count);
                    chunk.commit(count);
                    assert_holds(&chunk, &fields, &expected, &format!("{kernel}, {count} rows"));
                }
            }
        }
    }
}

/// A wide record of every shape, back to back from `first` on; every second field may be null.
fn wide_schema(first: usize) -> (usize, Vec<Field>) {
    let mut offset = first;
    let mut fields = Vec::new();
    for (i, (width, order, map)) in shapes().into_iter().enumerate() {
        let null_bit = (i % 2 == 1).then_some(i as u16 / 2);
        fields.push(Field { offset, width, order, map, null_bit });
        offset += width + i % 3;
    }
    (offset, fields)
}

#[test]
fn every_row_count_gathers_the_same_on_every_set() {
    let mut random = Splitmix::of("every_row_count_gathers_the_same_on_every_set");
    let (bytes, fields) = wide_schema(5);
    let gather = Gather::new(bytes, &fields).unwrap();
    for count in (0..=100).chain([4_097]) {
        let rows = records(&mut random, bytes, count);
        let expected: Vec<&[u8]> = rows.chunks(bytes).collect();
        for kernel in Kernel::all() {
            let mut chunk = KeyChunk::new(&gather, count);
            let digest = gather.append_digest(kernel, &rows, &mut chunk);
            assert_eq!(digest, xxhash_rust::xxh3::xxh3_128(&rows), "{kernel}, {count} rows");
            chunk.commit(count);
            assert_holds(&chunk, &fields, &expected, &format!("{kernel}, {count} rows"));
        }
    }
}

/// The 64-byte record of the benchmarks, with a null bitmap in its last bytes' place.
fn line_schema() -> Vec<Field> {
    let field = |offset, width, order, map| Field { offset, width, order, map, null_bit: None };
    vec![
        Field { null_bit: Some(2), ..field(1, 8, Order::Little, Map::Signed) },
        field(9, 8, Order::Little, Map::Unsigned),
        field(17, 4, Order::Big, Map::Unsigned),
        Field { null_bit: Some(7), ..field(30, 4, Order::Big, Map::Float) },
        field(40, 6, Order::Big, Map::Unsigned),
        field(62, 2, Order::Big, Map::Unsigned),
        field(46, 1, Order::Little, Map::Bool),
    ]
}

#[test]
fn records_of_a_line_give_keys_and_digest_in_one_pass() {
    let mut random = Splitmix::of("records_of_a_line_give_keys_and_digest_in_one_pass");
    let fields = line_schema();
    let gather = Gather::new(64, &fields).unwrap();
    for count in (0..=150).chain([1_000, 4_097]) {
        let rows = records(&mut random, 64, count);
        let expected: Vec<&[u8]> = rows.chunks(64).collect();
        for kernel in Kernel::all() {
            let mut chunk = KeyChunk::new(&gather, count);
            let digest = gather.append_digest(kernel, &rows, &mut chunk);
            assert_eq!(digest, xxhash_rust::xxh3::xxh3_128(&rows), "{kernel}, {count} rows");
            assert_eq!(digest, digest::xxh3_128(kernel, &rows));
            chunk.commit(count);
            assert_holds(&chunk, &fields, &expected, &format!("{kernel}, {count} rows"));
        }
    }
}

#[test]
fn refused_frames_leave_no_trace_in_a_chunk() {
    let mut random = Splitmix::of("refused_frames_leave_no_trace_in_a_chunk");
    for (bytes, fields) in [(64, line_schema()), wide_schema(3)] {
        let gather = Gather::new(bytes, &fields).unwrap();
        for kernel in Kernel::all() {
            let mut chunk = KeyChunk::new(&gather, 300);
            for round in 0..6 {
                let mut kept = Vec::new();
                loop {
                    let count = 1 + random.below(45) as usize;
                    if count > chunk.room() {
                        break;
                    }
                    let rows = records(&mut random, bytes, count);
                    gather.append_digest(kernel, &rows, &mut chunk);
                    let counted = [count, count, 0, count / 2][random.below(4) as usize];
                    chunk.commit(counted);
                    kept.extend(rows.chunks(bytes).take(counted).map(<[u8]>::to_vec));
                }
                let expected: Vec<&[u8]> = kept.iter().map(Vec::as_slice).collect();
                assert_holds(&chunk, &fields, &expected, &format!("{kernel}, round {round}"));
                assert_holds(&chunk.clone(), &fields, &expected, "a copy");
                chunk.clear();
                assert_eq!((chunk.rows(), chunk.room()), (0, 300));
            }
        }
    }
}

#[test]
fn columns_of_a_chunk_start_in_different_cache_sets() {
    let field = |offset| Field {
        offset,
        width: 8,
        order: Order::Little,
        map: Map::Unsigned,
        null_bit: None,
    };
    let fields: Vec<Field> = (0..12).map(|i| field(8 * i)).collect();
    let gather = Gather::new(96, &fields).unwrap();
    for rows_max in [512, 4_096, 16_384, 65_536] {
        let mut chunk = KeyChunk::new(&gather, rows_max);
        gather.append(Kernel::Scalar, &[0; 96], &mut chunk);
        chunk.commit(1);
        let mut lines: Vec<usize> = (0..12)
            .map(|i| match chunk.column(i) {
                KeysRef::U64(keys) => keys.as_ptr() as usize % 4_096 / 64,
                other => panic!("{other:?}"),
            })
            .collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 12, "{rows_max} rows");
    }
}

#[test]
fn records_that_cannot_be_are_refused() {
    assert_eq!(Gather::new(0, &[]).unwrap_err(), GatherError::RecordBytes { bytes: 0 });
    let long = Gather::RECORD_BYTES_MAX + 1;
    assert_eq!(Gather::new(long, &[]).unwrap_err(), GatherError::RecordBytes { bytes: long });
    let gather = Gather::new(64, &[]).unwrap();
    for kernel in Kernel::all() {
        let mut chunk = KeyChunk::new(&gather, 9);
        assert_eq!(
            gather.append_digest(kernel, &[7; 576], &mut chunk),
            xxhash_rust::xxh3::xxh3_128(&[7; 576])
        );
    }
}

#[test]
#[should_panic(expected = "whole records")]
fn half_a_record_is_refused() {
    let gather = Gather::new(64, &[]).unwrap();
    gather.append(Kernel::best(), &[0; 96], &mut KeyChunk::new(&gather, 9));
}

#[test]
#[should_panic(expected = "room for 2")]
fn rows_past_the_room_are_refused() {
    let gather = Gather::new(64, &line_schema()).unwrap();
    gather.append_digest(Kernel::best(), &[0; 320], &mut KeyChunk::new(&gather, 2));
}

#[test]
fn a_chunk_of_other_fields_is_refused_on_every_set() {
    let field = |width, null_bit| Field {
        offset: 1,
        width,
        order: Order::Little,
        map: Map::Unsigned,
        null_bit,
    };
    let gather = |width, null_bit| Gather::new(9, &[field(width, null_bit)]).unwrap();
    let asked = gather(8, Some(0));
    for other in [gather(4, Some(0)), gather(1, Some(0)), gather(8, None)] {
        for kernel in Kernel::all() {
            let mut chunk = KeyChunk::new(&other, 20);
            let append = std::panic::AssertUnwindSafe(|| {
                asked.append(kernel, &[0xFF; 90], &mut chunk);
            });
            assert!(std::panic::catch_unwind(append).is_err(), "{kernel} cut keys short");
        }
    }
    // Six bytes are kept as eight.
    assert_eq!(
        gather(6, Some(0)).append(Kernel::best(), &[0; 9], &mut KeyChunk::new(&asked, 1)),
        1
    );
}
