//! What the zone map and the flags of one batch's column say about a leaf, exactly.
//!
//! Hot path: no allocation; one comparison per leaf and batch, a binary search in IN lists.

pub(super) mod masks;

use std::ops::Range;

use bloomrf_kernels::Zone;

use super::NoOpinion;
use super::normal::{Leaf, Test};
use crate::filter::{ColumnZone, SealedColumn, wide_zone_key};
use crate::seal::SealedBatch;

/// The zone map's word on a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ZoneFinding {
    /// No cell makes the leaf true.
    Absent,
    /// A cell does for certain, or it cannot be excluded that NaN does.
    Present,
    /// Only the filter can tell: about these of the leaf's ranges or values.
    Ask(Range<usize>),
    /// Cannot be decided, by the filter neither.
    NoOpinion(NoOpinion),
}

/// What zone map and flags of `batch` say about a leaf.
pub(super) fn of_batch(leaf: &Leaf<'_>, batch: Option<&SealedBatch>) -> ZoneFinding {
    if let Test::NoOpinion(why) = leaf.test {
        return ZoneFinding::NoOpinion(why);
    }
    match batch.and_then(|batch| batch.columns.get(usize::from(leaf.column))) {
        Some(column) => ask(&leaf.test, column),
        None => ZoneFinding::NoOpinion(NoOpinion::Corrupt),
    }
}

/// Asks the zone map and the flags of `column`.
fn ask(test: &Test, column: &SealedColumn) -> ZoneFinding {
    let flags = column.flags;
    match test {
        Test::NoOpinion(why) => ZoneFinding::NoOpinion(*why),
        Test::Nothing => ZoneFinding::Absent,
        Test::IsNull => present_if(flags.has_null),
        Test::IsNotNull => present_if(flags.has_value || flags.has_nan),
        Test::Keys { nan: true, .. } if flags.has_nan => ZoneFinding::Present,
        Test::NotKeys(_) if flags.has_nan => ZoneFinding::Present,
        Test::Keys { ranges, .. } => match bounds(column.zone, flags.has_value) {
            Known::Narrow(min, max) => ranges_between(ranges, min, max),
            other => other.finding(),
        },
        Test::NotKeys(keys) => match bounds(column.zone, flags.has_value) {
            // A null makes neither `=` nor `!=` true; kept all the same, in case an engine
            // thinks otherwise.
            Known::Narrow(min, max) if min == max && !flags.has_null => {
                present_if(keys.binary_search(&min).is_err())
            }
            Known::Narrow(..) => ZoneFinding::Present,
            other => other.finding(),
        },
        Test::Values(values) => match bounds(column.zone, flags.has_value) {
            Known::Wide(min, max) => values_between(values, min, max),
            other => other.finding(),
        },
        Test::NotValues(keys) => match bounds(column.zone, flags.has_value) {
            Known::Wide(min, max) if min == max && !flags.has_null => {
                present_if(keys.binary_search(&min).is_err())
            }
            Known::Wide(..) => ZoneFinding::Present,
            other => other.finding(),
        },
        Test::Order(ranges) => match bounds(column.zone, flags.has_value) {
            Known::Wide(min, max) => match ranges_between(ranges, min, max) {
                ZoneFinding::Ask(_) => ZoneFinding::NoOpinion(NoOpinion::NotFiltered),
                settled => settled,
            },
            other => other.finding(),
        },
    }
}

/// The bounds of a zone map, as far as it can be trusted.
enum Known {
    Narrow(u64, u64),
    Wide(u128, u128),
    /// No value was seen.
    Empty,
    /// Zone map and flags contradict each other, or the zone map is of another class of keys.
    Contradiction,
}

impl Known {
    /// What follows for a leaf that asks for values, where there are no bounds of its class.
    fn finding(self) -> ZoneFinding {
        match self {
            Known::Empty => ZoneFinding::Absent,
            _ => ZoneFinding::NoOpinion(NoOpinion::Corrupt),
        }
    }
}

fn bounds(zone: ColumnZone, has_value: bool) -> Known {
    fn known<K: Copy + Ord>(zone: Zone<K>, seen: bool, of: fn(K, K) -> Known) -> Known {
        match (zone.bounds(), seen) {
            (Some((min, max)), true) if min <= max => of(min, max),
            (None, false) => Known::Empty,
            _ => Known::Contradiction,
        }
    }
    match zone {
        ColumnZone::Narrow(zone) => known(zone, has_value, Known::Narrow),
        ColumnZone::Wide(zone) => known(zone, has_value, Known::Wide),
    }
}

fn present_if(present: bool) -> ZoneFinding {
    if present { ZoneFinding::Present } else { ZoneFinding::Absent }
}

/// Sorted, disjoint ranges against `min..=max`, both of which are keys of the batch.
fn ranges_between<K: Copy + Ord>(ranges: &[(K, K)], min: K, max: K) -> ZoneFinding {
    let from = ranges.partition_point(|&(_, hi)| hi < min);
    let to = ranges.partition_point(|&(lo, _)| lo <= max);
    let Some(inside) = ranges.get(from..to).filter(|inside| !inside.is_empty()) else {
        return ZoneFinding::Absent;
    };
    // Only the first can hold the minimum and only the last the maximum.
    let holds_min = inside.first().is_some_and(|&(lo, _)| lo <= min);
    let holds_max = inside.last().is_some_and(|&(_, hi)| hi >= max);
    if holds_min || holds_max { ZoneFinding::Present } else { ZoneFinding::Ask(from..to) }
}

/// Sorted values against the zone keys `min..=max`.
fn values_between(values: &[Box<[u8]>], min: u128, max: u128) -> ZoneFinding {
    let from = values.partition_point(|value| wide_zone_key(value) < min);
    let to = values.partition_point(|value| wide_zone_key(value) <= max);
    let Some(inside) = values.get(from..to).filter(|inside| !inside.is_empty()) else {
        return ZoneFinding::Absent;
    };
    let is_bound = |value: &[u8]| {
        let key = wide_zone_key(value);
        value_is_bound(value) && (key == min || key == max)
    };
    let holds =
        inside.first().is_some_and(|v| is_bound(v)) || inside.last().is_some_and(|v| is_bound(v));
    if holds { ZoneFinding::Present } else { ZoneFinding::Ask(from..to) }
}

/// Whether a value whose zone key is a bound is in the batch: its zone key says all of it.
fn value_is_bound(value: &[u8]) -> bool {
    value.len() <= 16
}
