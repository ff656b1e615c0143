//! From items to the bytes that other systems hash: Guava's funnels, Redisson's codecs.
//!
//! | theirs | ours |
//! | --- | --- |
//! | Guava `stringFunnel(UTF_8)`, Redisson `StringCodec` | `Encoding::Utf8` |
//! | Guava `unencodedCharsFunnel` | `Encoding::Utf16Le` |
//! | Guava `longFunnel` | `Encoding::I64Le` |
//! | Guava `integerFunnel` | `Encoding::I32Le` |
//! | Redisson `LongCodec`, `IntegerCodec` | `Encoding::DecimalText` |
//! | Guava `byteArrayFunnel`, Redisson `ByteArrayCodec`, RedisBloom, dablooms | `Encoding::Raw` |

use std::borrow::Cow;

use crate::Encoding;

/// An item before it is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// Text. Encodings of numbers take it as a decimal number.
    Text(&'a str),
    /// Text of a Java string, which may hold lone surrogates.
    Utf16(&'a [u16]),
    /// A number.
    Number(i128),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// Why an item has no bytes in an encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeRefusal {
    /// The format does not say, so the caller must.
    #[error("the format does not say how items were encoded: name the encoding")]
    Unspecified,
    /// No system of these encodes so, or it needs to know more than the item.
    #[error("items of other systems are not encoded as {0:?} here")]
    NotHere(Encoding),
    /// A number that the encoding cannot hold.
    #[error("{number} is out of range of {encoding:?}")]
    Range {
        /// The number.
        number: i128,
        /// The encoding.
        encoding: Encoding,
    },
    /// Not the kind of item that the encoding is of.
    #[error("{item} cannot be encoded as {encoding:?}")]
    Kind {
        /// The item.
        item: String,
        /// The encoding.
        encoding: Encoding,
    },
}

/// The bytes of an item.
///
/// # Errors
/// Where the encoding cannot hold it, or is not one of those above.
pub fn encode(encoding: Encoding, item: Item<'_>) -> Result<Cow<'_, [u8]>, EncodeRefusal> {
    match encoding {
        Encoding::Unspecified => Err(EncodeRefusal::Unspecified),
        Encoding::Raw => match item {
            Item::Bytes(bytes) => Ok(bytes.into()),
            Item::Text(text) => Ok(text.as_bytes().into()),
            _ => Err(kind(encoding, item)),
        },
        Encoding::Utf8 => match item {
            Item::Text(text) => Ok(text.as_bytes().into()),
            Item::Utf16(units) => Ok(utf8_of(units).into()),
            Item::Bytes(bytes) if std::str::from_utf8(bytes).is_ok() => Ok(bytes.into()),
            _ => Err(kind(encoding, item)),
        },
        Encoding::Utf16Le => match item {
            Item::Text(text) => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Item::Utf16(units) => Ok(units.iter().flat_map(|unit| unit.to_le_bytes()).collect()),
            _ => Err(kind(encoding, item)),
        },
        Encoding::U64Le => narrow(encoding, item, u64::to_le_bytes),
        Encoding::I64Le => narrow(encoding, item, i64::to_le_bytes),
        Encoding::U32Le => narrow(encoding, item, u32::to_le_bytes),
        Encoding::I32Le => narrow(encoding, item, i32::to_le_bytes),
        Encoding::DecimalText => Ok(number(encoding, item)?.to_string().into_bytes().into()),
        other => Err(EncodeRefusal::NotHere(other)),
    }
}

/// As Java encodes a string: a lone surrogate becomes one question mark.
fn utf8_of(units: &[u16]) -> Vec<u8> {
    let chars = char::decode_utf16(units.iter().copied()).map(|char| char.unwrap_or('?'));
    chars.collect::<String>().into_bytes()
}

fn narrow<'a, T: TryFrom<i128>, const N: usize>(
    encoding: Encoding,
    item: Item<'_>,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<Cow<'a, [u8]>, EncodeRefusal> {
    let number = number(encoding, item)?;
    let narrow = T::try_from(number).map_err(|_| EncodeRefusal::Range { number, encoding })?;
    Ok(bytes(narrow).to_vec().into())
}

fn number(encoding: Encoding, item: Item<'_>) -> Result<i128, EncodeRefusal> {
    match item {
        Item::Number(number) => Ok(number),
        Item::Text(text) => text.trim().parse().map_err(|_| kind(encoding, item)),
        _ => Err(kind(encoding, item)),
    }
}

fn kind(encoding: Encoding, item: Item<'_>) -> EncodeRefusal {
    EncodeRefusal::Kind { item: format!("{item:?}"), encoding }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(encoding: Encoding, item: Item<'_>) -> Vec<u8> {
        encode(encoding, item).unwrap().into_owned()
    }

    #[test]
    fn encodings_are_those_of_the_funnels_and_codecs() {
        assert_eq!(bytes(Encoding::Utf8, Item::Text("é")), [0xc3, 0xa9]);
        assert_eq!(bytes(Encoding::Utf8, Item::Utf16(&[0xd800, 0x41])), b"?A");
        assert_eq!(bytes(Encoding::Utf16Le, Item::Text("é")), [0xe9, 0]);
        assert_eq!(bytes(Encoding::Utf16Le, Item::Utf16(&[0xd800])), [0, 0xd8]);
        assert_eq!(bytes(Encoding::I64Le, Item::Number(-2)), (-2_i64).to_le_bytes());
        assert_eq!(bytes(Encoding::I32Le, Item::Text("42")), [42, 0, 0, 0]);
        assert_eq!(bytes(Encoding::DecimalText, Item::Number(-500)), b"-500");
        assert_eq!(bytes(Encoding::Raw, Item::Bytes(&[0, 10, 13])), [0, 10, 13]);
    }

    #[test]
    fn what_an_encoding_cannot_hold_is_refused() {
        let refused = |encoding, item| encode(encoding, item).unwrap_err();
        assert_eq!(refused(Encoding::Unspecified, Item::Text("a")), EncodeRefusal::Unspecified);
        let number = i128::from(i32::MAX) + 1;
        let range = EncodeRefusal::Range { number, encoding: Encoding::I32Le };
        assert_eq!(refused(Encoding::I32Le, Item::Number(number)), range);
        assert!(matches!(refused(Encoding::I64Le, Item::Text("a")), EncodeRefusal::Kind { .. }));
        assert!(matches!(refused(Encoding::Utf8, Item::Bytes(&[255])), EncodeRefusal::Kind { .. }));
    }
}
