//! Bit-sliced groups asked: every slot answers as its plain filter. A case is a slot that is asked.

use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::{bitmap, bloomrf as reference};
use bloomrf_kernels::sliced::{
    self as door, BITMAP_ROWS, GROUPS, Group, Masks, SLOTS, SUMMARY_ROWS,
};
use bloomrf_kernels::{RangePlan, blocked};

use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;
use crate::sliced_rows::naive_rows;

/// One group of filters, plain and sliced.
struct Sliced {
    plain: Vec<Vec<u64>>,
    tops: Vec<Vec<u64>>,
    rows: Placed<u64>,
    top_rows: Placed<u64>,
}

pub(crate) fn run_plan(case: &mut Case<'_>) {
    let layers = inputs::layers(case);
    let bits = u32::from(layers.domain_bits());
    let pool = inputs::keys(case, 100, bits);
    let with_top = layers.has_exact_top();
    let count = if with_top { 1 + case.below(3) } else { case.below(GROUPS + 1) };
    let groups: Vec<Sliced> = (0..count)
        .map(|_| {
            let words = 1 + case.below(40);
            let load = 1 + case.below(words * 2);
            let filter = |case: &mut Case<'_>| {
                let (mut hashed, mut top) =
                    (vec![0; words], vec![0; if with_top { bitmap::WORDS_16 } else { 0 }]);
                for _ in 0..case.below(load + 1) {
                    let key = case.one_of(&pool);
                    reference::insert(&layers, &mut hashed, &mut top, key);
                }
                (hashed, top)
            };
            let (plain, tops) = (0..SLOTS).map(|_| filter(case)).unzip();
            Sliced::new(case, words, plain, tops)
        })
        .collect();
    let places = places(case, count);
    let view = |at: &Option<usize>| {
        at.map(|at| Group { hashed: groups[at].rows.get(), top: groups[at].top_rows.get() })
    };
    let views: Vec<_> = places.iter().map(view).collect();
    let mut plan = RangePlan::default();
    for _ in 0..=case.length / 64 {
        let (lo, hi) = inputs::range(case, &pool, bits);
        let probes_max = case.one_of(&[256, 256, 8, 2_000]);
        plan.build(&layers, lo, hi, probes_max);
        let ask = masks(case);
        let expected = expected(&places, &ask, |at, slot| {
            let group = &groups[at];
            let top = if with_top { TopBits::Bitmap(&group.tops[slot]) } else { TopBits::None };
            plan.run(&group.plain[slot], top).may_hold()
        });
        let what = format!("{lo:#x}..={hi:#x} in {} layers", layers.hashed().len());
        let sets = case.sets;
        for (set, &kernel) in sets.iter().enumerate() {
            let found = door::run_plan(kernel, &plan, &views, &ask);
            case.same(set, &what, &found, &expected);
            case.count(set, asked(&ask));
        }
    }
}

pub(crate) fn exact_any(case: &mut Case<'_>) {
    let words = case.one_of(&[bitmap::WORDS_8, bitmap::WORDS_16, bitmap::WORDS_16]);
    let keys = words * 64;
    let count = 1 + case.below(2);
    let groups: Vec<Sliced> = (0..count)
        .map(|_| {
            let plain = (0..SLOTS).map(|_| some_bitmap(case, words)).collect();
            Sliced::new(case, 0, vec![vec![]; SLOTS], plain)
        })
        .collect();
    let places = places(case, count);
    let views: Vec<_> = places.iter().map(|at| at.map(|at| groups[at].top_rows.get())).collect();
    for _ in 0..=case.length / 64 {
        let lo = case.below(keys);
        let hi = match case.below(6) {
            0 => lo,
            1 => lo + case.below(70),
            2 => keys - 1,
            _ => case.below(keys),
        };
        let (lo, hi) = (lo as u16, hi.min(keys - 1) as u16);
        let ask = masks(case);
        let expected =
            expected(&places, &ask, |at, slot| naive_any(&groups[at].tops[slot], lo, hi));
        let sets = case.sets;
        for (set, &kernel) in sets.iter().enumerate() {
            let found = door::exact_any(kernel, &views, &ask, lo, hi);
            case.same(set, &format!("{lo}..={hi} of {keys}"), &found, &expected);
            case.count(set, asked(&ask));
        }
    }
}

pub(crate) fn blocked_contains(case: &mut Case<'_>) {
    let k = 4 + case.below(5) as u32;
    let hashes = inputs::keys(case, 200, 64);
    let count = 1 + case.below(3);
    let groups: Vec<Sliced> = (0..count)
        .map(|_| {
            let words = blocked::BLOCK_WORDS * (1 + case.below(6));
            let filter = |case: &mut Case<'_>| {
                let mut blocks = vec![0; words];
                for _ in 0..case.below(words * 2) {
                    blocked::insert(k, &mut blocks, case.one_of(&hashes));
                }
                blocks
            };
            let plain = (0..SLOTS).map(|_| filter(case)).collect();
            Sliced::new(case, words, plain, vec![vec![]; SLOTS])
        })
        .collect();
    let places = places(case, count);
    let views: Vec<_> = places.iter().map(|at| at.map(|at| groups[at].rows.get())).collect();
    for _ in 0..=case.length / 32 {
        let hash = if case.once_in(4) { case.next() } else { case.one_of(&hashes) };
        let ask = masks(case);
        let expected =
            expected(&places, &ask, |at, slot| blocked::contains(k, &groups[at].plain[slot], hash));
        let sets = case.sets;
        for (set, &kernel) in sets.iter().enumerate() {
            let found = door::blocked_contains(kernel, k, &views, &ask, hash);
            case.same(set, &format!("hash {hash:#x}, k {k}"), &found, &expected);
            case.count(set, asked(&ask));
        }
    }
}

impl Sliced {
    /// The rows of both; a bitmap of 2-byte keys gets its summary half of the time.
    fn new(case: &mut Case<'_>, words: usize, plain: Vec<Vec<u64>>, tops: Vec<Vec<u64>>) -> Self {
        let rows = naive_rows(words, &plain);
        let mut top_rows = naive_rows(tops[0].len(), &tops);
        if top_rows.len() == BITMAP_ROWS && case.once_in(2) {
            top_rows.resize(BITMAP_ROWS + SUMMARY_ROWS, 0x5A);
            door::summarise(&mut top_rows);
            let (rows, summary) = top_rows.split_at(BITMAP_ROWS);
            let whole = rows.chunks(64).map(|rows| rows.iter().fold(0, |all, row| all | row));
            assert!(summary.iter().copied().eq(whole), "the summary");
        }
        let (rows, top_rows) = (Placed::words(case, &rows), Placed::words(case, &top_rows));
        Sliced { plain, tops, rows, top_rows }
    }
}

/// Which of `count` groups stands where; some places have none, some groups stand twice.
fn places(case: &mut Case<'_>, count: usize) -> Vec<Option<usize>> {
    let place = |case: &mut Case<'_>| (count > 0 && !case.once_in(8)).then(|| case.below(count));
    (0..case.below(GROUPS + 1)).map(|_| place(case)).collect()
}

/// All of `ask` where there is no group, else the slots that answer "found".
fn expected(
    places: &[Option<usize>],
    ask: &Masks,
    is_found: impl Fn(usize, usize) -> bool,
) -> Masks {
    let mut found = *ask;
    for (found, place) in found.iter_mut().zip(places) {
        let Some(at) = *place else { continue };
        let slots = (0..SLOTS).filter(|&slot| *found >> slot & 1 == 1 && is_found(at, slot));
        *found = slots.fold(0, |mask, slot| mask | 1 << slot);
    }
    found
}

fn asked(ask: &Masks) -> usize {
    ask.iter().map(|mask| mask.count_ones() as usize).sum()
}

/// None, one, few, half or all slots of each group; now and then of one or two groups only.
fn masks(case: &mut Case<'_>) -> Masks {
    let mut masks = std::array::from_fn(|_| match case.below(8) {
        0 => 0,
        1 => 1 << case.below(64),
        2 => case.next() & case.next() & case.next(),
        3 => case.next(),
        4 => case.next() | case.next(),
        _ => u64::MAX,
    });
    if case.once_in(4) {
        let kept = [case.below(GROUPS), case.below(GROUPS)];
        for (g, mask) in masks.iter_mut().enumerate() {
            *mask = if kept.contains(&g) { *mask } else { 0 };
        }
    }
    masks
}

/// A bitmap: empty, one key, sparse, clustered, dense.
fn some_bitmap(case: &mut Case<'_>, words: usize) -> Vec<u64> {
    let mut bitmap = vec![0; words];
    let keys = words * 64;
    let (count, centre) = (case.one_of(&[0, 1, 5, 100, 1_000]), case.below(keys));
    let near = case.once_in(2);
    for _ in 0..count {
        let key = if near { centre + case.below(200) } else { case.below(keys) } % keys;
        bitmap[key / 64] |= 1 << (key % 64);
    }
    bitmap
}

fn naive_any(words: &[u64], lo: u16, hi: u16) -> bool {
    let is_set = |key: usize| words[key / 64] >> (key % 64) & 1 == 1;
    let (mut key, hi) = (usize::from(lo), usize::from(hi));
    while key <= hi {
        // Whole words at a time where they are empty.
        if key % 64 == 0 && key + 63 <= hi && words[key / 64] == 0 {
            key += 64;
            continue;
        }
        if is_set(key) {
            return true;
        }
        key += 1;
    }
    false
}
