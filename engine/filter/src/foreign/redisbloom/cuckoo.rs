//! Cuckoo filters, `CF.*`: one-byte fingerprints in the slots of two buckets.
//!
//! In chunks only; `CF.SCANDUMP` of an empty filter has none at all. Removals never compact, as
//! RedisBloom may: the answers are the same.

use bloomrf_kernels::hash::Hash128;

use super::super::cursor::Cursor;
use super::super::hash::murmur64a;
use super::super::{Foreign, Limits, Refusal};
use super::assembly::{Assembly, HEAD_ITERATOR, Spans, hand_out};
use crate::{Inserted, SizeRefusal};

/// What `CF.RESERVE` is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// Items of the first filter.
    pub capacity: u64,
    /// Slots of a bucket.
    pub bucket_size: u8,
    /// Most moves to make room for an item.
    pub iterations_max: u16,
    /// How many times as many buckets the next filter has, rounded up to a power of two; 0: there
    /// is no next one.
    pub expansion: u16,
}

impl Default for Reserve {
    /// What `CF.ADD` makes where there is no filter.
    fn default() -> Self {
        Reserve { capacity: 1_024, bucket_size: 2, iterations_max: 20, expansion: 1 }
    }
}

/// The head of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    items: u64,
    buckets: u64,
    deletes: u64,
    filters: u64,
    bucket_size: u16,
    iterations_max: u16,
    expansion: u16,
}

/// A chain of cuckoo filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuckoo {
    limits: Limits,
    head: Head,
    /// Slots of each filter, bucket after bucket; 0 is empty.
    filters: Vec<Vec<u8>>,
}

impl Cuckoo {
    /// An empty filter.
    ///
    /// # Errors
    /// Where the numbers make no filter, or one beyond the limit.
    pub fn build(reserve: &Reserve, limits: Limits) -> Result<Self, SizeRefusal> {
        let most = limits.bytes_max.saturating_mul(8);
        let too_large = |bits: f64| SizeRefusal::TooLarge { bits, most };
        let Reserve { capacity, bucket_size, iterations_max, expansion } = *reserve;
        if capacity == 0 || bucket_size == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let in_bits = 8.0 * capacity as f64;
        let buckets = (capacity / u64::from(bucket_size)).checked_next_power_of_two();
        let buckets = buckets.filter(|buckets| *buckets <= BUCKETS_MAX);
        let buckets = buckets.ok_or_else(|| too_large(in_bits))?;
        let expansion = match expansion {
            0 => 0,
            other => other.min(EXPANSION_MAX).next_power_of_two(),
        };
        let head = Head {
            items: 0,
            buckets,
            deletes: 0,
            filters: 0,
            bucket_size: bucket_size.into(),
            iterations_max: iterations_max.max(1),
            expansion,
        };
        let mut filter = Cuckoo { limits, head, filters: Vec::new() };
        if !filter.grow() {
            return Err(too_large(in_bits));
        }
        Ok(filter)
    }

    /// Adds an item, as `CF.ADD` does: again where it is there already.
    pub fn insert(&mut self, item: &[u8]) -> Inserted {
        let hash = murmur64a(item, 0);
        let is_new = !self.contains_hash(Hash128 { lo: hash, hi: 0 });
        loop {
            let fingerprint = fingerprint(hash);
            let size = usize::from(self.head.bucket_size);
            let free = self.filters.iter_mut().rev().find_map(|slots| {
                let at = places(slots, size, hash).find(|at| slots[*at] == 0)?;
                Some(&mut slots[at])
            });
            if let Some(slot) = free {
                *slot = fingerprint;
            } else if !self.make_room(hash) {
                if self.head.expansion == 0 || !self.grow() {
                    return Inserted::Full;
                }
                continue;
            }
            self.head.items += 1;
            return if is_new { Inserted::New } else { Inserted::Seen };
        }
    }

    /// Takes an item out, as `CF.DEL` does; returns whether its fingerprint was there. Of an
    /// item that was never added it may be another one's, which is lost then.
    pub fn remove(&mut self, item: &[u8]) -> bool {
        let hash = murmur64a(item, 0);
        let (fingerprint, size) = (fingerprint(hash), usize::from(self.head.bucket_size));
        for slots in self.filters.iter_mut().rev() {
            if let Some(at) = places(slots, size, hash).find(|at| slots[*at] == fingerprint) {
                slots[at] = 0;
                self.head.items = self.head.items.saturating_sub(1);
                self.head.deletes += 1;
                return true;
            }
        }
        false
    }

    /// Adds less removals.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.head.items
    }

    /// How many filters it is made of.
    #[must_use]
    pub fn filters(&self) -> usize {
        self.filters.len()
    }

    /// The first chunk, of iterator 1.
    #[must_use]
    pub fn head_chunk(&self) -> Vec<u8> {
        let Head { items, buckets, deletes, bucket_size, iterations_max, expansion, .. } =
            self.head;
        let words = [items, buckets, deletes, self.filters.len() as u64];
        let mut head: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let shorts = [bucket_size, iterations_max, expansion];
        head.extend(shorts.iter().flat_map(|short| short.to_le_bytes()));
        head
    }

    /// The chunks behind the first one, each with the iterator that `CF.LOADCHUNK` wants.
    pub fn chunks(&self) -> impl Iterator<Item = (u64, &[u8])> {
        hand_out(self.filters.iter().map(Vec::as_slice))
    }

    /// Moves fingerprints of the newest filter to their other buckets until one finds a free
    /// slot; puts all back where none does.
    fn make_room(&mut self, hash: u64) -> bool {
        let size = usize::from(self.head.bucket_size);
        let Some(slots) = self.filters.last_mut() else { return false };
        let buckets = (slots.len() / size) as u64;
        let (mut homeless, mut bucket, mut victim) = (fingerprint(hash), hash % buckets, 0);
        let mut moved = Vec::with_capacity(self.head.iterations_max.into());
        for _ in 0..self.head.iterations_max {
            let at = bucket as usize * size + victim;
            std::mem::swap(&mut slots[at], &mut homeless);
            moved.push(at);
            bucket = other_hash(homeless, bucket) % buckets;
            let start = bucket as usize * size;
            if let Some(slot) = slots[start..start + size].iter_mut().find(|slot| **slot == 0) {
                *slot = homeless;
                return true;
            }
            victim = (victim + 1) % size;
        }
        for at in moved.into_iter().rev() {
            std::mem::swap(&mut slots[at], &mut homeless);
        }
        false
    }

    fn grow(&mut self) -> bool {
        let index = self.filters.len() as u64;
        let Some(bytes) = self.head.filter_bytes(index) else { return false };
        let is_within = self.bytes().checked_add(bytes).is_some_and(|b| b <= self.limits.bytes_max);
        if index == FILTERS_MAX || !is_within {
            return false;
        }
        self.filters.push(vec![0; bytes as usize]);
        true
    }
}

impl Foreign for Cuckoo {
    fn hash(&self, item: &[u8]) -> Hash128 {
        Hash128 { lo: murmur64a(item, 0), hi: 0 }
    }

    fn contains_hash(&self, hash: Hash128) -> bool {
        let (fingerprint, size) = (fingerprint(hash.lo), usize::from(self.head.bucket_size));
        let mut filters = self.filters.iter();
        filters.any(|slots| places(slots, size, hash.lo).any(|at| slots[at] == fingerprint))
    }

    fn fpr(&self) -> f64 {
        let size = i32::from(self.head.bucket_size);
        let misses = self.filters.iter().map(|slots| {
            let taken = slots.iter().filter(|slot| **slot != 0).count() as f64;
            (1.0 - taken / slots.len() as f64 / FINGERPRINTS as f64).powi(2 * size)
        });
        1.0 - misses.product::<f64>()
    }

    /// What is counted: adds less removals.
    fn estimate(&self) -> f64 {
        self.head.items as f64
    }

    fn bytes(&self) -> u64 {
        self.filters.iter().map(|slots| slots.len() as u64).sum()
    }
}

/// A filter of which chunks are still to come: nothing can be asked of it.
#[derive(Clone, Debug)]
pub struct Loading {
    limits: Limits,
    head: Head,
    assembly: Assembly,
}

impl Loading {
    /// Begins with the first chunk, whose iterator is 1.
    ///
    /// # Errors
    /// Where the head is not one, or announces more than the limit.
    pub fn begin(iterator: u64, head: &[u8], limits: Limits) -> Result<Self, Refusal> {
        if iterator != HEAD_ITERATOR {
            return Err(Refusal::field("the iterator of the head", iterator, HEAD_ITERATOR));
        }
        let head = Head::parse(head)?;
        limits.admit(head.bytes())?;
        let first = head.filter_bytes(0).unwrap_or(u64::MAX);
        let growth = u64::from(head.expansion).max(1);
        let spans = Spans::Growing { first, growth, count: head.filters };
        Ok(Loading { limits, head, assembly: Assembly::new(spans) })
    }

    /// Takes the next chunk, with the iterator that came back with it.
    ///
    /// # Errors
    /// Where it is not the next one; it may still come then.
    pub fn load(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), Refusal> {
        self.assembly.push(iterator, chunk)
    }

    /// Whether all chunks are there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.assembly.is_complete()
    }

    /// The filter.
    ///
    /// # Errors
    /// Where chunks are missing, or the taken slots are not as many as the head counts items.
    pub fn finish(self) -> Result<Cuckoo, Refusal> {
        let filters = self.assembly.finish()?;
        let taken = filters.iter().flatten().filter(|slot| **slot != 0).count() as u64;
        if taken != self.head.items {
            let expected = format!("{}, as its head says: damaged", self.head.items);
            return Err(Refusal::field("the number of taken slots", taken, expected));
        }
        Ok(Cuckoo { limits: self.limits, head: self.head, filters })
    }
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut cursor = Cursor::new("the head of a cuckoo filter", bytes);
        let head = Head {
            items: cursor.u64_le()?,
            buckets: cursor.u64_le()?,
            deletes: cursor.u64_le()?,
            filters: cursor.u64_le()?,
            bucket_size: cursor.u16_le()?,
            iterations_max: cursor.u16_le()?,
            expansion: cursor.u16_le()?,
        };
        cursor.end()?;
        let Head { buckets, filters, bucket_size, iterations_max, expansion, .. } = head;
        if !buckets.is_power_of_two() || buckets > BUCKETS_MAX {
            return Err(Refusal::field("the number of buckets", buckets, "a power of two"));
        }
        if !(1..=FILTERS_MAX).contains(&filters) || (filters > 1 && expansion == 0) {
            let expected = format!("from 1 to {FILTERS_MAX}, and 1 where it does not expand");
            return Err(Refusal::field("the number of filters", filters, expected));
        }
        if !(1..=255).contains(&bucket_size) {
            return Err(Refusal::field("the slots of a bucket", bucket_size, "from 1 to 255"));
        }
        if iterations_max == 0 {
            return Err(Refusal::field("the most moves", iterations_max, "at least 1"));
        }
        if expansion != 0 && !(expansion.is_power_of_two() && expansion <= EXPANSION_MAX) {
            return Err(Refusal::field("the expansion", expansion, "0 or a power of two"));
        }
        Ok(head)
    }

    /// Slots of filter `index`.
    fn filter_bytes(&self, index: u64) -> Option<u64> {
        let growth = u64::from(self.expansion).max(1).checked_pow(u32::try_from(index).ok()?)?;
        growth.checked_mul(self.buckets)?.checked_mul(self.bucket_size.into())
    }

    /// Slots of all filters; the most that there is where they cannot be counted.
    fn bytes(&self) -> u64 {
        let mut sum = 0_u64;
        for index in 0..self.filters {
            let bytes = self.filter_bytes(index).unwrap_or(u64::MAX);
            sum = sum.saturating_add(bytes);
            if sum == u64::MAX {
                break;
            }
        }
        sum
    }
}

/// One of 255 fingerprints, never 0.
fn fingerprint(hash: u64) -> u8 {
    (hash % FINGERPRINTS + 1) as u8
}

/// The hash of the other bucket.
fn other_hash(fingerprint: u8, hash: u64) -> u64 {
    hash ^ (u64::from(fingerprint) * OTHER_FACTOR)
}

/// Slots of the two buckets of an item, in the order in which they are looked at.
fn places(slots: &[u8], size: usize, hash: u64) -> impl Iterator<Item = usize> + use<> {
    let buckets = (slots.len() / size) as u64;
    let hashes = [hash, other_hash(fingerprint(hash), hash)];
    hashes.into_iter().flat_map(move |hash| {
        let start = (hash % buckets) as usize * size;
        start..start + size
    })
}

const FINGERPRINTS: u64 = 255;
const OTHER_FACTOR: u64 = 0x5bd1_e995;
const BUCKETS_MAX: u64 = 1 << 48;
const FILTERS_MAX: u64 = 65_535;
const EXPANSION_MAX: u16 = 32_768;
