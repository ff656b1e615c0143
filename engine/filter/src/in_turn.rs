//! Questions for many items to several filters in turn: each hands on what it did not find.
//!
//! No allocation; the first filters that are asked should be those that find most.

use bloomrf_kernels::hash::Hash128;

use crate::Presence;

/// Items that go through all filters together.
pub(crate) const TURN: usize = 512;

/// Sets the bit of every item that one of `filters` may hold, as [`Presence::contains_many`].
pub(crate) fn contains_many<'f, F: Presence + 'f>(
    filters: impl Iterator<Item = &'f F> + Clone,
    items: &[Hash128],
    found: &mut [u64],
) {
    assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
    found.fill(0);
    let mut open = Open::new();
    for (items, found) in items.chunks(TURN).zip(found.chunks_mut(TURN / 64)) {
        open.start(items);
        for filter in filters.clone() {
            if open.count == 0 {
                break;
            }
            open.ask(filter, |place| found[place / 64] |= 1 << (place % 64));
        }
    }
}

/// The items of a turn that no filter has found yet.
pub(crate) struct Open {
    items: [Hash128; TURN],
    places: [u16; TURN],
    count: usize,
}

impl Open {
    pub(crate) fn new() -> Self {
        Open { items: [Hash128 { lo: 0, hi: 0 }; TURN], places: [0; TURN], count: 0 }
    }

    /// At most [`TURN`] items, none of them found.
    pub(crate) fn start(&mut self, items: &[Hash128]) {
        self.count = items.len();
        self.items[..self.count].copy_from_slice(items);
        for (i, place) in self.places[..self.count].iter_mut().enumerate() {
            *place = i as u16;
        }
    }

    pub(crate) fn items(&self) -> &[Hash128] {
        &self.items[..self.count]
    }

    /// Takes the first `count` out.
    pub(crate) fn skip(&mut self, count: usize) {
        self.items.copy_within(count..self.count, 0);
        self.places.copy_within(count..self.count, 0);
        self.count -= count;
    }

    /// Takes out what `filter` may hold; `found` hears of the place of each in the turn.
    pub(crate) fn ask(&mut self, filter: &impl Presence, mut found: impl FnMut(usize)) {
        let mut answers = [0; TURN / 64];
        filter.contains_many(&self.items[..self.count], &mut answers);
        let mut kept = 0;
        for i in 0..self.count {
            if answers[i / 64] >> (i % 64) & 1 == 1 {
                found(usize::from(self.places[i]));
            } else {
                self.items[kept] = self.items[i];
                self.places[kept] = self.places[i];
                kept += 1;
            }
        }
        self.count = kept;
    }
}
