//! A filter of one size, and what is done when more items come than it was made for.

use bloomrf_kernels::hash::Hash128;

use super::{ChainRefusal, Growth, Link, Scaling};
use crate::{Build, Inserted, Presence, Spec};

/// What is done with an item that is new to a full filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overflow {
    /// It is inserted and counted in [`Load::past`]: the rate rises, slowly at first.
    Warn,
    /// The filter gets a successor, within the promised rate.
    Successor(Growth),
    /// It is refused and counted in [`Load::refused`]; nothing changes.
    Refuse,
}

/// How full a filter is against what it was made for; what a metric shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Distinct items that it was made for, before any successor.
    pub capacity: u64,
    /// Items that were new.
    pub inserted: u64,
    /// How many of them came past the capacity; a warning is due when this is not 0.
    pub past: u64,
    /// New items that were refused. One that comes twice is counted twice.
    pub refused: u64,
    /// Filters that were added since.
    pub successors: usize,
}

/// A filter made for a number of items, with a rule for more of them.
#[derive(Clone, Debug)]
pub struct Fixed<F> {
    chain: Scaling<F>,
    overflow: Overflow,
    refused: u64,
}

impl<F: Build> Fixed<F> {
    /// An empty filter. If it may have successors it is made tighter than `spec.fpr`, so that all
    /// of them together keep to that.
    ///
    /// # Errors
    /// Where there can be no such filter, or it could not grow so.
    pub fn new(spec: &Spec, overflow: Overflow) -> Result<Self, ChainRefusal> {
        match overflow {
            Overflow::Successor(growth) => {
                Ok(Fixed { chain: Scaling::new(spec, growth)?, overflow, refused: 0 })
            }
            Overflow::Warn | Overflow::Refuse => {
                let filter = F::build(spec).map_err(ChainRefusal::Link)?;
                Fixed::of(filter, spec, overflow)
            }
        }
    }

    /// A filter that there already is, made by `spec`. It has its rate; its successors have no
    /// more than that together once again, so that the rate of all is at most twice `spec.fpr`.
    ///
    /// # Errors
    /// Where it could not grow so.
    pub fn of(filter: F, spec: &Spec, overflow: Overflow) -> Result<Self, ChainRefusal> {
        let (fpr, growth) = match overflow {
            Overflow::Successor(growth) => ((2.0 * spec.fpr).min(1.0), growth),
            Overflow::Warn | Overflow::Refuse => {
                (spec.fpr, Growth { links_max: 1, bytes_max: u64::MAX, ..Growth::default() })
            }
        };
        let link = Link { filter, spec: *spec };
        Ok(Fixed { chain: Scaling::from_links(fpr, growth, vec![link])?, overflow, refused: 0 })
    }
}

impl<F: Presence> Fixed<F> {
    /// How full it is.
    #[must_use]
    pub fn load(&self) -> Load {
        let links = self.chain.links();
        let capacity = links[0].spec.items;
        let inserted = links.iter().map(|link| link.filter.inserted()).sum();
        Load {
            capacity,
            inserted,
            past: u64::saturating_sub(inserted, capacity),
            refused: self.refused,
            successors: links.len() - 1,
        }
    }

    /// The filter, and its successors.
    #[must_use]
    pub fn into_chain(self) -> Scaling<F> {
        self.chain
    }
}

impl<F: Build> Presence for Fixed<F> {
    fn insert(&mut self, item: Hash128) -> Inserted {
        let done = match self.overflow {
            Overflow::Warn => self.chain.newest_mut().filter.insert(item),
            Overflow::Successor(_) | Overflow::Refuse => self.chain.insert(item),
        };
        self.refused += u64::from(done == Inserted::Full);
        done
    }

    fn contains(&self, item: Hash128) -> bool {
        self.chain.contains(item)
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        let refused = match self.overflow {
            Overflow::Warn => self.chain.newest_mut().filter.insert_many(items),
            Overflow::Successor(_) | Overflow::Refuse => self.chain.insert_many(items),
        };
        self.refused += refused as u64;
        refused
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        self.chain.contains_many(items, found);
    }

    fn capacity(&self) -> u64 {
        self.chain.capacity()
    }

    fn inserted(&self) -> u64 {
        self.chain.inserted()
    }

    fn fill(&self) -> f64 {
        self.chain.fill()
    }

    fn fpr(&self) -> f64 {
        self.chain.fpr()
    }

    fn estimate(&self) -> f64 {
        self.chain.estimate()
    }

    fn bytes(&self) -> u64 {
        self.chain.bytes()
    }
}
