//! A chain of counting filters: a header of 24 bytes, then filters back to back.
//!
//! Filter `j` is sized for the rate `error / 2^(j+1)`, all for the same capacity; each takes items
//! up to one less than that, and an item belongs to the newest filter whose id is not above its
//! own. Two sequence numbers tell what a crash did to the file.

use bloomrf_kernels::hash::Hash128;

use super::super::cursor::Cursor;
use super::super::{Foreign, Limits, Refusal};
use super::{Counting, Params, Removed, Shape, counting, hash};
use crate::{Inserted, SizeRefusal};

/// The two sequence numbers of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Of what was changed; 0 while a change is under way.
    pub mem: u64,
    /// Of what was made durable last; 0 where something changed since.
    pub disk: u64,
}

/// What the sequence numbers say of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Flushed and not changed since.
    Clean,
    /// Changed since it was flushed, each change whole.
    Unflushed,
    /// A change had begun and not ended.
    Torn,
    /// Numbers that dablooms never leaves: damaged.
    Impossible,
}

/// What ended the process that wrote a chain last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process ended, by itself or not; the machine went on, and so did its page cache.
    Process,
    /// The machine stopped: pages reached the disk in any order, or did not.
    Machine,
}

impl Sequence {
    /// What they say.
    #[must_use]
    pub fn state(self) -> State {
        match self {
            Sequence { mem: 0, disk: 0 } => State::Torn,
            Sequence { disk: 0, .. } => State::Unflushed,
            Sequence { mem, disk } if mem == disk => State::Clean,
            _ => State::Impossible,
        }
    }

    /// Whether a chain in this state holds what was added to it, after such an end.
    #[must_use]
    pub fn is_whole_after(self, crash: Crash) -> bool {
        match (self.state(), crash) {
            (State::Clean, _) | (State::Unflushed, Crash::Process) => true,
            (State::Unflushed, Crash::Machine) | (State::Torn | State::Impossible, _) => false,
        }
    }
}

/// A chain of counting filters.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    params: Params,
    limits: Limits,
    id_max: u64,
    sequence: Sequence,
    links: Vec<Counting>,
}

impl Scaling {
    /// A chain of one empty filter.
    ///
    /// # Errors
    /// Where the parameters make no filter, or one beyond the limit.
    pub fn build(params: &Params, limits: Limits) -> Result<Self, SizeRefusal> {
        Shape::of(params)?;
        let sequence = Sequence { mem: 1, disk: 0 };
        let mut chain = Scaling { params: *params, limits, id_max: 0, sequence, links: Vec::new() };
        chain.append(0)?;
        Ok(chain)
    }

    /// Reads a whole file, in whatever [`state`](Sequence::state) it is.
    ///
    /// # Errors
    /// Where the parameters do not give its length, or a field cannot be right.
    pub fn parse(file: &[u8], params: &Params, limits: Limits) -> Result<Self, Refusal> {
        layout(file.len() as u64, params)?;
        limits.admit(file.len() as u64)?;
        let mut cursor = Cursor::new("a chain of this capacity and rate", file);
        let id_max = cursor.u64_le()?;
        let sequence = Sequence { mem: cursor.u64_le()?, disk: cursor.u64_le()? };
        let mut links: Vec<Counting> = Vec::new();
        while !cursor.rest().is_empty() {
            let link = Counting::read(&mut cursor, &link_params(params, links.len()), limits)?;
            let is_in_order = match links.last() {
                None => link.id() == 0,
                Some(before) => link.id() > before.id(),
            };
            if !is_in_order {
                let expected = "0 for the first filter, and above that of the filter before";
                return Err(Refusal::field("a filter's id", link.id(), expected));
            }
            links.push(link);
        }
        Ok(Scaling { params: *params, limits, id_max, sequence, links })
    }

    /// The whole file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let words = [self.id_max, self.sequence.mem, self.sequence.disk];
        let mut file: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.links.iter().for_each(|link| link.write_to(&mut file));
        file
    }

    /// Adds an item to the filter that owns `id`; a new one where that is full and `id` is new.
    ///
    /// # Errors
    /// Where a new filter would be beyond the limit; nothing changed then.
    pub fn insert(&mut self, item: &[u8], id: u64) -> Result<Inserted, SizeRefusal> {
        let mut owner = self.owner(id);
        if id > self.id_max && self.links[owner].count() >= self.params.capacity - 1 {
            self.append(self.id_max + 1)?;
            owner = self.links.len() - 1;
        }
        self.id_max = self.id_max.max(id);
        let inserted = self.links[owner].insert(item);
        self.changed();
        Ok(inserted)
    }

    /// Takes an item out of the filter that owns `id`.
    pub fn remove(&mut self, item: &[u8], id: u64) -> Removed {
        let owner = self.owner(id);
        let removed = self.links[owner].remove(item);
        if removed != Removed::Absent {
            self.changed();
        }
        removed
    }

    /// What was added is durable, says the file from now on.
    pub fn flushed(&mut self) {
        self.sequence.disk = self.sequence.mem;
    }

    /// Its sequence numbers.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// The highest id that was added.
    #[must_use]
    pub fn id_max(&self) -> u64 {
        self.id_max
    }

    /// Its filters, oldest first.
    #[must_use]
    pub fn links(&self) -> &[Counting] {
        &self.links
    }

    fn changed(&mut self) {
        self.sequence = Sequence { mem: self.sequence.mem.wrapping_add(1), disk: 0 };
    }

    fn owner(&self, id: u64) -> usize {
        self.links.iter().rposition(|link| link.id() <= id).unwrap_or(0)
    }

    fn append(&mut self, id: u64) -> Result<(), SizeRefusal> {
        let taken = self.bytes();
        let left = Limits { bytes_max: self.limits.bytes_max.saturating_sub(taken) };
        let mut link = Counting::build(&link_params(&self.params, self.links.len()), left)?;
        link.set_id(id);
        self.links.push(link);
        Ok(())
    }
}

impl Foreign for Scaling {
    fn hash(&self, item: &[u8]) -> Hash128 {
        hash(item)
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        self.links.iter().any(|link| link.contains_hash(hash))
    }

    fn fpr(&self) -> f64 {
        1.0 - self.links.iter().map(|link| 1.0 - link.fpr()).product::<f64>()
    }

    fn estimate(&self) -> f64 {
        self.links.iter().map(Foreign::estimate).sum()
    }

    fn bytes(&self) -> u64 {
        self.links.iter().map(Foreign::bytes).sum()
    }
}

/// The parameters of filter `index` of a chain.
fn link_params(params: &Params, index: usize) -> Params {
    let halvings = i32::try_from(index).map_or(i32::MAX, |index| index + 1);
    Params { capacity: params.capacity, error: params.error * 0.5_f64.powi(halvings) }
}

/// How many filters of these parameters make a file of `length` bytes; reads nothing.
///
/// # Errors
/// Where no whole number of them does: the capacity, the rate or the file is another one.
fn layout(length: u64, params: &Params) -> Result<usize, Refusal> {
    Shape::of(params)?;
    let (mut end, mut before, mut links) = (HEAD_BYTES, HEAD_BYTES, 0);
    while end < length || links == 0 {
        before = end;
        let shape = Shape::of(&link_params(params, links))?;
        end += counting::HEAD_BYTES + shape.bytes();
        links += 1;
    }
    if end != length {
        let expected = format!(
            "{before} or {end}: another capacity or rate was used to make it, or it is cut short"
        );
        return Err(Refusal::field("the length of the chain in bytes", length, expected));
    }
    Ok(links)
}

/// Bytes before the first filter.
const HEAD_BYTES: u64 = 24;
