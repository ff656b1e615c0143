//! A column's filter asked by itself, without the engine's lookups: every key as a point, and as
//! a range around it where the filter knows ranges; by one kernel set.

use bloomrf_engine::filter::{ColumnZone, Filter, SealedColumn, Top16, narrow_hash, wide_zone_key};
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, RangePlan, blocked, bloomrf, hash};

/// The keys of one column of one batch, distinct.
pub(super) enum Keys {
    /// Up to eight bytes.
    Narrow(Vec<u64>),
    /// Longer ones, as they are.
    Wide(Vec<Vec<u8>>),
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Questions that had to say "found".
    pub(super) count: u64,
    /// Keys that were missed, and by which question.
    pub(super) missed: Vec<(usize, &'static str)>,
}

impl Asked {
    /// A question about each key, answered by bits.
    fn bits(&mut self, found: &[u64], keys: usize, form: &'static str) {
        self.count += keys as u64;
        let missed = (0..keys).filter(|&at| found[at / 64] >> (at % 64) & 1 == 0);
        self.missed.extend(missed.map(|at| (at, form)));
    }

    /// A question about each key, answered one by one.
    fn each<T>(&mut self, keys: &[T], form: &'static str, found: impl Fn(&T) -> bool) {
        self.count += keys.len() as u64;
        let missed = keys.iter().enumerate().filter(|(_, key)| !found(key));
        self.missed.extend(missed.map(|(at, _)| (at, form)));
    }
}

/// Asks a column about all of its keys. A filter that is not there, or is in a group, is asked
/// nothing; its zone map is.
pub(super) fn ask(kernel: Kernel, column: &SealedColumn, keys: &Keys, spread: u64) -> Asked {
    let mut asked = Asked::default();
    match keys {
        Keys::Narrow(keys) => {
            if let ColumnZone::Narrow(zone) = &column.zone {
                let bounds = zone.bounds();
                let is_in = |&key: &u64| bounds.is_some_and(|(lo, hi)| lo <= key && key <= hi);
                asked.each(keys, "zone map", is_in);
            }
            narrow(kernel, &column.filter, keys, spread, &mut asked);
        }
        Keys::Wide(keys) => {
            if let ColumnZone::Wide(zone) = &column.zone {
                let bounds = zone.bounds();
                let is_in = |key: &Vec<u8>| {
                    let key = wide_zone_key(key);
                    bounds.is_some_and(|(lo, hi)| lo <= key && key <= hi)
                };
                asked.each(keys, "zone map", is_in);
            }
            if let Filter::Blocked { seed, blocks } = &column.filter {
                let hashes: Vec<u64> = keys.iter().map(|key| hash::bytes(key, *seed)).collect();
                let mut found = vec![0; keys.len().div_ceil(64)];
                let k = blocked::K_DEFAULT;
                blocked::contains_hashes_many(kernel, k, blocks, &hashes, &mut found);
                asked.bits(&found, keys.len(), "blocked");
            }
        }
    }
    asked
}

fn narrow(kernel: Kernel, filter: &Filter, keys: &[u64], spread: u64, asked: &mut Asked) {
    let ends = |key: &u64| (key.saturating_sub(spread / 3), key.saturating_add(spread));
    let small = |key: &u64| {
        let (lo, hi) = ends(key);
        (lo as u16, hi.min(u64::from(u16::MAX)) as u16)
    };
    let mut found = vec![0; keys.len().div_ceil(64)];
    match filter {
        Filter::Bitmap8(words) => {
            asked.each(keys, "bitmap", |&k| bitmap::any(words, k as u16, k as u16));
        }
        Filter::Bitmap16(words) => {
            asked.each(keys, "bitmap", |&k| bitmap::any(words, k as u16, k as u16));
            asked.each(keys, "bitmap range", |k| bitmap::any(words, small(k).0, small(k).1));
        }
        Filter::List16(list) => {
            asked.each(keys, "list", |&k| bitmap::list_any(list, k as u16, k as u16));
            asked.each(keys, "list range", |k| bitmap::list_any(list, small(k).0, small(k).1));
        }
        Filter::Near16 { base, offsets } => {
            asked.each(keys, "near", |k| k.checked_sub(*base).is_some_and(|k| offsets.holds(k)));
        }
        Filter::Exact(exact) => {
            asked.each(keys, "exact", |&k| exact.any(k, k));
            asked.each(keys, "exact range", |k| exact.any(ends(k).0, ends(k).1));
        }
        Filter::BloomRf { layers, hashed, top } => {
            let bits = top_bitmap(top);
            bloomrf::contains_many(kernel, layers, hashed, &bits, keys, &mut found);
            asked.bits(&found, keys.len(), "bloomRF");
            let of_key = |key| (ends(key).0, ends(key).1.min(layers.key_max()));
            let ranges: Vec<(u64, u64)> = keys.iter().map(of_key).collect();
            bloomrf::range_many(kernel, layers, hashed, &bits, &ranges, 256, &mut found);
            asked.bits(&found, keys.len(), "bloomRF range");
            let view = top.view();
            // As lookups ask plain filters: by a plan, of which a few will do.
            let some: Vec<(u64, u64)> = ranges.iter().copied().step_by(PLANNED_STEP).collect();
            asked.each(&some, "bloomRF plan", |&(lo, hi)| planned(layers, hashed, view, lo, hi));
        }
        Filter::Blocked { seed, blocks } => {
            let k = blocked::K_DEFAULT;
            blocked::contains_many(kernel, k, blocks, *seed, keys, &mut found);
            asked.bits(&found, keys.len(), "blocked");
            let one = |&key: &u64| blocked::contains(k, blocks, narrow_hash(key, *seed));
            asked.each(keys, "blocked hash", one);
        }
        Filter::None | Filter::Sliced(_) => {}
    }
}

fn planned(
    layers: &bloomrf_kernels::Layers,
    hashed: &[u64],
    top: TopBits,
    lo: u64,
    hi: u64,
) -> bool {
    let mut plan = RangePlan::default();
    plan.build(layers, lo, hi, 256);
    plan.run(hashed, top).may_hold()
}

/// The exact top as the kernels read it.
fn top_bitmap(top: &Top16) -> Vec<u64> {
    match top {
        Top16::None => Vec::new(),
        Top16::Bitmap(words) => words.to_vec(),
        Top16::List(list) => {
            let mut words = vec![0; bitmap::WORDS_16];
            list.iter().for_each(|&key| bitmap::insert(&mut words, key));
            words
        }
    }
}

/// Of so many keys one is asked by a plan.
const PLANNED_STEP: usize = 16;
