//! Hot path: no allocation, no lock, no syscall; two cache lines per item.
//!
//! Doors of the cuckoo filter, from which items can be taken back: many at once, on any kernel
//! set.
//!
//! A filter is a slice of buckets, any number of them: words of four fingerprints of 16 bits, 0
//! for a free slot. An absent item is found where one of the eight slots of its buckets happens to
//! hold its fingerprint: [`fpr`], 1.2e-4 at a load of 95 %.
//!
//! Each insert takes a slot, of the same item too: of one item there is room for at most eight (of
//! the few whose two buckets are one, for four). Where there is no room nothing changes, so that
//! all that was taken in before is still found.
//!
//! A bucket is one word and compared in one, without vectors; what the sets for x86-64 have more
//! than portable code is that lines are asked for ahead.

use crate::blocked::answers;
use crate::hash::Hash128;
use crate::scalar;
use crate::{Kernel, SizeError};
#[cfg(target_arch = "x86_64")]
use crate::{ahead, avx2};

pub use crate::scalar::cuckoo::{LOOKED_AT_MAX, SLOTS, contains, contains_by, insert, remove};

/// Most buckets (32 GiB): the bucket of an item comes from 32 bits of its hash.
pub const BUCKETS_MAX: u64 = (1 << 32) - 1;

/// The share of slots up to which there is room for nearly all items of all sets.
pub const LOAD: f64 = 0.95;

/// What inserts did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Items that are in it now and were provably not there before.
    pub new: u64,
    /// Items for which there was no room. They changed nothing.
    pub full: u64,
}

/// What a removal did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// 1 where a fingerprint was taken out, 0 where the item was provably not there.
    pub done: u64,
    /// 1 where the item is not found any more.
    pub gone: u64,
}

/// Inserts items, each in order; bit `i % 64` of `refused[i / 64]` says that there was no room for
/// `items[i]`. Bits past the last are 0.
///
/// # Panics
/// Unless there are 1 to [`BUCKETS_MAX`] buckets and `refused` has a bit for every item.
pub fn insert_many(
    kernel: Kernel,
    buckets: &mut [u64],
    items: &[Hash128],
    refused: &mut [u64],
) -> Added {
    assert_shape(buckets);
    let refused = answers(refused, items.len());
    match kernel {
        Kernel::Scalar => scalar::cuckoo::insert_many(buckets, items, refused, |_| ()),
        #[cfg(target_arch = "x86_64")]
        _ => scalar::cuckoo::insert_many(buckets, items, refused, ask),
        #[cfg(not(target_arch = "x86_64"))]
        _ => scalar::cuckoo::insert_many(buckets, items, refused, |_| ()),
    }
}

/// Asks for items: bit `i % 64` of `found[i / 64]` says whether `items[i]` may be there. Bits past
/// the last are 0.
///
/// # Panics
/// As [`insert_many`].
pub fn contains_many(kernel: Kernel, buckets: &[u64], items: &[Hash128], found: &mut [u64]) {
    assert_shape(buckets);
    let found = answers(found, items.len());
    match kernel {
        Kernel::Scalar => scalar::cuckoo::contains_many(buckets, items, found, |_| ()),
        #[cfg(target_arch = "x86_64")]
        _ => scalar::cuckoo::contains_many(buckets, items, found, ask),
        #[cfg(not(target_arch = "x86_64"))]
        _ => scalar::cuckoo::contains_many(buckets, items, found, |_| ()),
    }
}

/// How many slots are taken.
#[must_use]
pub fn taken(buckets: &[u64]) -> u64 {
    scalar::cuckoo::taken(buckets)
}

/// The rate of a filter of which a share of `load` of the slots is taken.
#[must_use]
pub fn fpr(load: f64) -> f64 {
    -(2.0 * SLOTS as f64 * load * (-1.0f64 / 65_535.0).ln_1p()).exp_m1()
}

/// Buckets that hold `items` distinct items at a load of at most [`LOAD`]; a few more where they
/// are few, since chance is less even then.
///
/// # Errors
/// Where that is more than [`BUCKETS_MAX`].
pub fn buckets_for(items: u64) -> Result<u64, SizeError> {
    let n = items as f64;
    let buckets = (n / (SLOTS as f64 * LOAD) + 0.4 * n.sqrt() + 2.0).ceil();
    if buckets > BUCKETS_MAX as f64 {
        return Err(SizeError::TooLarge { keys: items, blocks: buckets });
    }
    Ok(buckets as u64)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ask(bucket: &u64) {
    avx2::blocked::prefetch::<{ ahead::NEAR }>(std::ptr::from_ref(bucket).cast());
}

fn assert_shape(buckets: &[u64]) {
    assert!(
        (1..=BUCKETS_MAX).contains(&(buckets.len() as u64)),
        "{} buckets: expected 1 to 2^32 - 1",
        buckets.len()
    );
}
