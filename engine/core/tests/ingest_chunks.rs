//! Rows that go in by chunks leave columns as rows that go in one at a time, bit for bit: on every
//! kernel set, whatever the sizes of chunks and frames, the types, byte orders and nulls, and
//! however each adaptive choice falls.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod seeded;

use bloomrf_engine::filter::{Dedupe, FilterPolicy, OpenColumn};
use bloomrf_engine::ingest::PendingRows;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Kernel, SizeClasses};
use seeded::Splitmix;

/// Every type, both byte orders, nulls; an odd record size.
const ALL: &str = r#"{"name": "all", "version": 1, "columns": [
    {"name": "u8", "type": "u8", "nullable": true}, {"name": "i8", "type": "i8"},
    {"name": "bool", "type": "bool"}, {"name": "u16", "type": "u16", "order": "big"},
    {"name": "i16", "type": "i16", "nullable": true}, {"name": "u32", "type": "u32"},
    {"name": "i32", "type": "i32", "order": "big"}, {"name": "f32", "type": "f32"},
    {"name": "near", "type": "u32", "nullable": true}, {"name": "ip", "type": "ipv4"},
    {"name": "mac", "type": "mac", "nullable": true}, {"name": "u64", "type": "u64"},
    {"name": "ts", "type": "timestamp(ns)", "order": "big"}, {"name": "i64", "type": "i64"},
    {"name": "f64", "type": "f64", "nullable": true, "order": "big"},
    {"name": "ip6", "type": "ipv6", "nullable": true}, {"name": "id", "type": "uuid"},
    {"name": "tag", "type": "bytes(3)"},
    {"name": "text", "type": "bytes(20)", "nullable": true}]}"#;

/// One cache line a record: the shape with its own kernel.
const LINE: &str = r#"{"name": "line", "version": 1, "record_bytes": 64, "columns": [
    {"name": "ts", "type": "timestamp(ns)"}, {"name": "counter", "type": "u64"},
    {"name": "src", "type": "ipv4"}, {"name": "dst", "type": "ipv4"},
    {"name": "length", "type": "u32"}, {"name": "sport", "type": "u16"},
    {"name": "dport", "type": "u16"}, {"name": "proto", "type": "u8"}]}"#;

/// A byte a record: frames of thousands.
const BYTE: &str = r#"{"name": "byte", "version": 1, "columns": [{"name": "b", "type": "i8"}]}"#;

/// How the cells of a column follow each other.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    /// Random bytes, many of them edge values.
    Edges,
    /// One value, all bits clear: the first key of every cache.
    Zeros,
    /// All bits set: greatest keys, and NaN.
    Ones,
    /// Two values in turn.
    Alternating,
    /// Rising by little; within 65,536 for most sizes.
    Rising,
    /// A hundred values.
    Few,
}

const PATTERNS: [Pattern; 6] = [
    Pattern::Edges,
    Pattern::Zeros,
    Pattern::Ones,
    Pattern::Alternating,
    Pattern::Rising,
    Pattern::Few,
];

fn rows(schema: &Schema, count: usize, pattern: Pattern, chance: &mut Splitmix) -> Vec<u8> {
    let mut rows = vec![0; count * schema.record_bytes()];
    let nulls = chance.below(3);
    let start = chance.next() >> 20;
    for (i, record) in rows.chunks_exact_mut(schema.record_bytes()).enumerate() {
        for byte in &mut record[..schema.null_bitmap_bytes()] {
            *byte = match nulls {
                0 => 0,
                1 => chance.next() as u8 & chance.next() as u8,
                _ => chance.next() as u8 | 0xF0,
            };
        }
        for column in schema.columns() {
            let cell = &mut record[column.offset()..][..column.width()];
            let number = match pattern {
                Pattern::Edges => {
                    match chance.below(8) {
                        0 => cell.fill(0),
                        1 => cell.fill(0xFF),
                        2 => {
                            cell.fill(0);
                            *cell.last_mut().unwrap() = 0x80;
                        }
                        _ => cell.fill_with(|| chance.next() as u8),
                    }
                    continue;
                }
                Pattern::Zeros => 0,
                Pattern::Ones => {
                    cell.fill(0xFF);
                    continue;
                }
                Pattern::Alternating => [7, u64::MAX << 13][i % 2],
                Pattern::Rising => start + i as u64 * 9,
                Pattern::Few => chance.below(100).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            };
            let (le, be) = (number.to_le_bytes(), number.to_be_bytes());
            let is_big = column.order() == bloomrf_engine::schema::ByteOrder::Big;
            let width = cell.len().min(8);
            let bytes = if is_big { &be[8 - width..] } else { &le[..width] };
            cell[..width].copy_from_slice(bytes);
        }
    }
    rows
}

fn policy(schema: &Schema, kernel: Kernel, levels: u32, max_kib: u32) -> FilterPolicy {
    FilterPolicy {
        budget: Budget { bits_per_key: 8, levels },
        sizes: SizeClasses::new(max_kib),
        seed: 0x5EED,
        // One column with a zone map only, where there are many.
        filtered: (0..schema.columns().len()).map(|ordinal| ordinal != 9).collect(),
        kernel,
        exact_keys_max: 0,
    }
}

fn open(schema: &Schema, policy: &FilterPolicy, sized: u64) -> Vec<OpenColumn> {
    let shapes = policy.open_shapes(schema, sized);
    schema.columns().iter().zip(shapes).map(|(c, shape)| OpenColumn::new(c, shape)).collect()
}

/// One row after the other.
fn by_rows(schema: &Schema, policy: &FilterPolicy, sized: u64, rows: &[u8]) -> Vec<OpenColumn> {
    let mut columns = open(schema, policy, sized);
    for (open, column) in columns.iter_mut().zip(schema.columns()) {
        open.insert_rows(column, rows, schema.record_bytes());
    }
    columns
}

/// Frames of `frame_rows` rows into `pending`, as a queue does it; every third frame is offered
/// twice and refused once. Checks digests and the count of rows.
fn by_chunks(
    schema: &Schema,
    pending: &mut PendingRows,
    columns: &mut [OpenColumn],
    rows: &[u8],
    frame_rows: usize,
) {
    let mut inserted = 0;
    pending.start();
    for (number, frame) in rows.chunks(frame_rows * schema.record_bytes()).enumerate() {
        let records = frame.len() / schema.record_bytes();
        for copy in 0..=usize::from(number % 3 == 2) {
            if pending.is_full_for(records) {
                inserted += pending.flush(columns);
            }
            let refused: Vec<u8> = frame.iter().map(|byte| byte ^ 0x5A).collect();
            let offered = if copy == 1 { &refused } else { frame };
            let hash = HashAlgorithm::ALL[usize::from(number % 5 == 4)];
            let digest = pending.append(hash, offered);
            if hash == HashAlgorithm::Xxh3 {
                let reference = xxhash_rust::xxh3::xxh3_128(offered).to_le_bytes();
                assert_eq!(digest[..16], reference, "{records} records");
            } else {
                assert_eq!(digest, *blake3::hash(offered).as_bytes());
            }
            if copy == 0 {
                pending.commit(schema, frame, columns);
            }
        }
    }
    inserted += pending.finish(columns);
    assert_eq!(inserted as usize * schema.record_bytes(), rows.len(), "every row went in");
    assert_eq!(pending.rows(), 0);
}

#[track_caller]
fn assert_same(schema: &Schema, chunked: &[OpenColumn], by_rows: &[OpenColumn], case: &str) {
    for ((chunked, by_rows), column) in chunked.iter().zip(by_rows).zip(schema.columns()) {
        assert!(chunked == by_rows, "{}: {case}", column.name());
    }
}

#[test]
fn chunked_columns_equal_row_by_row_columns_on_every_kernel_set() {
    let mut chance = Splitmix::from_env(1);
    for text in [ALL, LINE, BYTE] {
        let schema = Schema::from_json(text).unwrap();
        for kernel in Kernel::all() {
            for (at, pattern) in PATTERNS.into_iter().enumerate() {
                for count in [1, 2, 3, 8, 15, 17, 22, 64, 65, 333, 1_000] {
                    let levels = if (at + count) % 3 == 0 { 1 } else { 4 };
                    let policy = policy(&schema, kernel, levels, 1_024);
                    let rows = rows(&schema, count, pattern, &mut chance);
                    let sized = *chance.pick(&[1, count as u64, 20_000]);
                    let expected = by_rows(&schema, &policy, sized, &rows);
                    let chunk_rows = *chance.pick(&[1, 2, 7, 64, 100, 4_096]);
                    let frame_rows = *chance.pick(&[1, 3, 4, 17, 22, 23, 64]);
                    let dedupe = *chance.pick(&[Dedupe::Adaptive, Dedupe::Always, Dedupe::Never]);
                    let mut pending = PendingRows::new(&schema, &policy, chunk_rows, dedupe);
                    let mut columns = open(&schema, &policy, sized);
                    by_chunks(&schema, &mut pending, &mut columns, &rows, frame_rows);
                    let case = format!(
                        "{kernel} {pattern:?} {count} rows of {sized}, levels {levels}, chunks \
                         {chunk_rows}, frames {frame_rows}, {dedupe:?}"
                    );
                    assert_same(&schema, &columns, &expected, &case);
                }
            }
        }
    }
}

#[test]
fn adaptive_choices_leave_no_trace_in_the_bits() {
    let mut chance = Splitmix::from_env(2);
    let schema = Schema::from_json(LINE).unwrap();
    for pattern in [Pattern::Edges, Pattern::Rising, Pattern::Few] {
        // More than one chunk, and enough of them for a cache that did not pay to be tried again.
        let rows = rows(&schema, 10_000, pattern, &mut chance);
        for kernel in Kernel::all() {
            let policy = policy(&schema, kernel, 4, 1_024);
            for sized in [1_000, 10_000, 245_760] {
                let expected = by_rows(&schema, &policy, sized, &rows);
                for (dedupe, chunk_rows) in [
                    (Dedupe::Adaptive, 256),
                    (Dedupe::Adaptive, 4_096),
                    (Dedupe::Always, 4_096),
                    (Dedupe::Never, 8_192),
                ] {
                    let mut pending = PendingRows::new(&schema, &policy, chunk_rows, dedupe);
                    let mut columns = open(&schema, &policy, sized);
                    by_chunks(&schema, &mut pending, &mut columns, &rows, 22);
                    let case = format!("{kernel} {pattern:?} {sized} {dedupe:?} {chunk_rows}");
                    assert_same(&schema, &columns, &expected, &case);
                }
            }
        }
    }
}

#[test]
fn keys_of_one_batch_are_inserted_again_in_the_next() {
    let mut chance = Splitmix::from_env(3);
    let schema = Schema::from_json(ALL).unwrap();
    for kernel in Kernel::all() {
        let policy = policy(&schema, kernel, 4, 64);
        let mut pending = PendingRows::new(&schema, &policy, 64, Dedupe::Always);
        for pattern in PATTERNS {
            let rows = rows(&schema, 150, pattern, &mut chance);
            let expected = by_rows(&schema, &policy, 150, &rows);
            for batch in 0..3 {
                let mut columns = open(&schema, &policy, 150);
                by_chunks(&schema, &mut pending, &mut columns, &rows, 22);
                assert_same(&schema, &columns, &expected, &format!("{kernel} batch {batch}"));
            }
        }
    }
}

#[test]
fn shares_sealed_in_one_pass_equal_one_build_and_come_back_cleared() {
    let mut chance = Splitmix::from_env(4);
    for text in [ALL, LINE] {
        let schema = Schema::from_json(text).unwrap();
        for kernel in Kernel::all() {
            for (at, pattern) in PATTERNS.into_iter().enumerate() {
                let policy = policy(&schema, kernel, if at == 5 { 1 } else { 4 }, 64);
                let rows = rows(&schema, 700, pattern, &mut chance);
                let mut cuts = [0, 0, 0].map(|_| chance.below(701) as usize);
                cuts.sort_unstable();
                // Queues that opened with one size, and queues that did not.
                for sizes in [[700; 4], [700, 900, 700, 40_000], [20, 1, 300, 2]] {
                    let bounds = [0, cuts[0], cuts[1], cuts[2], 700];
                    let mut shares: Vec<Vec<OpenColumn>> = (0..4)
                        .map(|i| {
                            let bytes = schema.record_bytes();
                            let part = &rows[bounds[i] * bytes..bounds[i + 1] * bytes];
                            by_rows(&schema, &policy, sizes[i], part)
                        })
                        .collect();
                    for (ordinal, column) in schema.columns().iter().enumerate() {
                        let mut parts: Vec<&mut OpenColumn> =
                            shares.iter_mut().map(|share| &mut share[ordinal]).collect();
                        let sealed = OpenColumn::seal_shares(&mut parts, &policy, 700);
                        let mut fresh = OpenColumn::new(column, *parts[0].shape());
                        fresh.insert_rows(column, &rows, schema.record_bytes());
                        let case = format!("{kernel} {pattern:?} {sizes:?} {}", column.name());
                        assert!(sealed == fresh.seal(&policy, 700), "{case}");
                        for part in parts {
                            let shape = policy.open_shape(ordinal, column, 500);
                            part.reset(shape);
                            assert!(*part == OpenColumn::new(column, shape), "{case}: left over");
                        }
                    }
                }
            }
        }
    }
}
