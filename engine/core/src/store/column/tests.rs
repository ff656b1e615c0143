//! Arrays and masks say of every slot what its sealed column says.

use super::*;
use crate::filter::{ColumnFlags, Filter};
use bloomrf_kernels::Zone;

fn zone<K: Copy + Ord>(keys: &[K]) -> Zone<K> {
    let mut zone = Zone::default();
    keys.iter().for_each(|&key| zone.insert(key));
    zone
}

fn column(zone: ColumnZone, value: bool, null: bool, nan: bool) -> Arc<SealedColumn> {
    let flags = ColumnFlags { has_value: value, has_null: null, has_nan: nan };
    Arc::new(SealedColumn { flags, zone, filter: Filter::None })
}

fn narrow(keys: &[u64], value: bool) -> Arc<SealedColumn> {
    column(ColumnZone::Narrow(zone(keys)), value, false, false)
}

#[test]
fn arrays_hold_the_bounds_and_masks_the_flags_of_every_slot() {
    let mut columns = Vec::new();
    for slot in 0..64_u64 {
        let keys = if slot % 5 == 0 { vec![] } else { vec![slot, 1_000 + slot] };
        let wide: Vec<u128> = keys.iter().map(|&key| u128::from(key) << 64).collect();
        let (null, nan) = (slot % 2 == 1, slot % 3 == 1);
        let batch = [
            column(ColumnZone::Narrow(zone(&keys)), !keys.is_empty(), null, nan),
            column(ColumnZone::Wide(zone(&wide)), !keys.is_empty(), nan, null),
        ];
        add_slot(&mut columns, slot as usize, &batch);
    }
    let ChunkZones::Narrow { min, max } = &*columns[0].zones else { panic!("narrow") };
    let ChunkZones::Wide { min: wide_min, max: wide_max } = &*columns[1].zones else {
        panic!("wide")
    };
    for slot in 0..64 {
        let bit = |mask: u64| mask >> slot & 1 == 1;
        let (lo, hi) = if slot % 5 == 0 { (u64::MAX, 0) } else { (slot, 1_000 + slot) };
        assert_eq!((min[slot as usize], max[slot as usize]), (lo, hi));
        let (lo, hi) = (u128::from(slot) << 64, u128::from(1_000 + slot) << 64);
        let (lo, hi) = if slot % 5 == 0 { (u128::MAX, 0) } else { (lo, hi) };
        assert_eq!((wide_min[slot as usize], wide_max[slot as usize]), (lo, hi));
        let flags = (slot % 5 != 0, slot % 2 == 1, slot % 3 == 1);
        let [a, b] = [&columns[0], &columns[1]];
        assert_eq!((bit(a.has_value), bit(a.has_null), bit(a.has_nan)), flags);
        assert_eq!((bit(b.has_value), bit(b.has_nan), bit(b.has_null)), flags);
        assert!(!bit(a.apart | b.apart));
    }
}

#[test]
fn a_slot_whose_zone_map_cannot_be_trusted_is_apart() {
    let mut columns = Vec::new();
    let wide = column(ColumnZone::Wide(zone(&[1_u128])), true, true, true);
    let slots = [narrow(&[7], true), narrow(&[7], false), narrow(&[], true), wide];
    for (slot, sealed) in slots.into_iter().enumerate() {
        add_slot(&mut columns, slot, &[sealed]);
    }
    add_slot(&mut columns, 4, &[]);
    add_slot(&mut columns, 5, &[narrow(&[], false), narrow(&[3], true)]);
    let masks: Vec<_> = columns.iter().map(|c| (c.has_value, c.apart)).collect();
    assert_eq!(masks, [(1, 0b01_1110), (1 << 5, 0b01_1111)]);
    assert_eq!((columns[0].has_null, columns[0].has_nan), (0, 0));
}
