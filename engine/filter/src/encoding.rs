//! What the bytes of an item are. Stored with a filter, since a filter asked in another encoding
//! than it was built with answers *no* to what it holds.

/// How items become bytes before they are hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// Nothing is known of it (imports of formats that do not say).
    Unspecified,
    /// The bytes as they are.
    #[default]
    Raw,
    /// Text as UTF-8, as it is.
    Utf8,
    /// Text as UTF-8, normalised to lower-case NFKC on both sides.
    Utf8LowerNfkc,
    /// A number of 64 bits, little-endian.
    U64Le,
    /// A signed number of 64 bits, little-endian two's complement.
    I64Le,
    /// A number of 32 bits, little-endian.
    U32Le,
    /// A signed number of 32 bits, little-endian two's complement.
    I32Le,
    /// Text as UTF-16 code units, little-endian, without a byte order mark.
    Utf16Le,
    /// A number as decimal ASCII text.
    DecimalText,
    /// The plain encoding of Parquet for the column's physical type.
    ParquetPlain,
}
