//! A filter that grows: a chain of links of one kind, each tighter than the one before.
//!
//! The rate of the chain is at most the sum of the rates of its links, so every new link gets a
//! fixed share, `1 - tightening`, of what the links before it left of the promise: the sum never
//! reaches the promise, at any number of links. A twentieth of it is kept back for chance.
//!
//! A link is full when as many items as its capacity were *new* in it. An item that some link
//! already says *maybe* to is not inserted again and sets no bit, so a link's fill is that of its
//! new items. To be new an item has to set a bit, so they fill it as some more items would of
//! which a few were swallowed: at most `rate` of them. A link is built for that many more. Fill
//! alone is no good measure: a kind whose fill stays low would never end.
//!
//! Cost: a question to a chain of L links is up to L questions, newest first. With a growth factor
//! of 2 or more half of the items or more are in the newest link.

mod by_id;
mod fixed;
#[cfg(test)]
mod tests;

use bloomrf_kernels::hash::Hash128;

use crate::in_turn::{self, Open, TURN};
use crate::{Build, Inserted, Presence, SizeRefusal, Spec};

pub use by_id::ScalingById;
pub use fixed::{Fixed, Load, Overflow};

/// Most links of a chain.
pub const LINKS_MAX: usize = 64;
/// Most that a link may be larger than the one before.
pub const FACTOR_MAX: u32 = 32;

/// The part of the promise that no link is built for. The rate of a link that was built for 1 % is
/// 1 % give or take: k is a whole number, and which bits two thousand items set is chance.
const KEPT_BACK: f64 = 0.05;

/// How a chain grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// How many times as many items as its predecessor a link holds: 1 to [`FACTOR_MAX`].
    pub factor: u32,
    /// The share of what is left of the rate that a link leaves to its successors, 0.1 to 0.95.
    /// 0.5 costs 1.44 bits an item more with each link; 0.8 costs 2.4 bits more in the first link
    /// and 0.46 more with each: better for many links of one size.
    pub tightening: f64,
    /// Most links, 1 to [`LINKS_MAX`].
    pub links_max: usize,
    /// Most bytes of all links together.
    pub bytes_max: u64,
}

impl Default for Growth {
    fn default() -> Self {
        Growth { factor: 2, tightening: 0.5, links_max: LINKS_MAX, bytes_max: 1 << 40 }
    }
}

/// Why a chain cannot be so, or cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainRefusal {
    /// A growth factor outside of its range.
    #[error("a link is 1 to {FACTOR_MAX} times as large as the one before, not {0}")]
    Factor(u32),
    /// A tightening outside of its range.
    #[error("a link leaves 0.1 to 0.95 of the rate to its successors, not {0}")]
    Tightening(f64),
    /// No links at all: such a chain would say that everything is absent.
    #[error("a chain without links: it lost its items, or never had any; build it anew")]
    NoLinks,
    /// More links than allowed.
    #[error("{links} links, and {most} are the most: start with a larger one, or let them grow")]
    Links {
        /// How many there would be.
        links: usize,
        /// Most links.
        most: usize,
    },
    /// More bytes than allowed.
    #[error("its links would take {bytes} bytes, and {most} are the most: allow more of them")]
    Bytes {
        /// How many there would be.
        bytes: u64,
        /// Most bytes.
        most: u64,
    },
    /// The rates of the links add up to more than was promised.
    #[error("the rates of its links add up to {sum}, and {most} was promised")]
    Rates {
        /// Sum of the rates.
        sum: f64,
        /// The promise.
        most: f64,
    },
    /// There is no such link.
    #[error("no such link: {0}")]
    Link(SizeRefusal),
}

/// A filter of a chain, and what it was built for.
#[derive(Clone, Debug)]
pub struct Link<F> {
    /// The filter.
    pub filter: F,
    /// Its capacity and its share of the rate.
    pub spec: Spec,
}

impl<F: Presence> Link<F> {
    fn room(&self) -> u64 {
        self.spec.items.saturating_sub(self.filter.inserted())
    }
}

/// A chain of filters of one kind that grows as items come, within a promised rate.
#[derive(Clone, Debug)]
pub struct Scaling<F> {
    /// The promise for all links together.
    fpr: f64,
    growth: Growth,
    /// Newest last, never empty.
    links: Vec<Link<F>>,
    refusal: Option<ChainRefusal>,
}

impl<F: Build> Scaling<F> {
    /// A chain of one link for `spec.items` that keeps to `spec.fpr` over any number of links.
    ///
    /// # Errors
    /// Where it cannot grow so, or its first link cannot be made.
    pub fn new(spec: &Spec, growth: Growth) -> Result<Self, ChainRefusal> {
        if !(spec.fpr > 0.0 && spec.fpr < 1.0) {
            return Err(ChainRefusal::Link(SizeRefusal::Rate(spec.fpr)));
        }
        let mut chain = Scaling { fpr: spec.fpr, growth, links: Vec::new(), refusal: None };
        chain.grows()?;
        chain.push(spec.items)?;
        Ok(chain)
    }

    /// A chain of links that were stored, newest last.
    ///
    /// # Errors
    /// Without links, with more links or bytes than `growth` allows, where a link has no capacity
    /// or no rate, or where their rates add up to more than `fpr`.
    pub fn from_links(fpr: f64, growth: Growth, links: Vec<Link<F>>) -> Result<Self, ChainRefusal> {
        let chain = Scaling { fpr, growth, links, refusal: None };
        chain.grows()?;
        if chain.links.is_empty() {
            return Err(ChainRefusal::NoLinks);
        }
        for Link { spec, .. } in &chain.links {
            if spec.items == 0 {
                return Err(ChainRefusal::Link(SizeRefusal::NoItems));
            }
            if !(spec.fpr > 0.0 && spec.fpr < 1.0) {
                return Err(ChainRefusal::Link(SizeRefusal::Rate(spec.fpr)));
            }
        }
        chain.fits(chain.links.len(), chain.bytes(), chain.rates())?;
        Ok(chain)
    }

    /// Adds a link, ahead of need.
    ///
    /// # Errors
    /// Where there may be no more, or the kind cannot be made so; the chain is as it was.
    pub fn grow(&mut self) -> Result<(), ChainRefusal> {
        let items = self.newest().spec.items.saturating_mul(u64::from(self.growth.factor));
        self.push(items)
    }

    /// Takes a chain's links in, so that what it holds is held here.
    ///
    /// Sound only where the rates of all links still add up to no more than this chain promises:
    /// two young chains that tighten slowly, or one that was promised far less. No items are lost
    /// and no link is changed; new items go where they went before.
    ///
    /// # Errors
    /// Where the rates, the links or the bytes would be more than this chain allows; it is as it
    /// was.
    pub fn merge(&mut self, other: &Self) -> Result<(), ChainRefusal>
    where
        F: Clone,
    {
        let links = self.links.len() + other.links.len();
        let bytes = self.bytes().saturating_add(other.bytes());
        self.fits(links, bytes, self.rates() + other.rates())?;
        self.links.splice(..0, other.links.iter().cloned());
        Ok(())
    }

    fn push(&mut self, items: u64) -> Result<(), ChainRefusal> {
        let left = (self.fpr * (1.0 - KEPT_BACK) - self.rates()).max(0.0);
        let spec = Spec { items, fpr: left * (1.0 - self.growth.tightening) };
        let links = self.links.len() + 1;
        let rates = self.rates() + spec.fpr;
        self.fits(links, self.bytes().saturating_add(F::bytes_least(&spec)), rates)?;
        let swallowed = (items as f64 * spec.fpr).ceil() as u64;
        let filter = F::build(&Spec { items: items.saturating_add(swallowed), ..spec })
            .map_err(ChainRefusal::Link)?;
        self.fits(links, self.bytes().saturating_add(filter.bytes()), rates)?;
        self.links.push(Link { filter, spec });
        Ok(())
    }
}

impl<F: Presence> Scaling<F> {
    /// Its links, newest last; at least one.
    #[must_use]
    pub fn links(&self) -> &[Link<F>] {
        &self.links
    }

    /// Its links, newest last; at least one.
    #[must_use]
    pub fn into_links(self) -> Vec<Link<F>> {
        self.links
    }

    /// How it grows.
    #[must_use]
    pub fn growth(&self) -> Growth {
        self.growth
    }

    /// The rate that it keeps to over any number of links.
    #[must_use]
    pub fn promised_fpr(&self) -> f64 {
        self.fpr
    }

    /// Why it could not grow when there was last no room.
    #[must_use]
    pub fn refusal(&self) -> Option<ChainRefusal> {
        self.refusal
    }

    /// Sum of the rates that its links were built for.
    fn rates(&self) -> f64 {
        self.links.iter().map(|link| link.spec.fpr).sum()
    }

    fn newest(&self) -> &Link<F> {
        &self.links[self.links.len() - 1]
    }

    fn newest_mut(&mut self) -> &mut Link<F> {
        let last = self.links.len() - 1;
        &mut self.links[last]
    }

    fn newest_first(&self) -> impl Iterator<Item = &F> + Clone {
        self.links.iter().rev().map(|link| &link.filter)
    }

    fn grows(&self) -> Result<(), ChainRefusal> {
        let Growth { factor, tightening, links_max, .. } = self.growth;
        if !(1..=FACTOR_MAX).contains(&factor) {
            return Err(ChainRefusal::Factor(factor));
        }
        if !(0.1..=0.95).contains(&tightening) {
            return Err(ChainRefusal::Tightening(tightening));
        }
        if !(1..=LINKS_MAX).contains(&links_max) {
            return Err(ChainRefusal::Links { links: links_max, most: LINKS_MAX });
        }
        Ok(())
    }

    fn fits(&self, links: usize, bytes: u64, rates: f64) -> Result<(), ChainRefusal> {
        let Growth { links_max, bytes_max, .. } = self.growth;
        if links > links_max {
            return Err(ChainRefusal::Links { links, most: links_max });
        }
        // The sum of a hundred rates is right to 14 digits; a sum that is no number is refused.
        if rates.is_nan() || rates > self.fpr * (1.0 + 1e-9) {
            return Err(ChainRefusal::Rates { sum: rates, most: self.fpr });
        }
        if bytes > bytes_max {
            return Err(ChainRefusal::Bytes { bytes, most: bytes_max });
        }
        Ok(())
    }
}

impl<F: Build> Scaling<F> {
    /// Adds a link for an item that had no room; whether there is one.
    fn make_room(&mut self) -> bool {
        self.refusal = self.grow().err();
        self.refusal.is_none()
    }

    /// Inserts what the older links do not hold; returns how many there was no room for.
    fn insert_open(&mut self, open: &mut Open) -> usize {
        while !open.items().is_empty() {
            let newest = self.newest_mut();
            let take = newest.room().min(open.items().len() as u64) as usize;
            let was_empty = newest.filter.inserted() == 0;
            let refused = newest.filter.insert_many(&open.items()[..take]);
            if take > 0 && refused == 0 {
                open.skip(take);
                continue;
            }
            // The newest is full, by our count or by its own word: it is asked like an old one.
            open.ask(&newest.filter, |_| {});
            let left = open.items().len();
            if left > 0 && ((take > 0 && was_empty && refused == take) || !self.make_room()) {
                return left;
            }
        }
        0
    }
}

impl<F: Build> Build for Scaling<F> {
    /// A chain that grows by default.
    fn build(spec: &Spec) -> Result<Self, SizeRefusal> {
        Scaling::new(spec, Growth::default()).map_err(|why| match why {
            ChainRefusal::Link(why) => why,
            // The default growth is right and one link within it, so that bytes alone are left.
            _ => SizeRefusal::TooLarge {
                bits: 8.0 * F::bytes_least(spec) as f64,
                most: Growth::default().bytes_max.saturating_mul(8),
            },
        })
    }
}

impl<F: Build> Presence for Scaling<F> {
    fn insert(&mut self, item: Hash128) -> Inserted {
        if self.contains(item) {
            return Inserted::Seen;
        }
        loop {
            let newest = self.newest_mut();
            let was_empty = newest.filter.inserted() == 0;
            if newest.room() > 0 {
                match newest.filter.insert(item) {
                    Inserted::Full if was_empty => return Inserted::Full,
                    Inserted::Full => {}
                    done => return done,
                }
            }
            if !self.make_room() {
                return Inserted::Full;
            }
        }
    }

    fn contains(&self, item: Hash128) -> bool {
        self.newest_first().any(|filter| filter.contains(item))
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        let mut refused = 0;
        let mut open = Open::new();
        for items in items.chunks(TURN) {
            open.start(items);
            for filter in self.newest_first().skip(1) {
                open.ask(filter, |_| {});
            }
            refused += self.insert_open(&mut open);
        }
        refused
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        in_turn::contains_many(self.newest_first(), items, found);
    }

    /// Of the links that it has now: it grows.
    fn capacity(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.spec.items))
    }

    fn inserted(&self) -> u64 {
        self.links.iter().map(|link| link.filter.inserted()).sum()
    }

    /// Of all bytes of all links.
    fn fill(&self) -> f64 {
        let filled: f64 =
            self.newest_first().map(|filter| filter.fill() * filter.bytes() as f64).sum();
        filled / (self.bytes() as f64).max(1.0)
    }

    fn fpr(&self) -> f64 {
        either(self.newest_first().map(Presence::fpr))
    }

    fn estimate(&self) -> f64 {
        self.newest_first().map(Presence::estimate).sum()
    }

    fn bytes(&self) -> u64 {
        self.newest_first().map(Presence::bytes).sum()
    }
}

/// The rate of several filters of which any may say *maybe*.
pub(crate) fn either(rates: impl Iterator<Item = f64>) -> f64 {
    // Through logarithms, so that rates of 1e-12 do not drown in what is left of 1.
    -rates.map(|rate| (-rate).ln_1p()).sum::<f64>().exp_m1()
}
