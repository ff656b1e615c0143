//! The sections that a filter is stored in: one, or one for each link of a chain.

use bloomrf_kernels::{Kernel, words};

use super::StoredFilter;
use super::compound::Compound;
use super::entry::Counts;
use super::shape::Shape;
use crate::any::{each_scaling, each_sharded};
use crate::scaling::Link;
use crate::{
    AnyFilter, AnyScaling, AnySharded, Blocked, Classic, Counting, Cuckoo, Imported, Presence,
    Scaling, Sharded, SplitBlock,
};

/// A filter as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'a> {
    pub(super) shape: Shape,
    pub(super) counts: Counts,
    words: &'a [u64],
}

/// A filter that is stored in one section.
trait Single: Presence {
    fn shape(&self) -> Shape;
    fn words(&self) -> &[u64];
}

impl<'a> Section<'a> {
    fn of(filter: &'a impl Single, capacity: u64, target_fpr: Option<f64>) -> Self {
        let (shape, words) = (filter.shape(), filter.words());
        let ones = words::ones(Kernel::best(), words);
        let counts = Counts { capacity, target_fpr, inserted: filter.inserted(), ones };
        Section { shape, counts, words }
    }

    fn single(filter: &'a impl Single, target_fpr: Option<f64>) -> Vec<Self> {
        vec![Section::of(filter, filter.capacity(), target_fpr)]
    }

    /// Appends the payload: words, little-endian.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for word in self.words {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// The sections of a filter, in the order of the table, and what makes one filter of them.
pub(super) fn sections(stored: &StoredFilter) -> (Vec<Section<'_>>, Option<Compound>) {
    let target = stored.target_fpr;
    let sections = match &stored.filter {
        AnyFilter::Classic(filter) => Section::single(filter, target),
        AnyFilter::SplitBlock(filter) => Section::single(filter, target),
        AnyFilter::Blocked(filter) => Section::single(filter, target),
        AnyFilter::Counting(filter) => Section::single(filter, target),
        AnyFilter::Cuckoo(filter) => Section::single(filter, target),
        AnyFilter::Imported(filter) => Section::single(filter, target),
        AnyFilter::Scaling(chain) => {
            let form = Compound::Scaling { fpr: chain.promised_fpr(), growth: chain.growth() };
            return (each_scaling!(chain, chain => links(chain)), Some(form));
        }
        AnyFilter::Sharded(shards) => {
            let form = Compound::Sharded { capacity: shards.capacity() };
            return (each_sharded!(shards, shards => parts(shards, target)), Some(form));
        }
    };
    (sections, None)
}

fn links<F: Single>(chain: &Scaling<F>) -> Vec<Section<'_>> {
    let links = chain.links().iter();
    links.map(|Link { filter, spec }| Section::of(filter, spec.items, Some(spec.fpr))).collect()
}

fn parts<F: Single>(shards: &Sharded<F>, target_fpr: Option<f64>) -> Vec<Section<'_>> {
    let shards = shards.shards().iter();
    shards.map(|shard| Section::of(shard, shard.capacity(), target_fpr)).collect()
}

impl Single for Classic {
    fn shape(&self) -> Shape {
        Shape::Classic { k: self.k() as u8, bits: self.bits() }
    }

    fn words(&self) -> &[u64] {
        self.words()
    }
}

impl Single for SplitBlock {
    fn shape(&self) -> Shape {
        Shape::SplitBlock { words: self.words().len() as u64 }
    }

    fn words(&self) -> &[u64] {
        self.words()
    }
}

impl Single for Blocked {
    fn shape(&self) -> Shape {
        Shape::Blocked { k: self.k() as u8, words: self.words().len() as u64 }
    }

    fn words(&self) -> &[u64] {
        self.words()
    }
}

impl Single for Counting {
    fn shape(&self) -> Shape {
        Shape::Counting { k: self.k() as u8, words: self.words().len() as u64 }
    }

    fn words(&self) -> &[u64] {
        self.words()
    }
}

impl Single for Cuckoo {
    fn shape(&self) -> Shape {
        Shape::Cuckoo { words: self.buckets().len() as u64 }
    }

    fn words(&self) -> &[u64] {
        self.buckets()
    }
}

impl Single for Imported {
    fn shape(&self) -> Shape {
        Shape::Imported { rule: self.rule(), k: self.k() as u8, bits: self.bits() }
    }

    fn words(&self) -> &[u64] {
        self.words()
    }
}
