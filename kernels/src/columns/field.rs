//! Called when fields are compiled; [`Map::key`] for each cell by the portable set.
//!
//! What a column of a record looks like, and how its bytes become a key.

use std::fmt;

/// Byte order of a number in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first (network order).
    Big,
}

/// How a number becomes an unsigned key that keeps the order of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Map {
    /// The number itself.
    Unsigned,
    /// The sign bit flipped, within the width.
    Signed,
    /// 0 for zero, 1 for everything else.
    Bool,
    /// IEEE 754 binary32 or binary64: the sign flipped where the number is positive, all bits
    /// where it is negative, -0.0 as +0.0. Keys of NaNs lie below the key of -inf or above that
    /// of +inf: see [`drop_nan_u32`](super::drop_nan_u32).
    Float,
}

impl Map {
    /// The key of a number of `bits` bits (8..=64); bits above them are 0, in and out.
    #[inline]
    pub(crate) fn key(self, number: u64, bits: u32) -> u64 {
        let sign = 1u64 << (bits - 1);
        match self {
            Map::Unsigned => number,
            Map::Signed => number ^ sign,
            Map::Bool => u64::from(number != 0),
            Map::Float if number == sign => sign,
            Map::Float if number & sign == 0 => number | sign,
            Map::Float => !number & (u64::MAX >> (64 - bits)),
        }
    }
}

/// One column of a record, of up to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// First byte within the record.
    pub offset: usize,
    /// Bytes: 1, 2, 4, 6 or 8.
    pub width: usize,
    /// Byte order.
    pub order: Order,
    /// Key map.
    pub map: Map,
    /// Bit of the null bitmap at the record's start that is set where the cell is null (least
    /// significant bit of byte 0 first); `None`: never null.
    pub null_bit: Option<u16>,
}

/// Why fields cannot be gathered; `field` counts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GatherError {
    /// A record of no bytes, or of more than [`Gather::RECORD_BYTES_MAX`](super::Gather).
    RecordBytes {
        /// Bytes asked for.
        bytes: usize,
    },
    /// More fields than a `u16` numbers.
    TooManyFields {
        /// Fields asked for.
        count: usize,
    },
    /// A width other than 1, 2, 4, 6 and 8 bytes.
    Width {
        /// Which field.
        field: usize,
        /// Its width.
        width: usize,
    },
    /// A float of another width than 4 and 8 bytes.
    FloatWidth {
        /// Which field.
        field: usize,
        /// Its width.
        width: usize,
    },
    /// The field, or its null bit, reaches past the record.
    Outside {
        /// Which field.
        field: usize,
    },
}

impl fmt::Display for GatherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecordBytes { bytes } => write!(
                f,
                "records of {bytes} bytes: expected 1 to {}",
                super::Gather::RECORD_BYTES_MAX
            ),
            Self::TooManyFields { count } => write!(f, "{count} fields: expected at most 65,535"),
            Self::Width { field, width } => {
                write!(f, "field {field} has {width} bytes: expected 1, 2, 4, 6 or 8")
            }
            Self::FloatWidth { field, width } => {
                write!(f, "field {field} is a float of {width} bytes: expected 4 or 8")
            }
            Self::Outside { field } => {
                write!(f, "field {field} or its null bit reaches past the record")
            }
        }
    }
}

impl std::error::Error for GatherError {}

impl Field {
    /// Refuses what cannot be gathered; `field` is this field's number.
    pub(super) fn check(&self, field: usize, record_bytes: usize) -> Result<(), GatherError> {
        let width = self.width;
        if !matches!(width, 1 | 2 | 4 | 6 | 8) {
            return Err(GatherError::Width { field, width });
        }
        if self.map == Map::Float && !matches!(width, 4 | 8) {
            return Err(GatherError::FloatWidth { field, width });
        }
        let end = self.offset.checked_add(width);
        let inside = end.is_some_and(|end| end <= record_bytes)
            && self.null_bit.is_none_or(|bit| usize::from(bit / 8) < record_bytes);
        if inside { Ok(()) } else { Err(GatherError::Outside { field }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_keys_keep_the_order_and_join_the_zeros() {
        let key = |value: f32| Map::Float.key(value.to_bits().into(), 32);
        let rising = [f32::NEG_INFINITY, -1.0, -f32::from_bits(1), 0.0, 1e-45, 2.0, f32::INFINITY];
        assert!(rising.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key(-0.0), key(0.0));
        let nans = [f32::NAN, -f32::NAN, f32::from_bits(0x7F80_0001), f32::from_bits(u32::MAX)];
        let numbers = key(f32::NEG_INFINITY)..=key(f32::INFINITY);
        assert!(nans.iter().all(|&nan| !numbers.contains(&key(nan))));
    }

    #[test]
    fn fields_that_do_not_fit_are_refused() {
        let field =
            Field { offset: 4, width: 4, order: Order::Big, map: Map::Float, null_bit: None };
        assert_eq!(field.check(0, 8), Ok(()));
        assert_eq!(field.check(3, 7), Err(GatherError::Outside { field: 3 }));
        let far = Field { offset: usize::MAX, ..field };
        assert_eq!(far.check(0, 8), Err(GatherError::Outside { field: 0 }));
        let odd = Field { width: 3, ..field };
        assert_eq!(odd.check(1, 8), Err(GatherError::Width { field: 1, width: 3 }));
        let half = Field { width: 2, ..field };
        assert_eq!(half.check(1, 8), Err(GatherError::FloatWidth { field: 1, width: 2 }));
        let null = Field { null_bit: Some(64), ..field };
        assert_eq!(null.check(2, 8), Err(GatherError::Outside { field: 2 }));
    }
}
