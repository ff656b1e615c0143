//! How a column type is spelt in schema files and messages: `u16`, `timestamp(ns)`, `bytes(32)`.

use std::fmt;
use std::str::FromStr;

use super::{ByteOrder, ColumnType, TimeUnit};
use crate::limits::RECORD_BYTES_MAX;

/// The types as a message names them.
pub(super) const TYPES: &str = "u8, u16, u32, u64, i8, i16, i32, i64, bool, f32, f64, \
    timestamp(s|ms|us|ns), ipv4, ipv6, mac, uuid or bytes(N)";

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S => "s",
            Self::Ms => "ms",
            Self::Us => "us",
            Self::Ns => "ns",
        })
    }
}

impl fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Little => "little",
            Self::Big => "big",
        })
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Bool => "bool",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Mac => "mac",
            Self::Uuid => "uuid",
            Self::Timestamp(unit) => return write!(f, "timestamp({unit})"),
            Self::Bytes(n) => return write!(f, "bytes({n})"),
        })
    }
}

/// The text is no column type; the message says what is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownType;

impl fmt::Display for UnknownType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {TYPES}, N in 1..={RECORD_BYTES_MAX}")
    }
}

impl std::error::Error for UnknownType {}

impl FromStr for ColumnType {
    type Err = UnknownType;

    fn from_str(text: &str) -> Result<Self, UnknownType> {
        Ok(match text {
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "i8" => Self::I8,
            "i16" => Self::I16,
            "i32" => Self::I32,
            "i64" => Self::I64,
            "bool" => Self::Bool,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "timestamp(s)" => Self::Timestamp(TimeUnit::S),
            "timestamp(ms)" => Self::Timestamp(TimeUnit::Ms),
            "timestamp(us)" => Self::Timestamp(TimeUnit::Us),
            "timestamp(ns)" => Self::Timestamp(TimeUnit::Ns),
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "mac" => Self::Mac,
            "uuid" => Self::Uuid,
            _ => Self::Bytes(bytes_count(text).ok_or(UnknownType)?),
        })
    }
}

/// N of `bytes(N)`, where N is written in plain decimal and within its limits.
fn bytes_count(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("bytes(")?.strip_suffix(')')?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    let count: u16 = digits.parse().ok()?;
    (plain && usize::from(count) <= RECORD_BYTES_MAX).then_some(count)
}
