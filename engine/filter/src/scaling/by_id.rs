//! A growing filter from which items are taken back by the id that they came with, as dablooms.
//!
//! Ids ascend by and large (an offset, a time). Every link owns a range of them: from its first id
//! to the one before the next link's. An item goes to the owner of its id, even when that is over
//! full because the id came late, so that a removal by the same id finds it there. A new link is
//! begun only by an id above all before it.

use bloomrf_kernels::hash::Hash128;

use super::{ChainRefusal, Growth, Link, Scaling};
use crate::{Build, Inserted, Presence, Remove, Removed, Spec};

/// A chain of filters with removal, each of which owns a range of ids.
#[derive(Clone, Debug)]
pub struct ScalingById<F> {
    chain: Scaling<F>,
    /// First id of each link, ascending; that of the first is 0.
    firsts: Vec<u64>,
    /// The highest id that was inserted.
    highest: Option<u64>,
    late: u64,
}

impl<F: Build + Remove> ScalingById<F> {
    /// A chain of one link for `spec.items` that keeps to `spec.fpr` over any number of links.
    ///
    /// # Errors
    /// Where it cannot grow so, or its first link cannot be made.
    pub fn new(spec: &Spec, growth: Growth) -> Result<Self, ChainRefusal> {
        let chain = Scaling::new(spec, growth)?;
        Ok(ScalingById { chain, firsts: vec![0], highest: None, late: 0 })
    }

    /// Inserts one item under an id.
    ///
    /// [`Inserted::Full`] where the link that owns the id has no room and cannot get it.
    pub fn insert(&mut self, item: Hash128, id: u64) -> Inserted {
        let is_highest = self.highest.is_none_or(|highest| id > highest);
        let mut owner = self.owner(id);
        let was_full = self.chain.links[owner].room() == 0;
        if is_highest && was_full {
            if !self.begin_link() {
                return Inserted::Full;
            }
            owner = self.chain.links.len() - 1;
        }
        let was_empty = self.chain.links[owner].filter.inserted() == 0;
        let mut done = self.chain.links[owner].filter.insert(item);
        // Full by its own word: the next link takes an id that is above all others.
        if done == Inserted::Full && is_highest && !was_empty && self.begin_link() {
            done = self.chain.newest_mut().filter.insert(item);
        }
        if done != Inserted::Full {
            self.late += u64::from(!is_highest && was_full);
            self.highest = self.highest.max(Some(id));
        }
        done
    }

    /// Takes back an item that was inserted under `id`: of the link that owns the id, no other.
    pub fn remove(&mut self, item: Hash128, id: u64) -> Removed {
        if self.highest.is_none_or(|highest| id > highest) {
            return Removed::Absent;
        }
        let owner = self.owner(id);
        self.chain.links[owner].filter.remove(item)
    }

    /// Whether the item may be there, under any id.
    #[must_use]
    pub fn contains(&self, item: Hash128) -> bool {
        self.chain.contains(item)
    }

    /// Asks for many, as [`Presence::contains_many`].
    pub fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        self.chain.contains_many(items, found);
    }

    /// Whether there is a link for ids above all before; the newest if it is still empty.
    fn begin_link(&mut self) -> bool {
        let first = self.highest.map_or(0, |highest| highest.saturating_add(1));
        let is_there = self.chain.make_room();
        if is_there {
            self.firsts.push(first);
        }
        is_there
    }
}

impl<F: Presence> ScalingById<F> {
    /// The links, newest last, each with the first id that it owns.
    pub fn links(&self) -> impl Iterator<Item = (u64, &Link<F>)> {
        self.firsts.iter().copied().zip(&self.chain.links)
    }

    /// The chain of them; read only, since ids own its links.
    #[must_use]
    pub fn chain(&self) -> &Scaling<F> {
        &self.chain
    }

    /// The highest id that was inserted.
    #[must_use]
    pub fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// Items that came to a link that was full, because their ids were late. They raise its rate.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    fn owner(&self, id: u64) -> usize {
        self.firsts.partition_point(|first| *first <= id).saturating_sub(1)
    }
}
