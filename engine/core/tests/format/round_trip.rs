//! What is written is read back, for every kind of filter and zone map, and gives the same bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use bloomrf_engine::filter::{ColumnFlags, ColumnZone, Filter, SealedColumn, Top16};
use bloomrf_engine::format::{EncodeError, PageSize, decode, encode, encode_paged};
use bloomrf_kernels::Zone;
use bloomrf_kernels::exact::Exact;

use crate::world::{Splitmix, batch, name, origin, schema, stamp};

/// A name for each thing that a section can hold.
fn variant(filter: &Filter) -> &'static str {
    match filter {
        Filter::None => "none",
        Filter::Bitmap8(_) => "bitmap8",
        Filter::Bitmap16(_) => "bitmap16",
        Filter::List16(_) => "list16",
        Filter::Near16 { offsets: Top16::List(_), .. } => "near16 list",
        Filter::Near16 { .. } => "near16 bitmap",
        Filter::Exact(Exact::List(_)) => "list",
        Filter::Exact(Exact::Near(_)) => "near",
        Filter::Exact(Exact::EliasFano(_)) => "elias-fano",
        Filter::BloomRf { top: Top16::None, .. } => "bloomrf",
        Filter::BloomRf { top: Top16::Bitmap(_), .. } => "bloomrf, top bitmap",
        Filter::BloomRf { top: Top16::List(_), .. } => "bloomrf, top list",
        Filter::Blocked { .. } => "blocked",
        Filter::Sliced(_) => "sliced",
    }
}

#[test]
fn every_kind_of_filter_and_zone_map_is_read_as_it_was_written() {
    let mut rng = Splitmix::from_env(1);
    let (schema, mut seen) = (schema(), BTreeSet::new());
    let origin = origin(&schema);
    for round in 0..40 {
        let keys = [0, 1, 2, 9, 300, 2_000][round as usize % 6];
        let batch = batch(rng.next(), keys, &mut rng);
        seen.extend(batch.columns.iter().map(|column| variant(&column.filter)));
        for size in PageSize::ALL {
            let stamp = stamp(round);
            let bytes = encode_paged(&batch, &origin, &stamp, size).unwrap();
            let stored = decode(&bytes, &name(&batch, &stamp), &origin, &schema).unwrap();
            assert_eq!(stored.batch, batch, "{keys} keys, {size:?}");
            assert_eq!((stored.stamp, stored.lost.len()), (stamp, 0));
            let again = encode_paged(&stored.batch, &origin, &stored.stamp, size).unwrap();
            assert_eq!(again, bytes, "equal input, equal bytes");
        }
    }
    assert_eq!(seen.len(), 13, "{seen:?}");
}

#[test]
fn what_cannot_be_stored_is_an_error_that_names_the_column() {
    let mut rng = Splitmix::new(2);
    let (schema, stamp) = (schema(), stamp(1));
    let origin = origin(&schema);
    let whole = batch(9, 100, &mut rng);
    let with = |ordinal: usize, change: &dyn Fn(&mut SealedColumn)| {
        let mut batch = whole.clone();
        let mut column = SealedColumn::clone(&batch.columns[ordinal]);
        change(&mut column);
        batch.columns[ordinal] = Arc::new(column);
        encode(&batch, &origin, &stamp)
    };
    let broken = with(3, &|column| column.filter = Filter::Bitmap16(vec![1; 1_023].into()));
    assert_eq!(broken, Err(EncodeError::Filter { ordinal: 3 }));
    let broken = with(11, &|column| {
        column.filter = Filter::Blocked { seed: 1, blocks: vec![1; 12].into() };
    });
    assert_eq!(broken, Err(EncodeError::Filter { ordinal: 11 }));
    let broken = with(5, &|column| {
        if let Filter::BloomRf { top, .. } = &mut column.filter {
            *top = Top16::None;
        }
    });
    assert_eq!(broken, Err(EncodeError::Filter { ordinal: 5 }));
    let broken = with(12, &|column| column.zone = ColumnZone::Narrow(Zone::default()));
    assert_eq!(broken, Err(EncodeError::ZoneMap { ordinal: 12 }));
    let broken = with(1, &|column| column.flags = ColumnFlags::default());
    assert_eq!(broken, Err(EncodeError::ZoneMap { ordinal: 1 }));

    let mut none = whole.clone();
    none.columns.clear();
    assert_eq!(encode(&none, &origin, &stamp), Err(EncodeError::Columns { count: 0 }));
    let mut many = whole.clone();
    many.records = u64::MAX;
    assert_eq!(encode(&many, &origin, &stamp), Err(EncodeError::Records { records: u64::MAX }));
}
