//! dablooms 0.9.1: counting filters of 4-bit counters in a file, alone or in a chain.
//!
//! Neither file says its capacity or its rate. The caller must; the layout that follows from them
//! is computed before anything is read, and the file must be exactly as long. dablooms itself
//! lengthens a file before it finds that the sizes do not add up: a reader here never writes.

mod counting;
mod scaling;

use bloomrf_kernels::hash::Hash128;

use super::hash::murmur3_x64_128;
use crate::SizeRefusal;

pub use counting::{Counting, Removed};
pub use scaling::{Crash, Scaling, Sequence, State};

/// What the files do not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Items of a filter; of each link of a chain.
    pub capacity: u32,
    /// The error rate that was asked for; of a whole chain.
    pub error: f64,
}

/// What follows from the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Counters of an item, each from its own part.
    pub k: u32,
    /// Counters of each part.
    pub part: u32,
}

impl Shape {
    /// As dablooms computes it.
    ///
    /// # Errors
    /// Where the parameters make no filter.
    pub fn of(params: &Params) -> Result<Self, SizeRefusal> {
        let Params { capacity, error } = *params;
        if !(f64::MIN_POSITIVE..1.0).contains(&error) {
            return Err(SizeRefusal::Rate(error));
        }
        if capacity == 0 {
            return Err(SizeRefusal::NoItems);
        }
        let ln_2 = std::f64::consts::LN_2;
        let k = ((1.0 / error).ln() / ln_2).ceil();
        let part = (f64::from(capacity) * error.ln().abs() / (k * ln_2.powi(2))).ceil();
        // Its counters are numbered by 32 bits.
        if k * part > f64::from(u32::MAX) {
            let bits = 4.0 * k * part;
            return Err(SizeRefusal::TooLarge { bits, most: 4 * u64::from(u32::MAX) });
        }
        Ok(Shape { k: k as u32, part: part as u32 })
    }

    /// Counters of the whole filter.
    #[must_use]
    pub fn counters(&self) -> u64 {
        u64::from(self.k) * u64::from(self.part)
    }

    /// Bytes of the counters.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.counters().div_ceil(2)
    }

    /// The counters of an item, one of each part.
    pub fn probes(self, hash: Hash128) -> impl Iterator<Item = u64> {
        let (first, step) = (hash.lo as u32, (hash.lo >> 32) as u32);
        (0..self.k).map(move |i| {
            let place = first.wrapping_add(i.wrapping_mul(step)) % self.part;
            u64::from(place) + u64::from(i) * u64::from(self.part)
        })
    }
}

/// The hash of an item.
#[must_use]
pub fn hash(item: &[u8]) -> Hash128 {
    murmur3_x64_128(item, SEED)
}

const SEED: u32 = 0x97c2_9b3a;
