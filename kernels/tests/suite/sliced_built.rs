//! Groups of filters in both forms, plain and bit-sliced, and the question to both.

use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::bloomrf;
use bloomrf_kernels::sliced::{self, GROUPS, Group, Masks, SLOTS};
use bloomrf_kernels::{Kernel, Layers, RangePlan};

use crate::seeded::Splitmix;

/// 64 plain filters of one layer set (empty: none), and the same as rows.
pub(crate) struct SlicedGroup {
    pub(crate) hashed: Vec<Vec<u64>>,
    pub(crate) tops: Vec<Vec<u64>>,
    pub(crate) rows: Vec<u64>,
    pub(crate) top_rows: Vec<u64>,
}

/// The filters as `build` takes them.
pub(crate) fn sources(filters: &[Vec<u64>]) -> [&[u64]; SLOTS] {
    std::array::from_fn(|slot| &filters[slot][..])
}

impl SlicedGroup {
    /// A group of W = `words`; `keys(slot)` are those of a slot, `None` leaves it empty. Every
    /// third filter is built three times larger and folded; every fourth is smaller, if W allows.
    pub(crate) fn new(
        layers: &Layers,
        words: usize,
        summary: bool,
        mut keys: impl FnMut(usize) -> Option<Vec<u64>>,
    ) -> Self {
        let (mut hashed, mut tops) = (vec![], vec![]);
        for slot in 0..SLOTS {
            let Some(keys) = keys(slot) else {
                hashed.push(vec![]);
                tops.push(vec![]);
                continue;
            };
            let ratio = [1, 1, 1, [2, 3, 5, 8, 1][slot % 5]][slot % 4];
            let folded = if slot % 3 == 1 { 3 } else { 1 };
            let own = if words.is_multiple_of(ratio) { words / ratio } else { words };
            let mut filter = vec![0; own * folded];
            let mut top = vec![0; if layers.has_exact_top() { 1_024 } else { 0 }];
            keys.iter().for_each(|&key| bloomrf::insert(layers, &mut filter, &mut top, key));
            hashed.push(filter.chunks(folded).map(|f| f.iter().fold(0, |a, w| a | w)).collect());
            tops.push(top);
        }
        let mut rows = vec![0; words * SLOTS];
        sliced::build(Kernel::best(), &mut rows, &sources(&hashed));
        let mut top_rows = vec![];
        if layers.has_exact_top() {
            top_rows = vec![0; sliced::BITMAP_ROWS];
            sliced::build(Kernel::best(), &mut top_rows, &sources(&tops));
            if summary {
                top_rows.resize(sliced::BITMAP_ROWS + sliced::SUMMARY_ROWS, 0);
                sliced::summarise(&mut top_rows);
            }
        }
        SlicedGroup { hashed, tops, rows, top_rows }
    }

    pub(crate) fn group(&self) -> Group<'_> {
        Group { hashed: &self.rows, top: &self.top_rows }
    }

    /// Asks every slot's plain filter by itself. Slots without one hold nothing.
    pub(crate) fn plain(&self, plan: &RangePlan, ask: u64) -> u64 {
        let empty = vec![0; self.rows.len() / SLOTS];
        let no_keys = [0; 1_024];
        let asked = (0..SLOTS).filter(|slot| ask >> slot & 1 == 1);
        let found = asked.filter(|&slot| {
            let (hashed, top) = (&self.hashed[slot], &self.tops[slot]);
            let top = match (self.top_rows.is_empty(), top.is_empty()) {
                (true, _) => TopBits::None,
                (_, true) => TopBits::Bitmap(&no_keys),
                _ => TopBits::Bitmap(top),
            };
            let hashed = if hashed.is_empty() { &empty } else { hashed };
            plan.run(hashed, top).may_hold()
        });
        found.fold(0, |mask, slot| mask | 1 << slot)
    }
}

/// Asserts that every kernel set answers for every slot as its plain filter does.
pub(crate) fn check(plan: &RangePlan, groups: &[Option<&SlicedGroup>], ask: &Masks) {
    let views: Vec<_> = groups.iter().map(|group| group.map(SlicedGroup::group)).collect();
    let mut expected = *ask;
    for (expected, group) in expected.iter_mut().zip(groups) {
        if let Some(group) = group {
            *expected = group.plain(plan, *expected);
        }
    }
    for kernel in Kernel::all() {
        let found = sliced::run_plan(kernel, plan, &views, ask);
        assert_eq!(found, expected, "{kernel}: {} groups, ask {ask:x?}", groups.len());
    }
}

/// A mask of slots: none, one, few, half, or all.
pub(crate) fn some_slots(random: &mut Splitmix) -> u64 {
    let (a, b, c) = (random.next(), random.next(), random.next());
    match random.below(8) {
        0 => 0,
        1 => 1 << random.below(64),
        2 => a & b & c,
        3 => a,
        4 => a | b | c,
        _ => u64::MAX,
    }
}

/// A mask of slots for each group; now and then all but one or two are empty.
pub(crate) fn some_masks(random: &mut Splitmix) -> Masks {
    let mut masks = std::array::from_fn(|_| some_slots(random));
    if random.below(4) == 0 {
        let kept = [random.below(GROUPS as u64), random.below(GROUPS as u64)];
        for (g, mask) in (0..).zip(&mut masks) {
            *mask = if kept.contains(&g) { *mask } else { 0 };
        }
    }
    masks
}
