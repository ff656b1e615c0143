//! The key map keeps the values' order, on both of its sides: cells and literals.
//!
//! The oracle's decoder and comparison are the truth: they share nothing with the key map.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod seeded;
mod truth;

use std::cmp::Ordering;

use bloomrf_engine::schema::{CellKey, Column, ColumnType, Fit, Schema, TimeUnit};
use bloomrf_oracle::{Expr, FloatRule, Op, Value, decode_row, matches_row};
use seeded::Splitmix;

fn schema(kind: &str, order: &str) -> Schema {
    let order = if order.is_empty() { String::new() } else { format!(", order = \"{order}\"") };
    let column = format!("{{ name = \"v\", type = \"{kind}\"{order} }}");
    Schema::from_toml(&format!("name = \"s\"\nversion = 1\ncolumns = [{column}]")).unwrap()
}

fn truth_order(a: &Value, b: &Value) -> Ordering {
    let holds = |op| {
        let expr = Expr::Compare(0, op, b.clone());
        matches_row(&expr, std::slice::from_ref(a), FloatRule::Ieee) == Some(true)
    };
    match (holds(Op::Lt), holds(Op::Eq), holds(Op::Gt)) {
        (true, false, false) => Ordering::Less,
        (false, true, false) => Ordering::Equal,
        (false, false, true) => Ordering::Greater,
        other => panic!("{a:?} ? {b:?}: {other:?}"),
    }
}

fn key_order(a: CellKey<'_>, b: CellKey<'_>) -> Ordering {
    match (a, b) {
        (CellKey::Narrow(a), CellKey::Narrow(b)) => a.cmp(&b),
        (CellKey::Wide(a), CellKey::Wide(b)) => a.cmp(b),
        other => panic!("{other:?}"),
    }
}

/// Random cells, and cells near every edge of the type, as bytes.
fn cells(column: &Column, rng: &mut Splitmix) -> Vec<Vec<u8>> {
    let width = column.width();
    let mut cells: Vec<Vec<u8>> = (0..200).map(|_| rng.bytes(width)).collect();
    for fill in [0x00, 0xff, 0x80, 0x7f] {
        cells.push(vec![fill; width]);
        for at in [0, width - 1] {
            for byte in [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff] {
                let mut cell = vec![fill; width];
                cell[at] = byte;
                cells.push(cell);
            }
        }
    }
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        5e-324,
        -5e-324,
        1e-45,
        3.5,
        -3.5,
        16_777_217.0,
        9e15,
    ];
    let big = column.order() == bloomrf_engine::schema::ByteOrder::Big;
    for v in floats.iter().chain(&[f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)]) {
        cells.extend(
            match column.kind() {
                ColumnType::F32 => Some((*v as f32).to_le_bytes().to_vec()),
                ColumnType::F64 => Some(v.to_le_bytes().to_vec()),
                _ => None,
            }
            .map(|mut c| {
                if big {
                    c.reverse();
                }
                c
            }),
        );
    }
    cells
}

/// All pairs of cells compare by key as the oracle compares their values.
fn assert_order(kind: &str, order: &str, cells: &[Vec<u8>], seed: u64) {
    let schema = schema(kind, order);
    let (column, fields) = (&schema.columns()[0], truth::fields(&schema));
    let bits = column.kind().key_class();
    let rows: Vec<(Value, CellKey<'_>)> =
        cells.iter().map(|cell| (decode_row(&fields, cell).remove(0), column.key(cell))).collect();
    for (a, ak) in &rows {
        if matches!(a, Value::Float(v) if v.is_nan()) {
            assert_eq!(*ak, CellKey::Nan, "seed={seed} {kind}");
            continue;
        }
        if let (CellKey::Narrow(key), bloomrf_engine::schema::KeyClass::Narrow { bits }) =
            (ak, bits)
        {
            assert!(bits == 64 || *key < 1 << bits, "{kind}: {key:#x}");
            let (low, high) = column.kind().key_bounds().unwrap();
            assert!((low..=high).contains(key), "{kind}: {key:#x} outside {low:#x}..={high:#x}");
        }
        for (b, bk) in &rows {
            if *bk != CellKey::Nan {
                let at = format!("seed={seed} {kind} {order}: {a:?} ? {b:?}");
                assert_eq!(key_order(*ak, *bk), truth_order(a, b), "{at}");
            }
        }
    }
}

#[test]
fn keys_of_one_byte_keep_the_order_of_all_values() {
    let all: Vec<Vec<u8>> = (0..=255).map(|b| vec![b]).collect();
    for kind in ["u8", "i8", "bool", "bytes(1)"] {
        assert_order(kind, "", &all, 0);
    }
}

#[test]
fn keys_of_two_bytes_keep_the_order_of_all_values() {
    for (kind, order) in [("u16", "little"), ("u16", "big"), ("i16", "little"), ("i16", "big")] {
        let schema = schema(kind, order);
        let (column, fields) = (&schema.columns()[0], truth::fields(&schema));
        let mut rows: Vec<(i128, u64)> = (0..=u16::MAX)
            .map(|bits| {
                let cell = bits.to_le_bytes();
                match (decode_row(&fields, &cell).remove(0), column.key(&cell)) {
                    (Value::Int(value), CellKey::Narrow(key)) => (value, key),
                    other => panic!("{other:?}"),
                }
            })
            .collect();
        rows.sort_unstable();
        let keys: Vec<u64> = rows.iter().map(|&(_, key)| key).collect();
        assert_eq!(keys, (0..=u64::from(u16::MAX)).collect::<Vec<u64>>(), "{kind} {order}");
    }
}

/// ClickHouse#8317: negative integers never found; awitten1: -0.0 stored, 0.0 not found.
#[test]
fn keys_of_every_type_keep_the_order_of_random_and_edge_values() {
    let mut rng = Splitmix::from_env(0x5eed);
    for kind in [
        "u32",
        "u64",
        "i32",
        "i64",
        "f32",
        "f64",
        "timestamp(s)",
        "timestamp(ns)",
        "ipv4",
        "ipv6",
        "mac",
        "uuid",
        "bytes(7)",
        "bytes(40)",
    ] {
        for order in ["little", "big"] {
            let numeric = kind.parse::<ColumnType>().unwrap().has_order();
            let order = if numeric { order } else { "" };
            let cells = cells(&schema(kind, order).columns()[0], &mut rng);
            assert_order(kind, order, &cells, rng.seed);
        }
    }
}

/// duckdb#23921: NaN with other payload bits.
#[test]
fn every_nan_is_one_class_and_zeros_are_one_key() {
    let schema32 = schema("f32", "little");
    let schema64 = schema("f64", "little");
    let (f32s, f64s) = (&schema32.columns()[0], &schema64.columns()[0]);
    for bits in [0x7fc0_0000u32, 0x7f80_0001, 0xffc0_0000, 0xffff_ffff] {
        assert_eq!(f32s.key(&bits.to_le_bytes()), CellKey::Nan);
    }
    for bits in [0x7ff8_0000_0000_0000u64, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_1234, u64::MAX] {
        assert_eq!(f64s.key(&bits.to_le_bytes()), CellKey::Nan);
    }
    assert_eq!(f32s.key(&(-0.0f32).to_le_bytes()), f32s.key(&0.0f32.to_le_bytes()));
    assert_eq!(f64s.key(&(-0.0f64).to_le_bytes()), f64s.key(&0.0f64.to_le_bytes()));
}

/// A literal's fit divides the cells exactly as the oracle's comparison does.
fn assert_fit(kind: &str, literal: &Value, fit: Fit, cells: &[Vec<u8>]) {
    let schema = schema(kind, "");
    let (column, fields) = (&schema.columns()[0], truth::fields(&schema));
    for cell in cells {
        let CellKey::Narrow(key) = column.key(cell) else { continue };
        let value = decode_row(&fields, cell).remove(0);
        let by_fit = match fit {
            Fit::Exact(exact) => key.cmp(&exact),
            Fit::Gap { below, .. } if below.is_some_and(|below| key <= below) => Ordering::Less,
            Fit::Gap { above, .. } if above.is_some_and(|above| key >= above) => Ordering::Greater,
            Fit::Gap { .. } => panic!("{kind}: {value:?} has key {key:#x} inside {fit:?}"),
        };
        assert_eq!(
            by_fit,
            truth_order(&value, literal),
            "{kind}: {value:?} ? {literal:?}, {fit:?}"
        );
    }
}

#[test]
fn a_literal_fits_among_the_keys_where_it_lies_among_the_values() {
    let mut rng = Splitmix::from_env(0x5eed);
    let mut integers = vec![0, 1, -1, 127, 128, -128, -129, 255, 256, 65_535, 65_536];
    for bits in [31, 32, 53, 63, 64] {
        integers.extend([-2, -1, 0, 1, 2].map(|d| (1i128 << bits) + d));
        integers.extend([-2, -1, 0, 1, 2].map(|d| -(1i128 << bits) + d));
    }
    let mut floats: Vec<f64> = integers.iter().map(|&v| v as f64).collect();
    floats.extend([0.5, -0.5, -0.0, 254.5, 255.5, -128.5, 0.1, -0.1, 1e-320, 1e300, -1e300]);
    floats.extend([f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 3.5e38, 1e-46, -1e-46]);
    floats.extend((0..200).map(|_| f64::from_bits(rng.next())).filter(|v| !v.is_nan()));
    for kind in ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"] {
        let cells = cells(&schema(kind, "").columns()[0], &mut rng);
        let typed: ColumnType = kind.parse().unwrap();
        for &v in &integers {
            assert_fit(kind, &Value::Int(v), typed.fit_integer(v).unwrap(), &cells);
        }
        for &v in &floats {
            assert_fit(kind, &Value::Float(v), typed.fit_float(v).unwrap(), &cells);
        }
        assert_eq!(typed.fit_float(f64::NAN), None);
    }
    for kind in ["bool", "uuid", "bytes(4)", "ipv6"] {
        let typed: ColumnType = kind.parse().unwrap();
        assert_eq!((typed.fit_integer(1), typed.fit_float(1.0)), (None, None));
    }
}

#[test]
fn a_time_fits_whatever_the_two_units_are() {
    let mut rng = Splitmix::from_env(0x5eed);
    let units = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns];
    for column in units {
        let kind = format!("timestamp({column})");
        let typed: ColumnType = kind.parse().unwrap();
        let mut cells = cells(&schema(&kind, "").columns()[0], &mut rng);
        cells.extend((-3i64..=3).map(|v| v.to_le_bytes().to_vec()));
        for unit in units {
            let near = [-1_000_000_001, -1_000, -999, -1, 0, 1, 999, 1_000, 1_500, 2_000_000_000];
            let ends = [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX];
            for ticks in near.into_iter().chain(ends).chain((0..20).map(|_| rng.next() as i64)) {
                let literal = bloomrf_engine::predicate::Literal::Timestamp(ticks, unit);
                let fit = typed.fit_time(ticks, unit).unwrap();
                assert_fit(&kind, &truth::value(&literal), fit, &cells);
            }
        }
    }
    assert_eq!(ColumnType::I64.fit_time(0, TimeUnit::S), None);
}
