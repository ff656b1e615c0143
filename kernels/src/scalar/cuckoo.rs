//! Hot path: no allocation, no lock, no syscall; two cache lines per item, an insert reads more
//! where both of its buckets are full, at most [`LOOKED_AT_MAX`] buckets.
//!
//! Cuckoo filter: a fingerprint of 16 bits in one of two buckets of four, a 64-bit word each.
//!
//! The other bucket of a fingerprint f in bucket i is `(turn(f) - i) mod n`: twice that is i
//! again, for any number n of buckets, so a size need not be doubled to be a power of two.
//!
//! An insert looks for a way before it moves anything: breadth first, from either bucket, to one
//! with a free slot. Then the fingerprints of the way move from its end. Where there is none the
//! filter is as it was.

use super::blocked::LANE_FACTOR;
use crate::cuckoo::{Added, Taken};
use crate::hash::{Hash128, MIX_FIRST, MIX_SECOND};

/// Slots of a bucket.
pub const SLOTS: usize = 4;

/// Most buckets that an insert looks at before it says that there is no room.
pub const LOOKED_AT_MAX: usize = 256;

/// The fingerprint of an item, never 0, and its first bucket among `buckets`, 1 to 2^32 - 1.
#[inline]
pub(crate) fn place(buckets: usize, item: Hash128) -> (u64, usize) {
    let mixed = item.lo.wrapping_mul(LANE_FACTOR).wrapping_add(item.hi);
    let fingerprint = 1 + (((mixed >> 32) * 0xFFFF) >> 32);
    (fingerprint, (((item.lo >> 32) * buckets as u64) >> 32) as usize)
}

/// The other bucket of a fingerprint that is in `bucket`; now and then the same one.
#[inline]
pub(crate) fn other(buckets: usize, fingerprint: u64, bucket: usize) -> usize {
    let mixed = (fingerprint.wrapping_mul(MIX_FIRST) >> 16).wrapping_mul(MIX_SECOND);
    let turn = (((mixed >> 32) * buckets as u64) >> 32) as usize;
    if turn >= bucket { turn - bucket } else { turn + buckets - bucket }
}

/// The top bit of each slot that may be `fingerprint`: the lowest that is set is right, and some
/// is set where one is.
#[inline]
pub(crate) fn matches(bucket: u64, fingerprint: u64) -> u64 {
    const LOW: u64 = 0x0001_0001_0001_0001;
    let apart = bucket ^ (fingerprint * LOW);
    apart.wrapping_sub(LOW) & !apart & (LOW << 15)
}

/// Writes into the first free slot of a bucket, where there is one.
#[inline]
fn put(bucket: &mut u64, fingerprint: u64) -> bool {
    let free = matches(*bucket, 0);
    if free != 0 {
        *bucket |= fingerprint << (free.trailing_zeros() - 15);
    }
    free != 0
}

/// Inserts an item once more; where there is no room, `full` is 1 and nothing has changed.
///
/// # Panics
/// Where there is no bucket.
#[inline]
pub fn insert(buckets: &mut [u64], item: Hash128) -> Added {
    let (fingerprint, first) = place(buckets.len(), item);
    let second = other(buckets.len(), fingerprint, first);
    let held = matches(buckets[first], fingerprint) | matches(buckets[second], fingerprint);
    let is_in = put(&mut buckets[first], fingerprint)
        || put(&mut buckets[second], fingerprint)
        || make_way(buckets, fingerprint, [first, second]);
    Added { new: u64::from(is_in && held == 0), full: u64::from(!is_in) }
}

/// A bucket that was looked at: from which other, of whose slot it is the alternative.
#[derive(Clone, Copy)]
struct Step {
    bucket: u32,
    from: u16,
    slot: u16,
}

/// Moves one fingerprint to its other bucket where that has a free slot, else looks further.
///
/// The first step of [`search`], without its list: it is enough for most.
fn make_way(buckets: &mut [u64], fingerprint: u64, starts: [usize; 2]) -> bool {
    for start in starts {
        let full = buckets[start];
        for shift in [0, 16, 32, 48] {
            let moved = full >> shift & 0xFFFF;
            let next = other(buckets.len(), moved, start);
            if put(&mut buckets[next], moved) {
                buckets[start] = (full & !(0xFFFF << shift)) | (fingerprint << shift);
                return true;
            }
        }
    }
    search(buckets, fingerprint, starts)
}

/// Finds the nearest free slot, moves the fingerprints of the way there, and puts the new one in.
#[cold]
fn search(buckets: &mut [u64], fingerprint: u64, starts: [usize; 2]) -> bool {
    const NONE: u16 = u16::MAX;
    let start = |bucket: usize| Step { bucket: bucket as u32, from: NONE, slot: 0 };
    let mut steps = [start(starts[0]); LOOKED_AT_MAX];
    steps[1] = start(starts[1]);
    let (mut count, mut at) = (2, 0);
    while at < count {
        let full = buckets[steps[at].bucket as usize];
        for slot in 0..SLOTS {
            let moved = full >> (16 * slot) & 0xFFFF;
            let next = other(buckets.len(), moved, steps[at].bucket as usize);
            if matches(buckets[next], 0) != 0 {
                let to = Step { bucket: next as u32, from: at as u16, slot: slot as u16 };
                return walk(buckets, &steps, to, fingerprint);
            }
            // To pass a bucket twice leads to nothing that passing it once does not.
            if count < LOOKED_AT_MAX && !passes(&steps, at, next as u32) {
                steps[count] = Step { bucket: next as u32, from: at as u16, slot: slot as u16 };
                count += 1;
            }
        }
        at += 1;
    }
    false
}

/// Whether the way to step `at` passes `bucket`.
fn passes(steps: &[Step; LOOKED_AT_MAX], mut at: usize, bucket: u32) -> bool {
    loop {
        let step = steps[at];
        if step.bucket == bucket {
            return true;
        }
        if step.from == u16::MAX {
            return false;
        }
        at = step.from as usize;
    }
}

/// Moves each fingerprint of the way to `to`, its end first: none is ever in no bucket.
fn walk(
    buckets: &mut [u64],
    steps: &[Step; LOOKED_AT_MAX],
    mut to: Step,
    fingerprint: u64,
) -> bool {
    while to.from != u16::MAX {
        let from = steps[to.from as usize];
        let shift = 16 * u32::from(to.slot);
        let moved = buckets[from.bucket as usize] >> shift & 0xFFFF;
        put(&mut buckets[to.bucket as usize], moved);
        buckets[from.bucket as usize] &= !(0xFFFF << shift);
        to = from;
    }
    put(&mut buckets[to.bucket as usize], fingerprint)
}

/// Whether an item may be there.
#[inline]
#[must_use]
pub fn contains(buckets: &[u64], item: Hash128) -> bool {
    contains_by(buckets.len(), item, |bucket| buckets.get(bucket).copied())
}

/// [`contains`] of buckets that lie elsewhere: `bucket` loads one of `buckets`.
#[inline]
#[must_use]
pub fn contains_by(buckets: usize, item: Hash128, bucket: impl Fn(usize) -> Option<u64>) -> bool {
    let (fingerprint, first) = place(buckets, item);
    // No bucket at all is no proof of absence.
    let holds = |at| bucket(at).is_none_or(|bucket| matches(bucket, fingerprint) != 0);
    holds(first) || holds(other(buckets, fingerprint, first))
}

/// Takes one fingerprint of an item out, unless there is none: then nothing changes and `done` is
/// 0.
///
/// # Panics
/// Where there is no bucket.
#[inline]
pub fn remove(buckets: &mut [u64], item: Hash128) -> Taken {
    let (fingerprint, first) = place(buckets.len(), item);
    let second = other(buckets.len(), fingerprint, first);
    for bucket in [first, second] {
        let held = matches(buckets[bucket], fingerprint);
        if held != 0 {
            buckets[bucket] &= !(0xFFFF << (held.trailing_zeros() - 15));
            let left = matches(buckets[first], fingerprint) | matches(buckets[second], fingerprint);
            return Taken { done: 1, gone: u64::from(left == 0) };
        }
    }
    Taken::default()
}

/// Items whose buckets are asked for before they are used.
const AHEAD: usize = 32;

/// See [`crate::cuckoo::insert_many`]; `ask` is told each bucket some items before its use.
#[inline]
pub(crate) fn insert_many(
    buckets: &mut [u64],
    items: &[Hash128],
    refused: &mut [u64],
    ask: impl Fn(&u64),
) -> Added {
    refused.fill(0);
    let mut all = Added::default();
    for (i, &item) in items.iter().enumerate() {
        if let Some(&later) = items.get(i + AHEAD) {
            ask_both(buckets, later, &ask);
        }
        let added = insert(buckets, item);
        refused[i / 64] |= added.full << (i % 64);
        all.new += added.new;
        all.full += added.full;
    }
    all
}

/// See [`crate::cuckoo::contains_many`].
#[inline]
pub(crate) fn contains_many(
    buckets: &[u64],
    items: &[Hash128],
    found: &mut [u64],
    ask: impl Fn(&u64),
) {
    found.fill(0);
    let mut ring = [(0, 0, 0); AHEAD];
    for i in 0..items.len() + AHEAD {
        let slot = &mut ring[i % AHEAD];
        if let Some(at) = i.checked_sub(AHEAD) {
            let (fingerprint, first, second) = *slot;
            // Both, without a branch that nobody can foretell.
            let held = matches(buckets[first], fingerprint) | matches(buckets[second], fingerprint);
            found[at / 64] |= u64::from(held != 0) << (at % 64);
        }
        if let Some(&item) = items.get(i) {
            let (fingerprint, first) = place(buckets.len(), item);
            *slot = (fingerprint, first, other(buckets.len(), fingerprint, first));
            ask(&buckets[slot.1]);
            ask(&buckets[slot.2]);
        }
    }
}

#[inline]
fn ask_both(buckets: &[u64], item: Hash128, ask: &impl Fn(&u64)) {
    let (fingerprint, first) = place(buckets.len(), item);
    ask(&buckets[first]);
    ask(&buckets[other(buckets.len(), fingerprint, first)]);
}

/// How many slots are taken.
pub(crate) fn taken(buckets: &[u64]) -> u64 {
    let of_one = |&bucket: &u64| (0..SLOTS).filter(|i| bucket >> (16 * i) & 0xFFFF != 0).count();
    buckets.iter().map(|bucket| of_one(bucket) as u64).sum()
}
