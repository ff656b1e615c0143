//! Claims about shapes, sizes and stored bytes.

use super::*;
use crate::filter::{Filter, OpenColumn};

fn policy(levels: u32, max_kib: u32) -> FilterPolicy {
    FilterPolicy {
        budget: Budget { bits_per_key: 8, levels },
        sizes: SizeClasses::new(max_kib),
        seed: 3,
        filtered: vec![true; 256],
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
        exact_keys_max: 0,
    }
}

fn column(kind: &str) -> Schema {
    let text = format!(
        r#"{{"name": "one", "version": 1, "columns": [{{"name": "c", "type": "{kind}"}}]}}"#
    );
    Schema::from_json(&text).unwrap()
}

#[test]
fn kind_follows_the_width_of_the_column() {
    use FilterKind::{Bitmap8, Bitmap16, Blocked, BloomRf};
    let table = [
        ("u8", Bitmap8, Bitmap8),
        ("bool", Bitmap8, Bitmap8),
        ("i16", Bitmap16, Bitmap16),
        ("u32", BloomRf, Blocked),
        ("f32", BloomRf, Blocked),
        ("ipv4", BloomRf, Blocked),
        ("mac", BloomRf, Blocked),
        ("f64", BloomRf, Blocked),
        ("timestamp(us)", BloomRf, Blocked),
        ("uuid", Blocked, Blocked),
        ("ipv6", Blocked, Blocked),
        ("bytes(1)", Blocked, Blocked),
        ("bytes(200)", Blocked, Blocked),
    ];
    for (kind, usual, one_level) in table {
        let schema = column(kind);
        let first = &schema.columns()[0];
        let shape = policy(4, 1_024).open_shape(0, first, 1_000);
        assert_eq!(shape.kind, usual, "{kind}");
        assert_eq!(shape.layers.is_some(), usual == BloomRf, "{kind}");
        let four_bytes = shape.layers.is_some_and(|l| l.domain_bits() == 32);
        assert_eq!(shape.layers.is_some_and(|l| l.has_exact_top()), four_bytes, "{kind}");
        assert_eq!(policy(1, 1_024).open_shape(0, first, 1_000).kind, one_level, "{kind}");
        let zone_only = FilterPolicy { filtered: vec![false], ..policy(4, 1_024) };
        assert_eq!(zone_only.open_shape(0, first, 1_000).kind, FilterKind::None);
        assert_eq!(zone_only.open_shape(1, first, 1_000).words, 0, "not listed: not filtered");
    }
}

#[test]
fn open_size_pays_for_all_but_a_sixteenth_and_is_stored_unfolded() {
    for (kind, bits) in [("u64", 32), ("uuid", 8)] {
        let schema = column(kind);
        let policy = policy(4, 1_024);
        let largest = policy.sizes.words()[0];
        for records in (0..2_000).chain([65_536, 245_760, 245_761, 1 << 26, u64::MAX]) {
            let shape = policy.open_shape(0, &schema.columns()[0], records);
            let stored = policy.stored_words_max(shape.kind, records);
            let need = u128::from(records) * bits / 64;
            assert!(u128::from(shape.words) >= need - need / 16 || shape.words == largest);
            assert!(u128::from(stored) >= need || stored == largest);
            assert!(shape.words <= stored, "{kind} {records}");
            assert!(shape.words < 120 || !shape.words.is_power_of_two(), "{kind} {records}");
            assert_eq!(shape.words as usize % granule_of(shape.kind), 0);
            assert!(policy.sizes.words().contains(&shape.words));
        }
        assert_eq!(policy.open_shape(0, &schema.columns()[0], 245_760 * 4).words, largest);
    }
    let tiny = policy(4, 1);
    assert_eq!(tiny.open_shape(0, &column("u64").columns()[0], 1 << 26).words, 120);
    assert_eq!(tiny.open_shape(0, &column("uuid").columns()[0], 1 << 26).words, 120);
}

/// Distinct, scattered values: the most that a filter can be asked to hold.
fn scattered_rows(width: usize, records: u64) -> Vec<u8> {
    (1..=records)
        .flat_map(|i| {
            let low = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let high = low ^ low >> 29;
            [high.to_be_bytes(), low.to_be_bytes()].concat().into_iter().take(width)
        })
        .collect()
}

#[test]
fn stored_bytes_stay_within_the_default_cost_of_the_table() {
    // Bits per record of the hashed words, and flat bytes of the exact part.
    let table =
        [("u8", 0, 32), ("u16", 0, 8_192), ("u32", 32, 8_192), ("u64", 32, 0), ("ipv6", 8, 0)];
    let policy = policy(4, 1_024);
    for (kind, bits, flat) in table {
        let schema = column(kind);
        let first = &schema.columns()[0];
        for records in [0, 1, 2, 3, 7, 100, 150, 200, 999, 3_000, 5_000] {
            let rows = scattered_rows(first.width(), records);
            let words = (records * bits).div_ceil(64);
            let class = policy.sizes.at_least(words, if kind == "ipv6" { 8 } else { 1 });
            for expected in [records, 2 * records, records / 2, 65_536] {
                let mut open = OpenColumn::new(first, policy.open_shape(0, first, expected));
                open.insert_rows(first, &rows, first.width());
                let bytes = open.seal(&policy, records).filter.bytes();
                let paid = flat + if bits > 0 { class as usize * 8 } else { 0 };
                assert!(bytes <= paid, "{kind} {records}/{expected}: {bytes} > {paid} bytes");
            }
        }
    }
}

#[test]
fn sealed_filter_keeps_to_the_target_fill() {
    let policy = policy(4, 1_024);
    for kind in ["u64", "uuid"] {
        let schema = column(kind);
        let first = &schema.columns()[0];
        for (records, expected) in [100, 200, 1_000, 5_000]
            .into_iter()
            .flat_map(|n| [(n, n), (n * 9 / 10, n), (n, 65_536)])
        {
            let rows = scattered_rows(first.width(), records);
            let mut open = OpenColumn::new(first, policy.open_shape(0, first, expected));
            open.insert_rows(first, &rows, first.width());
            let filter = open.seal(&policy, records).filter;
            let target = match &filter {
                Filter::BloomRf { layers, .. } => policy.fill_target(Some(layers)),
                _ => policy.fill_target(None),
            };
            // Another size than the expected one may fall between two classes that it folds to.
            let most = if records == expected { target * 1.07 } else { target * 1.4 };
            assert!(filter.fill() <= most, "{kind} {records}/{expected}: {}", filter.fill());
            assert!(filter.fill() >= target / 4.0, "{kind} {records}: {}", filter.fill());
            assert!(filter.fpr() < 0.1 && filter.fpr() > 0.0);
        }
    }
}
