//! What zone maps and flags say about a leaf, for all slots of eight chunks at once: the same as
//! [`ask`](super::ask) slot by slot, from arrays of bounds.
//!
//! Hot path: no allocation; 10-50 ns per range and chunk, a binary search per slot in long lists.

use bloomrf_kernels::sliced::{GROUPS, Masks};
use bloomrf_kernels::{Kernel, zone};

use super::{NoOpinion, ZoneFinding, ranges_between, value_is_bound, values_between};
use crate::filter::wide_zone_key;
use crate::lookup::normal::{Leaf, Test};
use crate::lookup::window::{Window, slots};
use crate::store::{ChunkColumn, ChunkZones};

/// The zone maps' word on one leaf, slot by slot of a window. A slot that is in none of the masks
/// makes the leaf true for certain (or NaN may): found. Slots that are not live mean nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::lookup) struct LeafZones {
    /// No cell makes the leaf true.
    pub(in crate::lookup) absent: Masks,
    /// Only the filter can tell.
    pub(in crate::lookup) ask: Masks,
    /// Cannot be decided, by the filter neither, for the reason of [`reason`].
    pub(in crate::lookup) unsure: Masks,
    /// Cannot be decided: column, zone map and flags do not fit each other.
    pub(in crate::lookup) corrupt: Masks,
}

/// One chunk's part of [`LeafZones`].
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    absent: u64,
    ask: u64,
    unsure: u64,
    corrupt: u64,
}

/// Why slots of [`LeafZones::unsure`] cannot be decided.
pub(in crate::lookup) fn reason(test: &Test) -> NoOpinion {
    match test {
        Test::NoOpinion(why) => *why,
        _ => NoOpinion::NotFiltered,
    }
}

impl LeafZones {
    /// Nothing is known: every slot reads "found".
    pub(in crate::lookup) const FOUND: Self =
        LeafZones { absent: [0; 8], ask: [0; 8], unsure: [0; 8], corrupt: [0; 8] };

    /// Asks the zone maps of the window's live slots.
    pub(in crate::lookup) fn of(kernel: Kernel, leaf: &Leaf<'_>, window: &Window<'_>) -> Self {
        let mut zones = LeafZones::FOUND;
        if let Test::NoOpinion(_) = leaf.test {
            zones.unsure = *window.live();
            return zones;
        }
        for (g, chunk) in window.chunks() {
            let live = window.live()[g];
            let Some(column) = chunk.columns().get(usize::from(leaf.column)) else {
                zones.corrupt[g] = live;
                continue;
            };
            let mut word = of_column(kernel, &leaf.test, column, live & !column.apart);
            for slot in slots(live & column.apart) {
                let batch = chunk.slot(slot).map(|batch| &**batch);
                word.add(slot, super::of_batch(leaf, batch));
            }
            zones.absent[g] = word.absent;
            zones.ask[g] = word.ask;
            zones.unsure[g] = word.unsure;
            zones.corrupt[g] = word.corrupt;
        }
        zones
    }
}

/// Which slots of `ask` hold keys on both sides of a part of `lo..=hi`, as far as bounds tell.
#[inline]
pub(in crate::lookup) fn meets(
    kernel: Kernel,
    column: &ChunkColumn,
    ask: u64,
    (lo, hi): (u64, u64),
) -> u64 {
    match &*column.zones {
        ChunkZones::Narrow { min, max } => ask & !zone::masks(kernel, min, max, lo, hi).absent,
        ChunkZones::Wide { .. } => ask,
    }
}

/// Which slots of `ask` may hold the wide value, as far as bounds tell.
pub(in crate::lookup) fn meets_value(column: &ChunkColumn, ask: u64, value: &[u8]) -> u64 {
    let key = wide_zone_key(value);
    match &*column.zones {
        ChunkZones::Wide { min, max } => {
            slots(ask).filter(|&s| min[s] <= key && key <= max[s]).fold(0, |all, s| all | 1 << s)
        }
        ChunkZones::Narrow { .. } => ask,
    }
}

impl Word {
    fn add(&mut self, slot: usize, finding: ZoneFinding) {
        let bit = 1 << slot;
        match finding {
            ZoneFinding::Absent => self.absent |= bit,
            ZoneFinding::Present => {}
            ZoneFinding::Ask(_) => self.ask |= bit,
            ZoneFinding::NoOpinion(NoOpinion::Corrupt) => self.corrupt |= bit,
            ZoneFinding::NoOpinion(_) => self.unsure |= bit,
        }
    }

    /// `mask` where a cell makes the leaf true in the slots of `present`.
    fn present(mask: u64, present: u64) -> Self {
        Word { absent: mask & !present, ..Word::default() }
    }

    /// Of `mask`: the leaf is asked of values, and only these slots have any.
    fn ranged(mask: u64, has_value: u64, absent: u64, present: u64) -> Self {
        let absent = mask & (absent | !has_value);
        Word { absent, ask: mask & !absent & !present, ..Word::default() }
    }
}

fn of_column(kernel: Kernel, test: &Test, column: &ChunkColumn, mask: u64) -> Word {
    let has_value = column.has_value;
    match (test, &*column.zones) {
        (Test::Nothing, _) => Word::present(mask, 0),
        (Test::IsNull, _) => Word::present(mask, column.has_null),
        (Test::IsNotNull, _) => Word::present(mask, has_value | column.has_nan),
        (Test::Keys { ranges, nan }, ChunkZones::Narrow { min, max }) => {
            // NaN that may match is found whatever the bounds say.
            let mask = if *nan { mask & !column.has_nan } else { mask };
            let (mut absent, mut present) = (u64::MAX, 0);
            if ranges.len() > MANY {
                return each(mask, has_value, |s| ranges_between(ranges, min[s], max[s]));
            }
            for &(lo, hi) in ranges {
                let zones = zone::masks(kernel, min, max, lo, hi);
                absent &= zones.absent;
                present |= zones.present;
            }
            Word::ranged(mask, has_value, absent, present)
        }
        (Test::NotKeys(keys), ChunkZones::Narrow { min, max }) => {
            let mask = mask & !column.has_nan;
            not_these(column, mask, |s| min[s] == max[s] && keys.binary_search(&min[s]).is_ok())
        }
        (Test::NotValues(keys), ChunkZones::Wide { min, max }) => {
            not_these(column, mask, |s| min[s] == max[s] && keys.binary_search(&min[s]).is_ok())
        }
        (Test::Values(values), ChunkZones::Wide { min, max }) => {
            if let [value] = &values[..] {
                return one_value(mask, has_value, value, min, max);
            }
            each(mask, has_value, |s| values_between(values, min[s], max[s]))
        }
        (Test::Order(ranges), ChunkZones::Wide { min, max }) => {
            let mut word = each(mask, has_value, |s| ranges_between(ranges, min[s], max[s]));
            // The filter of a wide column knows no order.
            word.unsure = std::mem::take(&mut word.ask);
            word
        }
        (Test::NoOpinion(_), _) => Word { unsure: mask, ..Word::default() },
        // Bounds of another class of keys; NaN that may match is found all the same, and a
        // column without a value holds none that matches.
        (Test::Keys { nan, .. }, _) => other_class(column, mask, *nan),
        (Test::NotKeys(_), _) => other_class(column, mask, true),
        (Test::Values(_) | Test::NotValues(_) | Test::Order(_), _) => {
            other_class(column, mask, false)
        }
    }
}

fn other_class(column: &ChunkColumn, mask: u64, nan: bool) -> Word {
    let mask = if nan { mask & !column.has_nan } else { mask };
    let absent = mask & !column.has_value;
    Word { absent, corrupt: mask & column.has_value, ..Word::default() }
}

/// A question of one kind to the bounds of each slot of `mask`.
fn each(mask: u64, has_value: u64, ask: impl Fn(usize) -> ZoneFinding) -> Word {
    let mut word = Word { absent: mask & !has_value, ..Word::default() };
    for slot in slots(mask & has_value) {
        word.add(slot, ask(slot));
    }
    word
}

/// Leaves that ask for any value but some: disproved where the only value is one of those.
fn not_these(column: &ChunkColumn, mask: u64, is_only: impl Fn(usize) -> bool) -> Word {
    // A null makes neither `=` nor `!=` true; kept all the same, in case an engine thinks
    // otherwise.
    let may_be_only = mask & column.has_value & !column.has_null;
    let disproved = slots(may_be_only).filter(|&s| is_only(s)).fold(0, |all, s| all | 1 << s);
    Word { absent: mask & !column.has_value | disproved, ..Word::default() }
}

fn one_value(mask: u64, has_value: u64, value: &[u8], min: &[u128; 64], max: &[u128; 64]) -> Word {
    let key = wide_zone_key(value);
    let (mut within, mut bound) = (0u64, 0u64);
    for slot in 0..64 {
        within |= u64::from(min[slot] <= key && key <= max[slot]) << slot;
        bound |= u64::from(min[slot] == key || max[slot] == key) << slot;
    }
    let present = if value_is_bound(value) { bound } else { 0 };
    Word::ranged(mask, has_value, !within, present)
}

/// Ranges of a leaf past which a binary search per slot beats a pass over the bounds per range.
const MANY: usize = 8;

/// Chunks of a window: what the arrays above are as long as.
const _: () = assert!(GROUPS == 8);
