//! The cuckoo filter: items can be taken back, at 17 bits an item and a rate of 1.2e-4.
//!
//! A fingerprint of 16 bits in one of two buckets of four. Each insert takes a slot, of the same
//! item too: of one item there is room for at most eight. A filter may be full; an insert that
//! finds no room changes nothing, so that nothing that was taken in is ever lost. What is provably
//! absent cannot be taken back; that is refused, counted, and changes nothing.

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, cuckoo};

use crate::blocks::{STEP, refusal};
use crate::{Build, Inserted, Presence, Remove, Removed, SizeRefusal, Spec};

/// A cuckoo filter that owns its buckets.
#[derive(Clone, Debug)]
pub struct Cuckoo {
    kernel: Kernel,
    capacity: u64,
    inserted: u64,
    refused: u64,
    buckets: Vec<u64>,
}

impl Cuckoo {
    /// A filter of these buckets, four fingerprints in each, lowest first, 0 for none; `None`
    /// unless there are 1 to 2^32 - 1. A `capacity` of 0 stands for an unknown one.
    #[must_use]
    pub fn from_parts(buckets: Vec<u64>, capacity: u64, inserted: u64) -> Option<Self> {
        let fits = (1..=cuckoo::BUCKETS_MAX).contains(&(buckets.len() as u64));
        let kernel = Kernel::best();
        fits.then_some(Cuckoo { kernel, capacity, inserted, refused: 0, buckets })
    }

    /// Its buckets.
    #[must_use]
    pub fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    /// Removals that were refused since it was made.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn slots(&self) -> f64 {
        (self.buckets.len() * cuckoo::SLOTS) as f64
    }
}

impl Build for Cuckoo {
    fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        if !(spec.fpr > 0.0 && spec.fpr < 1.0) {
            return Err(SizeRefusal::Rate(spec.fpr));
        }
        if spec.items == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let lowest = cuckoo::fpr(cuckoo::LOAD);
        if spec.fpr < lowest {
            return Err(SizeRefusal::Unreachable { asked: spec.fpr, lowest });
        }
        let buckets = cuckoo::buckets_for(spec.items)
            .map_err(|why| refusal(why, 64, cuckoo::BUCKETS_MAX, |_| true))?;
        Ok(Cuckoo {
            kernel: Kernel::best(),
            capacity: spec.items,
            inserted: 0,
            refused: 0,
            buckets: vec![0; buckets as usize],
        })
    }

    /// What it takes exactly, whatever the rate.
    fn bytes_least(spec: &Spec) -> u64 {
        cuckoo::buckets_for(spec.items).map_or(0, |buckets| buckets * 8)
    }
}

impl Remove for Cuckoo {
    fn remove(&mut self, item: Hash128) -> Removed {
        let taken = cuckoo::remove(&mut self.buckets, item);
        self.inserted = self.inserted.saturating_sub(taken.gone);
        self.refused += 1 - taken.done;
        if taken.done == 1 { Removed::Done } else { Removed::Absent }
    }
}

impl Presence for Cuckoo {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let added = cuckoo::insert(&mut self.buckets, item);
        self.inserted += added.new;
        match (added.full, added.new) {
            (1, _) => Inserted::Full,
            (_, 1) => Inserted::New,
            _ => Inserted::Seen,
        }
    }

    fn contains(&self, item: Hash128) -> bool {
        cuckoo::contains(&self.buckets, item)
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        let mut full = 0;
        let mut refused = [0; STEP / 64];
        for items in items.chunks(STEP) {
            let added = cuckoo::insert_many(self.kernel, &mut self.buckets, items, &mut refused);
            self.inserted += added.new;
            full += added.full as usize;
        }
        full
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        cuckoo::contains_many(self.kernel, &self.buckets, items, found);
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Less those whose removal made them absent again.
    fn inserted(&self) -> u64 {
        self.inserted
    }

    fn fill(&self) -> f64 {
        cuckoo::taken(&self.buckets) as f64 / self.slots()
    }

    fn fpr(&self) -> f64 {
        cuckoo::fpr(self.fill())
    }

    /// The slots that are taken: exact but for items that were inserted more than once.
    fn estimate(&self) -> f64 {
        cuckoo::taken(&self.buckets) as f64
    }

    fn bytes(&self) -> u64 {
        8 * self.buckets.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashRule;

    fn item(i: u64) -> Hash128 {
        HashRule::Native { seed: 1 }.hash(&i.to_le_bytes())
    }

    #[test]
    fn what_it_is_for_fits_and_what_it_took_in_stays_when_it_is_full() {
        let mut filter = Cuckoo::build(&Spec { items: 10_000, fpr: 0.001 }).unwrap();
        let items: Vec<Hash128> = (0..10_000).map(item).collect();
        assert_eq!(filter.insert_many(&items), 0);
        assert!(filter.bytes() * 8 < 17 * 10_000 + 2_000);
        let more: Vec<Hash128> = (10_000..13_000).map(item).collect();
        let taken: Vec<Hash128> =
            more.into_iter().filter(|item| filter.insert(*item) != Inserted::Full).collect();
        assert!((100..2_500).contains(&taken.len()), "{}", taken.len());
        let mut found = vec![0; items.len().div_ceil(64)];
        filter.contains_many(&items, &mut found);
        assert_eq!(found.iter().map(|word| word.count_ones()).sum::<u32>(), 10_000);
        assert!(taken.iter().all(|&item| filter.contains(item)));
        assert_eq!(filter.estimate(), (10_000 + taken.len()) as f64);
    }

    #[test]
    fn eight_of_one_item_fit_and_as_many_can_be_taken_back() {
        let mut filter = Cuckoo::build(&Spec { items: 1_000, fpr: 0.001 }).unwrap();
        assert_eq!(filter.insert(item(3)), Inserted::New);
        (0..7).for_each(|_| assert_eq!(filter.insert(item(3)), Inserted::Seen));
        assert_eq!(filter.insert(item(3)), Inserted::Full);
        (0..8).for_each(|_| assert_eq!(filter.remove(item(3)), Removed::Done));
        assert_eq!(filter.remove(item(3)), Removed::Absent);
        assert_eq!((filter.inserted(), filter.fill(), filter.refused()), (0, 0.0, 1));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |items, fpr| Cuckoo::build(&Spec { items, fpr }).unwrap_err();
        assert_eq!(refused(0, 0.1), SizeRefusal::NoItems);
        assert_eq!(refused(1, 1.0), SizeRefusal::Rate(1.0));
        assert!(matches!(refused(1, 1e-5), SizeRefusal::Unreachable { .. }));
        assert!(matches!(refused(u64::MAX, 0.01), SizeRefusal::TooLarge { .. }));
        assert!(Cuckoo::from_parts(vec![], 0, 0).is_none());
    }
}
