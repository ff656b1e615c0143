//! Called when a filter is made, and per call of many keys; the work is that of the doors.
//!
//! Filters that own their words and know their shape: nothing to size, split or keep in step.
//!
//! A [`PointFilter`] is a blocked Bloom filter ([`blocked`](crate::blocked)), a [`RangeFilter`] a
//! bloomRF ([`bloomrf`](crate::bloomrf)). Both write the bits that those doors write, on lines of
//! their own ([`Words`]), and answer what comes from outside (sizes, stored words, filters of
//! another shape, keys past the domain) by a [`FilterError`], never by a panic.
//!
//! A stored filter is its [`PointFilter::words`], little-endian, and its shape: `k` and seed of a
//! point filter, the [`Layers`] of a range filter. The error of mixing them up cannot be seen in
//! the words: store them together.

mod error;
mod point;
mod range;

pub use error::FilterError;
pub use point::{PointBuilder, PointFilter};
pub use range::{RangeBuilder, RangeFilter};

use crate::arena::{Arena, Words};

#[cfg(doc)]
use crate::Layers;

/// How many words a builder was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    BitsPerKey(f64),
    /// A rate; for ranges of so many keys.
    Rate(f64, u64),
}

impl Size {
    /// Bits for `keys` keys, where the size was given as bits.
    fn bits(self, keys: u64) -> Result<Option<f64>, FilterError> {
        match self {
            Size::BitsPerKey(bits) if bits.is_finite() && bits > 0.0 => {
                Ok(Some(bits * keys as f64))
            }
            Size::BitsPerKey(bits) => Err(FilterError::BitsPerKey { bits }),
            Size::Rate(..) => Ok(None),
        }
    }
}

/// Zeroed words from the arena, or from the heap where there is none.
fn zeroed(arena: Option<&Arena>, len: usize) -> Result<Words, FilterError> {
    match arena {
        None => Ok(Words::heap(len)),
        Some(arena) => arena.words(len).ok_or(FilterError::ArenaFull { words: len }),
    }
}

/// The answer words of `count` questions: as many as are needed, all of them cleared.
fn clear_answers(found: &mut Vec<u64>, count: usize) {
    found.clear();
    found.resize(count.div_ceil(64), 0);
}
