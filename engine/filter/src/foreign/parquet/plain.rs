//! The plain encoding of one value: the bytes that a column's filter hashes.

use std::borrow::Cow;

use super::super::{EncodeRefusal, Item, encode};
use super::Physical;
use crate::Encoding;

/// The bytes of a value of a column stored as `physical`. Text is taken as a number where the
/// column is one of numbers.
///
/// # Errors
/// Where the value is not one of such a column, or such columns have no filter.
pub fn plain(physical: Physical, value: Item<'_>) -> Result<Cow<'_, [u8]>, EncodeRefusal> {
    match physical {
        Physical::Int32 => encode(Encoding::I32Le, value),
        Physical::Int64 => encode(Encoding::I64Le, value),
        Physical::Float => Ok((double(value)? as f32).to_le_bytes().to_vec().into()),
        Physical::Double => Ok(double(value)?.to_le_bytes().to_vec().into()),
        Physical::ByteArray => encode(Encoding::Raw, value),
        // Values shorter or longer than the column's cannot be in it; their hash is asked all the
        // same, and what is found is not wrong but useless.
        Physical::FixedByteArray => encode(Encoding::Raw, value),
        Physical::Boolean | Physical::Int96 => Err(EncodeRefusal::NotHere(Encoding::ParquetPlain)),
    }
}

fn double(value: Item<'_>) -> Result<f64, EncodeRefusal> {
    let refusal =
        || EncodeRefusal::Kind { item: format!("{value:?}"), encoding: Encoding::ParquetPlain };
    match value {
        Item::Number(number) => Ok(number as f64),
        Item::Text(text) => text.trim().parse().map_err(|_| refusal()),
        _ => Err(refusal()),
    }
}
