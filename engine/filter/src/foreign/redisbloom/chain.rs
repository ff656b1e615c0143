//! A chain of Bloom filters, `BF.*`: what `BF.RESERVE` makes and `BF.ADD` grows.

use bloomrf_kernels::hash::Hash128;

use super::super::{BitArray, BitOrder, Foreign, Limits, Refusal, Rule};
use super::LinkHead;
use crate::{Inserted, SizeRefusal};

/// What `BF.RESERVE` is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reserve {
    /// The rate of the whole chain.
    pub error: f64,
    /// Items of the first link.
    pub capacity: u64,
    /// How many times as many the next link holds; `None`: there is no next link (NONSCALING).
    pub expansion: Option<u32>,
}

impl Default for Reserve {
    /// What `BF.ADD` makes where there is no filter.
    fn default() -> Self {
        Reserve { error: 0.01, capacity: 100, expansion: Some(DEFAULT_EXPANSION) }
    }
}

/// A chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    pub(super) limits: Limits,
    pub(super) is_scaling: bool,
    pub(super) growth: u32,
    pub(super) links: Vec<Link>,
}

/// A link of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) head: LinkHead,
    pub(super) bits: BitArray,
}

impl Chain {
    /// A chain of one empty link.
    ///
    /// # Errors
    /// Where the numbers make no filter, or one beyond the limit.
    pub fn build(reserve: &Reserve, limits: Limits) -> Result<Self, SizeRefusal> {
        let is_scaling = reserve.expansion.is_some();
        if !(reserve.error > 0.0 && reserve.error < 1.0) {
            return Err(SizeRefusal::Rate(reserve.error));
        }
        let growth = reserve.expansion.unwrap_or(DEFAULT_EXPANSION).clamp(1, EXPANSION_MAX);
        let error = if is_scaling { reserve.error * TIGHTENING } else { reserve.error };
        let mut chain = Chain { limits, is_scaling, growth, links: Vec::new() };
        chain.append(reserve.capacity, error)?;
        Ok(chain)
    }

    /// From links that were read, whose heads were checked.
    pub(super) fn assemble(
        limits: Limits,
        is_scaling: bool,
        growth: u32,
        links: impl Iterator<Item = (LinkHead, Vec<u8>)>,
    ) -> Result<Self, Refusal> {
        let links = links.map(|(head, bytes)| {
            let bits = BitArray::from_bytes(BitOrder::LsbFirst, head.bits(), &bytes);
            head.check_ones(bits.ones())?;
            Ok(Link { head, bits })
        });
        let links = links.collect::<Result<Vec<Link>, Refusal>>()?;
        Ok(Chain { limits, is_scaling, growth, links })
    }

    /// Adds an item, as `BF.ADD` does: to the newest link, unless a link has it already.
    pub fn insert(&mut self, item: &[u8]) -> Inserted {
        let hash = self.hash(item);
        if self.contains_hash(hash) {
            return Inserted::Seen;
        }
        let Some(newest) = self.links.last().map(|link| link.head) else { return Inserted::Full };
        if newest.size >= newest.entries {
            let entries = newest.entries.saturating_mul(self.growth.into());
            let is_full =
                !self.is_scaling || self.append(entries, newest.error * TIGHTENING).is_err();
            if is_full {
                return Inserted::Full;
            }
        }
        if let Some(link) = self.links.last_mut() {
            link.bits.insert(Rule::RedisBloom, link.head.hashes, hash);
            link.head.size += 1;
        }
        Inserted::New
    }

    /// The heads of its links, oldest first.
    pub fn links(&self) -> impl Iterator<Item = LinkHead> {
        self.links.iter().map(|link| link.head)
    }

    /// `BF.CARD`: adds that changed a bit, at most the number of distinct items.
    #[must_use]
    pub fn card(&self) -> u64 {
        self.links().map(|head| head.size).sum()
    }

    /// Whether it adds links.
    #[must_use]
    pub fn is_scaling(&self) -> bool {
        self.is_scaling
    }

    /// The most that its rate can be while no link is overfull: the sum of those of the links.
    #[must_use]
    pub fn error_bound(&self) -> f64 {
        self.links().map(|head| head.error).sum()
    }

    pub(super) fn options(&self) -> u32 {
        NO_ROUNDING | HASHES_OF_64_BITS | if self.is_scaling { 0 } else { NO_SCALING }
    }

    fn append(&mut self, entries: u64, error: f64) -> Result<(), SizeRefusal> {
        let head = LinkHead::sized_for(entries, error)?;
        if head.bytes.saturating_add(self.bytes()) > self.limits.bytes_max {
            let most = self.limits.bytes_max.saturating_mul(8);
            return Err(SizeRefusal::TooLarge { bits: head.bits() as f64, most });
        }
        self.links.push(Link { head, bits: BitArray::zeros(BitOrder::LsbFirst, head.bits()) });
        Ok(())
    }
}

impl Foreign for Chain {
    fn hash(&self, item: &[u8]) -> Hash128 {
        Rule::RedisBloom.hash(item)
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        let mut newest_first = self.links.iter().rev();
        newest_first.any(|link| link.bits.contains(Rule::RedisBloom, link.head.hashes, hash))
    }

    fn fpr(&self) -> f64 {
        let misses = self.links.iter().map(|link| {
            let k = i32::try_from(link.head.hashes).unwrap_or(i32::MAX);
            1.0 - link.bits.fill().powi(k)
        });
        1.0 - misses.product::<f64>()
    }

    /// `BF.CARD`.
    fn estimate(&self) -> f64 {
        self.card() as f64
    }

    fn bytes(&self) -> u64 {
        self.links().map(|head| head.bytes).sum()
    }
}

/// What a dump says of a chain as a whole, before its links are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) size: u64,
    pub(super) options: u32,
    pub(super) growth: u32,
}

impl Whole {
    /// Whether the chain is one that this module can answer for; says whether it grows.
    pub(super) fn check(self, links: u64) -> Result<bool, Refusal> {
        let base = NO_ROUNDING | HASHES_OF_64_BITS;
        let is_scaling = match self.options ^ base {
            0 => true,
            NO_SCALING => false,
            _ => {
                let expected = "5 (scaling) or 13 (not scaling); others had 32-bit hashes or \
                                sizes of powers of two";
                return Err(Refusal::field("the options of a chain", self.options, expected));
            }
        };
        if links == 0 || (links > 1 && !is_scaling) {
            let expected = if is_scaling { "at least 1" } else { "1, as it does not scale" };
            return Err(Refusal::field("the number of links", links, expected));
        }
        if is_scaling && !(1..=EXPANSION_MAX).contains(&self.growth) {
            let expected = format!("from 1 to {EXPANSION_MAX}");
            return Err(Refusal::field("the expansion of a chain", self.growth, expected));
        }
        Ok(is_scaling)
    }

    /// Whether the links follow from the first one, and hold as many as the chain says.
    pub(super) fn check_links(self, heads: &[LinkHead]) -> Result<(), Refusal> {
        for pair in heads.windows(2) {
            let [before, link] = pair else { continue };
            let entries = before.entries.checked_mul(self.growth.into());
            if entries != Some(link.entries) {
                let expected = format!("{} times {}", self.growth, before.entries);
                return Err(Refusal::field("a link's capacity", link.entries, expected));
            }
            let error = before.error * TIGHTENING;
            if (link.error - error).abs() > error * 1e-9 {
                return Err(Refusal::field("a link's rate", link.error, error));
            }
        }
        let sizes = heads.iter().try_fold(0_u64, |sum, head| sum.checked_add(head.size));
        if sizes != Some(self.size) {
            let expected =
                sizes.map_or("less".into(), |sizes| format!("{sizes}, as its links say"));
            return Err(Refusal::field("the items of a chain", self.size, expected));
        }
        Ok(())
    }
}

/// Sizes are not rounded to powers of two.
const NO_ROUNDING: u32 = 1;
const HASHES_OF_64_BITS: u32 = 4;
const NO_SCALING: u32 = 8;
/// How much less the rate of the next link is.
const TIGHTENING: f64 = 0.5;
const DEFAULT_EXPANSION: u32 = 2;
const EXPANSION_MAX: u32 = 32_768;
