//! Typed values and how a record's bytes spell them.

/// A cell's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// Any integer.
    Int(i128),
    /// A float (binary32 widened exactly).
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Ticks since 1970.
    Time(i64, Unit),
    /// An address or uuid or MAC: compared as bytes of one length and kind.
    Octets(FieldType, Vec<u8>),
    /// Text or bytes; trailing zero bytes do not count.
    Text(Vec<u8>),
}

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

/// How a field's bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Unsigned integer.
    Unsigned,
    /// Two's complement integer.
    Signed,
    /// IEEE 754, 4 or 8 bytes.
    Float,
    /// One byte, zero is false.
    Bool,
    /// Signed 64-bit ticks.
    Time(Unit),
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
    /// MAC.
    Mac,
    /// Uuid.
    Uuid,
    /// Padded text or bytes.
    Text,
}

/// Where a field lies in a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub width: usize,
    /// Type.
    pub kind: FieldType,
    /// Network byte order (numbers only).
    pub big_endian: bool,
    /// Bit of the null bitmap at the record's start, for nullable fields; set means null.
    pub null_bit: Option<usize>,
}

/// Reads all fields of one record.
#[must_use]
pub fn decode_row(fields: &[Field], record: &[u8]) -> Vec<Value> {
    let _ = (fields, record);
    todo!("oracle")
}
