//! One column: type, place, byte order, and the class of key it maps to.

/// Unit of a timestamp: ticks since 1970 in a signed 64-bit number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

/// Byte order of multi-byte numbers. Addresses, MACs and uuids are always in network order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Network order.
    Big,
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Unsigned, 1 byte.
    U8,
    /// Unsigned, 2 bytes.
    U16,
    /// Unsigned, 4 bytes.
    U32,
    /// Unsigned, 8 bytes.
    U64,
    /// Signed, 1 byte.
    I8,
    /// Signed, 2 bytes.
    I16,
    /// Signed, 4 bytes.
    I32,
    /// Signed, 8 bytes.
    I64,
    /// One byte; 0 is false, anything else true.
    Bool,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Ticks since 1970, signed, 8 bytes.
    Timestamp(TimeUnit),
    /// 4 bytes, network order.
    Ipv4,
    /// 16 bytes, network order.
    Ipv6,
    /// 6 bytes, network order.
    Mac,
    /// 16 bytes.
    Uuid,
    /// N bytes, padded right with zero bytes; N in `1..=RECORD_BYTES_MAX`.
    Bytes(u16),
}

/// What kind of key a column's cells become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyClass {
    /// An unsigned integer of `bits` bits (8, 16, 32, 48 or 64) that keeps the values' order.
    Narrow {
        /// Bits of the key.
        bits: u8,
    },
    /// A string of `bytes` bytes in an order that byte-wise comparison keeps; hashed for the
    /// filter, its first 16 bytes (padded right with zeros) are the zone map's key.
    Wide {
        /// Bytes of the value.
        bytes: u16,
    },
}

/// A column of a checked schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub(super) name: String,
    pub(super) offset: usize,
    pub(super) kind: ColumnType,
    pub(super) order: ByteOrder,
    /// Bit of the null bitmap, for nullable columns.
    pub(super) null_bit: Option<u16>,
}

impl Column {
    /// Name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// First byte of the cell within the record.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Type.
    #[must_use]
    pub fn kind(&self) -> ColumnType {
        self.kind
    }

    /// Byte order of multi-byte numbers.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Whether a cell may be null.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        self.null_bit.is_some()
    }

    /// Bit of the null bitmap at the record's start, where a cell may be null.
    #[must_use]
    pub fn null_bit(&self) -> Option<u16> {
        self.null_bit
    }

    /// Bytes of a cell.
    #[must_use]
    pub fn width(&self) -> usize {
        self.kind.width()
    }
}

impl ColumnType {
    /// Bytes of a cell.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::Ipv4 => 4,
            Self::Mac => 6,
            Self::U64 | Self::I64 | Self::F64 | Self::Timestamp(_) => 8,
            Self::Ipv6 | Self::Uuid => 16,
            Self::Bytes(n) => usize::from(n),
        }
    }

    /// Whether values may be NaN.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether byte order means something: numbers of more than one byte.
    #[must_use]
    pub fn has_order(self) -> bool {
        self.is_float()
            || matches!(self, Self::U16 | Self::U32 | Self::U64)
            || matches!(self, Self::I16 | Self::I32 | Self::I64 | Self::Timestamp(_))
    }

    /// Class of the keys.
    #[must_use]
    pub fn key_class(self) -> KeyClass {
        match self {
            Self::Ipv6 | Self::Uuid => KeyClass::Wide { bytes: 16 },
            Self::Bytes(n) => KeyClass::Wide { bytes: n },
            _ => KeyClass::Narrow { bits: (self.width() * 8) as u8 },
        }
    }
}
