//! Returned where a filter is made, merged or folded, not per key.
//!
//! Why a filter could not be made, read, merged or folded.

use std::fmt;

use crate::{LayersError, SizeError};

/// Why a filter could not be made, read, merged or folded, or a key not be inserted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FilterError {
    /// No size fits the rate that was asked for.
    Size(SizeError),
    /// The layers were refused.
    Layers(LayersError),
    /// A budget that is no positive number.
    BitsPerKey {
        /// As asked for.
        bits: f64,
    },
    /// A number of lanes outside 4 to 8.
    Lanes {
        /// As asked for.
        k: u32,
    },
    /// A number of words that no filter of the kind has.
    Words {
        /// Words given or asked for, an exact top included.
        words: usize,
        /// What is right.
        expected: &'static str,
    },
    /// The arena has no room for the filter.
    ArenaFull {
        /// Words asked for.
        words: usize,
    },
    /// A key that the domain does not hold. No key of the call was inserted.
    Key {
        /// The largest key given.
        key: u64,
        /// Bits of the domain.
        domain_bits: u8,
    },
    /// The other filter has another size, another seed, other lanes or layers.
    Shape,
    /// The factor does not divide the filter.
    Factor {
        /// As asked for.
        factor: usize,
        /// What it has to divide: blocks of a point filter, hashed words of a range filter.
        parts: usize,
    },
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(error) => error.fmt(f),
            Self::Layers(error) => error.fmt(f),
            Self::BitsPerKey { bits } => write!(f, "{bits} bits per key: expected more than 0"),
            Self::Lanes { k } => write!(f, "{k} lanes per key: expected 4 to 8"),
            Self::Words { words, expected } => {
                write!(f, "a filter of {words} words: expected {expected}")
            }
            Self::ArenaFull { words } => {
                write!(f, "the arena has no room for a filter of {words} words")
            }
            Self::Key { key, domain_bits } => write!(
                f,
                "key {key} has more than the {domain_bits} bits of the domain; no key was inserted"
            ),
            Self::Shape => write!(
                f,
                "the filters differ in size, seed, lanes or layers; only filters of one shape merge"
            ),
            Self::Factor { factor, parts } => {
                write!(f, "a filter of {parts} parts does not fold by {factor}")
            }
        }
    }
}

impl std::error::Error for FilterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Size(error) => Some(error),
            Self::Layers(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SizeError> for FilterError {
    fn from(error: SizeError) -> Self {
        FilterError::Size(error)
    }
}

impl From<LayersError> for FilterError {
    fn from(error: LayersError) -> Self {
        FilterError::Layers(error)
    }
}
