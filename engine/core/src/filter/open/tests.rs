//! Claims about open columns, against sets and fresh builds.

use std::collections::BTreeSet;

use bloomrf_kernels::blocked::{K_DEFAULT, contains};
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::{Answer, RangePlan, SizeClasses, hash};

use self::seeded::Splitmix;
use super::*;
use crate::filter::{Filter, FilterPolicy, SealedColumn, Top16, narrow_hash};
use crate::schema::{CellKey, Schema};

#[path = "../../../tests/seeded/mod.rs"]
mod seeded;

const COLUMNS: &str = r#"{"name": "all", "version": 1, "columns": [
    {"name": "u8", "type": "u8", "nullable": true},
    {"name": "i16", "type": "i16"},
    {"name": "u32", "type": "u32", "order": "big"},
    {"name": "ip", "type": "ipv4", "nullable": true},
    {"name": "mac", "type": "mac"},
    {"name": "ts", "type": "timestamp(ns)"},
    {"name": "f64", "type": "f64", "nullable": true},
    {"name": "f32", "type": "f32"},
    {"name": "ip6", "type": "ipv6"},
    {"name": "text", "type": "bytes(20)", "nullable": true},
    {"name": "tag", "type": "bytes(3)"}]}"#;

fn schema() -> Schema {
    Schema::from_json(COLUMNS).unwrap()
}

fn policy(levels: u32) -> FilterPolicy {
    FilterPolicy {
        budget: Budget { bits_per_key: 8, levels },
        sizes: SizeClasses::new(1_024),
        seed: 77,
        filtered: vec![true; 11],
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
        exact_keys_max: 0,
    }
}

/// Random rows with edge values: zeros, ones, NaN payloads, negative zero, nulls.
fn rows(schema: &Schema, count: usize, chance: &mut Splitmix) -> Vec<u8> {
    let mut rows = vec![0; count * schema.record_bytes()];
    for record in rows.chunks_exact_mut(schema.record_bytes()) {
        record[0] = chance.next() as u8 & 0x0F & chance.next() as u8;
        for column in schema.columns() {
            let cell = &mut record[column.offset()..][..column.width()];
            match chance.next() % 8 {
                0 => cell.fill(0),
                1 => cell.fill(0xFF),
                2 if cell.len() == 8 => cell.copy_from_slice(&(-0.0f64).to_le_bytes()),
                _ => cell.fill_with(|| chance.next() as u8),
            }
        }
    }
    rows
}

fn built(policy: &FilterPolicy, schema: &Schema, rows: &[u8], records: u64) -> Vec<OpenColumn> {
    let columns = schema.columns().iter().zip(policy.open_shapes(schema, records));
    columns
        .map(|(column, shape)| {
            let mut open = OpenColumn::new(column, shape);
            open.insert_rows(column, rows, schema.record_bytes());
            open
        })
        .collect()
}

fn may_hold(filter: &Filter, key: CellKey<'_>) -> bool {
    match (filter, key) {
        (Filter::None, _) => true,
        (Filter::Bitmap8(words), CellKey::Narrow(k)) => bitmap::any(words, k as u16, k as u16),
        (Filter::Bitmap16(words), CellKey::Narrow(k)) => bitmap::any(words, k as u16, k as u16),
        (Filter::List16(list), CellKey::Narrow(k)) => list.binary_search(&(k as u16)).is_ok(),
        (Filter::Near16 { base, offsets }, CellKey::Narrow(k)) => {
            k.checked_sub(*base).is_some_and(|o| offsets.holds(o))
        }
        (Filter::Exact(keys), CellKey::Narrow(k)) => keys.any(k, k),
        (Filter::BloomRf { layers, hashed, top }, CellKey::Narrow(k)) => {
            let mut plan = RangePlan::default();
            plan.build(layers, k, k, 256);
            plan.run(hashed, top.view()) == Answer::Maybe
        }
        (Filter::Blocked { seed, blocks }, CellKey::Narrow(k)) => {
            contains(K_DEFAULT, blocks, narrow_hash(k, *seed))
        }
        (Filter::Blocked { seed, blocks }, CellKey::Wide(k)) => {
            contains(K_DEFAULT, blocks, hash::bytes(k, *seed))
        }
        other => panic!("kind and key do not fit: {other:?}"),
    }
}

/// Bounds and keys by another road: a sorted set of byte strings in key order.
fn check_against_set(column: &Column, sealed: &SealedColumn, rows: &[u8], record_bytes: usize) {
    let (mut keys, mut nulls, mut nans) = (BTreeSet::new(), false, false);
    for record in rows.chunks_exact(record_bytes) {
        match column.key(record) {
            CellKey::Null => nulls = true,
            CellKey::Nan => nans = true,
            key => {
                assert!(may_hold(&sealed.filter, key), "{} lost {key:?}", column.name());
                keys.insert(match key {
                    CellKey::Wide(bytes) => bytes.to_vec(),
                    CellKey::Narrow(k) => k.to_be_bytes().to_vec(),
                    _ => unreachable!(),
                });
            }
        }
    }
    let flags = ColumnFlags { has_value: !keys.is_empty(), has_null: nulls, has_nan: nans };
    assert_eq!(sealed.flags, flags, "{}", column.name());
    let pad = |bytes: &Vec<u8>| {
        let mut bytes = bytes.clone();
        bytes.resize(16.max(bytes.len()), 0);
        bytes[..16].iter().fold(0u128, |key, &b| key << 8 | u128::from(b))
    };
    let narrow = |bytes: &Vec<u8>| bytes.iter().fold(0u64, |key, &b| key << 8 | u64::from(b));
    let ends = keys.first().zip(keys.last());
    match sealed.zone {
        ColumnZone::Narrow(zone) => {
            assert_eq!(zone.bounds(), ends.map(|(a, b)| (narrow(a), narrow(b))));
        }
        ColumnZone::Wide(zone) => assert_eq!(zone.bounds(), ends.map(|(a, b)| (pad(a), pad(b)))),
    }
}

#[test]
fn every_key_of_every_type_is_found_and_bounded() {
    let mut chance = Splitmix::from_env(1);
    let schema = schema();
    // 255..=257: the borders of the chunks in which keys are inserted.
    for count in [1, 2, 255, 256, 257, 1_000] {
        for levels in [1, 4] {
            let rows = rows(&schema, count, &mut chance);
            let policy = policy(levels);
            for expected in [1, count as u64, 100_000] {
                let open = built(&policy, &schema, &rows, expected);
                for (column, open) in schema.columns().iter().zip(open) {
                    let sealed = open.seal(&policy, count as u64);
                    check_against_set(column, &sealed, &rows, schema.record_bytes());
                }
            }
        }
    }
}

#[test]
fn merged_shares_equal_one_build_even_when_sizes_differ() {
    let mut chance = Splitmix::from_env(1);
    let schema = schema();
    let rows = rows(&schema, 600, &mut chance);
    let cut = 200 * schema.record_bytes();
    for levels in [1, 4] {
        let policy = policy(levels);
        for (ours, theirs) in [(600, 600), (600, 40_000), (40_000, 600), (500, 31_000)] {
            let mut left = built(&policy, &schema, &rows[..cut], ours);
            let right = built(&policy, &schema, &rows[cut..], theirs);
            for ((left, right), column) in left.iter_mut().zip(&right).zip(schema.columns()) {
                left.merge(policy.kernel, right);
                let mut fresh = OpenColumn::new(column, *left.shape());
                fresh.insert_rows(column, &rows, schema.record_bytes());
                assert!(*left == fresh, "{} {levels} {ours} {theirs}", column.name());
            }
        }
    }
}

#[test]
fn keys_are_stored_exactly_where_they_take_no_more_than_a_filter() {
    let mut chance = Splitmix::from_env(3);
    let text = r#"{"name": "kinds", "version": 1, "columns": [
        {"name": "ts", "type": "timestamp(ns)"}, {"name": "ip", "type": "ipv4"},
        {"name": "id", "type": "u64"}, {"name": "few", "type": "mac"}]}"#;
    let schema = Schema::from_json(text).unwrap();
    let policy = FilterPolicy { exact_keys_max: 10_000, ..policy(4) };
    let plain = FilterPolicy { exact_keys_max: 0, ..policy.clone() };
    let few: Vec<u64> = (0..5).map(|_| chance.next() >> 16).collect();
    let mut rows = Vec::new();
    for i in 0..8_000u64 {
        rows.extend((1_700_000_000_000_000_000 + i * 900 + chance.next() % 900).to_le_bytes());
        rows.extend((0x0A00_0000 | (chance.next() as u32 % 3_000)).to_be_bytes());
        rows.extend(chance.next().to_le_bytes());
        rows.extend(&few[(chance.next() % 5) as usize].to_be_bytes()[2..]);
    }
    let cut = 3_000 * schema.record_bytes();
    for (ordinal, (column, exact)) in
        schema.columns().iter().zip([true, true, false, true]).enumerate()
    {
        let share = |policy: &FilterPolicy, rows: &[u8]| {
            let shape = policy.open_shape(ordinal, column, 8_000);
            let mut open = OpenColumn::reserve(column, shape, policy, None);
            open.insert_rows(column, rows, schema.record_bytes());
            open
        };
        let seal = |policy: &FilterPolicy| {
            let (mut a, mut b) = (share(policy, &rows[..cut]), share(policy, &rows[cut..]));
            OpenColumn::seal_shares(&mut [&mut a, &mut b], policy, 8_000)
        };
        let (sealed, without) = (seal(&policy), seal(&plain));
        assert_eq!(matches!(sealed.filter, Filter::Exact(_)), exact, "{}", column.name());
        assert!(sealed.filter.bytes() <= without.filter.bytes());
        check_against_set(column, &sealed, &rows, schema.record_bytes());
        if exact {
            assert_eq!(sealed.filter.fpr(), 0.0);
            for _ in 0..1_000 {
                let CellKey::Narrow(key) = column.key(&rows) else { panic!("a narrow key") };
                let near = key.wrapping_add(chance.next() % 100_000);
                let held = rows
                    .chunks_exact(schema.record_bytes())
                    .any(|record| column.key(record) == CellKey::Narrow(near));
                if near >> 48 == key >> 48 {
                    assert_eq!(may_hold(&sealed.filter, CellKey::Narrow(near)), held);
                }
            }
        }
    }
}

#[test]
fn reset_column_equals_a_new_one() {
    let mut chance = Splitmix::from_env(1);
    let schema = schema();
    let policy = policy(4);
    let rows = rows(&schema, 100, &mut chance);
    for (ordinal, column) in schema.columns().iter().enumerate() {
        let mut used = OpenColumn::new(column, policy.open_shape(ordinal, column, 10_000));
        used.insert_rows(column, &rows, schema.record_bytes());
        for records in [100, 50_000] {
            let shape = policy.open_shape(ordinal, column, records);
            used.reset(shape);
            assert!(used == OpenColumn::new(column, shape));
        }
    }
}

#[test]
fn column_of_nulls_and_nans_becomes_tiny() {
    let schema = schema();
    let mut rows = vec![0; 500 * schema.record_bytes()];
    for record in rows.chunks_exact_mut(schema.record_bytes()) {
        record[0] = 0xFF;
        let at = schema.columns()[7].offset();
        record[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    }
    let policy = policy(4);
    let open = built(&policy, &schema, &rows, 65_536);
    for ordinal in [0, 3, 6, 7, 9] {
        let sealed = open[ordinal].seal(&policy, 500);
        assert!(!sealed.flags.has_value);
        assert_eq!((sealed.flags.has_null, sealed.flags.has_nan), (ordinal != 7, ordinal == 7));
        assert!(sealed.filter.bytes() <= 64, "{ordinal}: {} bytes", sealed.filter.bytes());
        match sealed.zone {
            ColumnZone::Narrow(zone) => assert_eq!(zone.bounds(), None),
            ColumnZone::Wide(zone) => assert_eq!(zone.bounds(), None),
        }
    }
}

#[test]
fn exact_maps_are_stored_in_the_smaller_form() {
    let schema = Schema::from_json(
        r#"{"name": "ports", "version": 1, "columns": [
            {"name": "port", "type": "u16"}, {"name": "ip", "type": "u32", "order": "big"}]}"#,
    )
    .unwrap();
    let policy = policy(4);
    for (distinct, is_list) in [(0u32, true), (1, true), (4_095, true), (4_096, false)] {
        let mut rows = vec![0; distinct as usize * 6];
        for (value, record) in (0u16..).zip(rows.chunks_exact_mut(6)) {
            record[..2].copy_from_slice(&value.wrapping_mul(15).to_le_bytes());
            record[2..4].copy_from_slice(&value.wrapping_mul(15).to_be_bytes());
        }
        let open = built(&policy, &schema, &rows, u64::from(distinct));
        let port = open[0].seal(&policy, distinct.into());
        assert_eq!(matches!(port.filter, Filter::List16(_)), is_list, "{distinct}");
        assert_eq!(port.filter.bytes(), if is_list { 2 * distinct as usize } else { 8_192 });
        let top = match open[1].seal(&policy, distinct.into()).filter {
            Filter::BloomRf { top, .. } => top,
            Filter::Near16 { offsets, .. } if distinct == 1 => offsets,
            other => panic!("4-byte numbers get a bloomRF: {:?}", other.kind()),
        };
        assert_eq!(matches!(top, Top16::List(_)), is_list, "{distinct}");
    }
}

#[test]
fn keys_less_than_65536_apart_are_kept_exactly() {
    let schema = Schema::from_json(
        r#"{"name": "near", "version": 1, "columns": [{"name": "n", "type": "u32"}]}"#,
    )
    .unwrap();
    let policy = policy(4);
    for base in [0u32, 1, 65_000, 70_000, u32::MAX - 65_535] {
        for (last, is_near) in [(65_535u64, true), (65_536, false)] {
            let Ok(last) = u32::try_from(u64::from(base) + last) else { continue };
            for stride in [5_000, 7] {
                let keys: Vec<u32> = (base..last).step_by(stride).chain([last]).collect();
                let rows: Vec<u8> = keys.iter().flat_map(|k| k.to_le_bytes()).collect();
                let filter = built(&policy, &schema, &rows, 100)[0].seal(&policy, 100).filter;
                assert_eq!(matches!(filter, Filter::Near16 { .. }), is_near, "{base} {last}");
                let held = |key| may_hold(&filter, CellKey::Narrow(u64::from(key)));
                assert!(keys.iter().all(|&key| held(key)), "{base} {last}: a key is lost");
                if is_near {
                    let beside = keys.iter().map(|&k| k.wrapping_add(1));
                    assert!(beside.filter(|k| !keys.contains(k)).all(|k| !held(k)));
                    assert!(filter.bytes() <= (2 * keys.len()).min(8_192));
                }
            }
        }
    }
}
