//! One counting filter: a header of 16 bytes, then counters of 4 bits, the high half first.

use bloomrf_kernels::hash::Hash128;

use super::super::cursor::Cursor;
use super::super::{Foreign, Limits, Refusal};
use super::{Params, Shape, hash};
use crate::{Inserted, SizeRefusal};

/// What came of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// Its counters went down.
    Done,
    /// It was not there, for certain; nothing changed.
    Absent,
    /// Its counters went down but for those that are full: how much those owe is not known, so
    /// they never go down. The item may be found for ever.
    Stuck,
}

/// A counting filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counting {
    params: Params,
    shape: Shape,
    id: u64,
    count: u32,
    counters: Vec<u8>,
}

impl Counting {
    /// An empty filter.
    ///
    /// # Errors
    /// Where the parameters make no filter, or one beyond the limit.
    pub fn build(params: &Params, limits: Limits) -> Result<Self, SizeRefusal> {
        let shape = Shape::of(params)?;
        if shape.bytes() > limits.bytes_max {
            let bits = 4.0 * shape.counters() as f64;
            return Err(SizeRefusal::TooLarge { bits, most: limits.bytes_max.saturating_mul(8) });
        }
        let counters = vec![0; shape.bytes() as usize];
        Ok(Counting { params: *params, shape, id: 0, count: 0, counters })
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// Where the parameters do not give its length, or a field cannot be right.
    pub fn parse(file: &[u8], params: &Params, limits: Limits) -> Result<Self, Refusal> {
        let mut cursor = Cursor::new("a counting filter of this capacity and rate", file);
        let filter = Counting::read(&mut cursor, params, limits)?;
        cursor.end()?;
        Ok(filter)
    }

    /// Reads the filter that is next.
    pub(super) fn read(
        cursor: &mut Cursor<'_>,
        params: &Params,
        limits: Limits,
    ) -> Result<Self, Refusal> {
        let shape = Shape::of(params)?;
        let (id, count, pad) = (cursor.u64_le()?, cursor.u32_le()?, cursor.u32_le()?);
        if pad != 0 {
            return Err(Refusal::field("the word behind a filter's count", pad, 0));
        }
        let counters = cursor.take(shape.bytes())?;
        limits.admit(counters.len() as u64)?;
        let spare = counters.last().map_or(0, |last| last & 0x0f);
        if !shape.counters().is_multiple_of(2) && spare != 0 {
            return Err(Refusal::field("the half byte behind the last counter", spare, 0));
        }
        Ok(Counting { params: *params, shape, id, count, counters: counters.to_vec() })
    }

    /// The whole file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(HEAD_BYTES as usize + self.counters.len());
        self.write_to(&mut file);
        file
    }

    pub(super) fn write_to(&self, file: &mut Vec<u8>) {
        file.extend(self.id.to_le_bytes());
        file.extend(self.count.to_le_bytes());
        file.extend([0; 4]);
        file.extend(&self.counters);
    }

    /// Adds an item. A full counter stays full, and the count still goes up, as in dablooms.
    pub fn insert(&mut self, item: &[u8]) -> Inserted {
        let mut is_new = false;
        for at in self.shape.probes(hash(item)) {
            let counter = self.counter(at);
            is_new |= counter == 0;
            if counter < FULL {
                self.set_counter(at, counter + 1);
            }
        }
        self.count = self.count.saturating_add(1);
        if is_new { Inserted::New } else { Inserted::Seen }
    }

    /// Takes an item out that was added before. Full counters never go down, so that no other
    /// item can be lost.
    pub fn remove(&mut self, item: &[u8]) -> Removed {
        let hash = hash(item);
        if !self.contains_hash(hash) {
            return Removed::Absent;
        }
        let mut removed = Removed::Done;
        for at in self.shape.probes(hash) {
            match self.counter(at) {
                FULL => removed = Removed::Stuck,
                counter => self.set_counter(at, counter.saturating_sub(1)),
            }
        }
        self.count = self.count.saturating_sub(1);
        removed
    }

    /// Takes an item out as dablooms does: without asking whether it is there, full counters
    /// too. Items can be lost by it. For copies that must stay equal to a file of dablooms.
    pub fn remove_blindly(&mut self, item: &[u8]) {
        for at in self.shape.probes(hash(item)) {
            let counter = self.counter(at);
            self.set_counter(at, counter.saturating_sub(1));
        }
        self.count = self.count.wrapping_sub(1);
    }

    /// What the file does not say.
    #[must_use]
    pub fn params(&self) -> Params {
        self.params
    }

    /// Its parts.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The first id of it, in a chain.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn set_id(&mut self, id: u64) {
        self.id = id;
    }

    /// Adds less removals, as the file counts them.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Counters that are full: items that share them can no longer be removed.
    #[must_use]
    pub fn full_counters(&self) -> u64 {
        let halves = self.counters.iter().flat_map(|byte| [byte >> 4, byte & FULL]);
        halves.filter(|counter| *counter == FULL).count() as u64
    }

    /// The share of counters that are not 0, of each part.
    fn fills(&self) -> impl Iterator<Item = f64> {
        let part = u64::from(self.shape.part);
        (0..u64::from(self.shape.k)).map(move |i| {
            let counters = i * part..(i + 1) * part;
            counters.filter(|at| self.counter(*at) > 0).count() as f64 / part as f64
        })
    }

    fn counter(&self, at: u64) -> u8 {
        let byte = self.counters[(at / 2) as usize];
        if at.is_multiple_of(2) { byte >> 4 } else { byte & FULL }
    }

    fn set_counter(&mut self, at: u64, counter: u8) {
        let byte = &mut self.counters[(at / 2) as usize];
        *byte = if at.is_multiple_of(2) {
            counter << 4 | *byte & FULL
        } else {
            counter | *byte & !FULL
        };
    }
}

impl Foreign for Counting {
    fn hash(&self, item: &[u8]) -> Hash128 {
        hash(item)
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        self.shape.probes(hash).all(|at| self.counter(at) > 0)
    }

    fn fpr(&self) -> f64 {
        self.fills().product()
    }

    /// By the fill of its parts: dablooms has no such figure.
    fn estimate(&self) -> f64 {
        let part = f64::from(self.shape.part);
        let items = self.fills().map(|fill| -part * (1.0 - fill).max(0.5 / part).ln());
        items.sum::<f64>() / f64::from(self.shape.k)
    }

    fn bytes(&self) -> u64 {
        self.counters.len() as u64
    }
}

/// Bytes before the counters.
pub(super) const HEAD_BYTES: u64 = 16;
/// The highest value of a counter.
const FULL: u8 = 15;
