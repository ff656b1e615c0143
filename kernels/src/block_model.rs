//! Called when a filter is planned or explained, not per record; the cost is some 100 powers a
//! call.
//!
//! Rates and sizes of the blocked filters: a key sets one bit in each of k lanes of one block, and
//! the keys of a block are Poisson.

use std::fmt;

/// Why no size was found for a blocked filter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SizeError {
    /// The rate asked for is no probability between 0 and 1, both excluded.
    NoRate {
        /// As asked for.
        fpr: f64,
    },
    /// Even a key per kilobyte would not keep to the rate with that many lanes.
    OutOfReach {
        /// As asked for.
        fpr: f64,
        /// Lanes per key.
        k: u32,
    },
    /// No bloomRF of any size keeps to the rate for ranges of that width.
    Range {
        /// As asked for.
        fpr: f64,
        /// Keys of a range.
        width: u64,
    },
    /// More blocks than a filter can have.
    TooLarge {
        /// Keys asked for.
        keys: u64,
        /// Blocks that they would take.
        blocks: f64,
    },
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRate { fpr } => {
                write!(f, "false-positive rate {fpr}: expected more than 0 and less than 1")
            }
            Self::OutOfReach { fpr, k } => write!(
                f,
                "false-positive rate {fpr}: {k} lanes per key do not reach it at any useful size; \
                 ask for more lanes (at most 8) or a higher rate"
            ),
            Self::Range { fpr, width } => write!(
                f,
                "false-positive rate {fpr} for ranges of {width} keys: no filter of at most 2^26 \
                 words keeps to it; ask for narrower ranges, fewer keys or a higher rate"
            ),
            Self::TooLarge { keys, blocks } => write!(
                f,
                "{keys} keys need {blocks:.0} blocks, a filter has at most 2^32 - 1; split the \
                 keys or ask for a higher rate"
            ),
        }
    }
}

impl std::error::Error for SizeError {}

/// Expected false-positive rate at `load` keys a block of `block_bits` bits: the mean over the
/// Poisson number of keys in a block.
pub(crate) fn rate(block_bits: f64, k: u32, load: f64) -> f64 {
    let clear = 1.0 - f64::from(k) / block_bits;
    let of = |held: f64| (1.0 - clear.powf(held)).powi(k as i32);
    let spread = 8.0 * load.sqrt() + 10.0;
    let (first, last) = ((load - spread).max(0.0).floor(), (load + spread).ceil());
    let mut log_factorial: f64 = (1..=first as u64).map(|i| (i as f64).ln()).sum();
    let mut sum = 0.0;
    let mut held = first;
    while held <= last {
        if held > first {
            log_factorial += held.ln();
        }
        let log_load = if held > 0.0 { held * load.max(f64::MIN_POSITIVE).ln() } else { 0.0 };
        sum += (log_load - load - log_factorial).exp() * of(held);
        held += 1.0;
    }
    sum.min(1.0)
}

/// Fewest blocks of `block_bits` bits, of at most `blocks_max`, that hold `keys` keys at `fpr`.
///
/// Grows with `keys`: the load that a rate allows does not depend on them.
pub(crate) fn blocks_for(
    block_bits: f64,
    k: u32,
    keys: u64,
    fpr: f64,
    blocks_max: u64,
) -> Result<u64, SizeError> {
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(SizeError::NoRate { fpr });
    }
    // Keys per block, by halving the ratio of a load that keeps to the rate and one that does not.
    let (mut within, mut beyond) = (block_bits / BITS_PER_KEY_MAX, block_bits * 4.0);
    if rate(block_bits, k, within) > fpr {
        return Err(SizeError::OutOfReach { fpr, k });
    }
    for _ in 0..48 {
        let middle = (within * beyond).sqrt();
        if rate(block_bits, k, middle) <= fpr { within = middle } else { beyond = middle }
    }
    let blocks = (keys as f64 / within).ceil().max(1.0);
    if blocks > blocks_max as f64 {
        return Err(SizeError::TooLarge { keys, blocks });
    }
    Ok(blocks as u64)
}

/// A key per kilobyte: what would need more has asked for the wrong filter.
const BITS_PER_KEY_MAX: f64 = 8_192.0;
