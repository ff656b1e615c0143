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
///
/// # Panics
/// When the record is shorter than a field's end: the caller's mistake.
#[must_use]
pub fn decode_row(fields: &[Field], record: &[u8]) -> Vec<Value> {
    fields.iter().map(|field| decode(field, record)).collect()
}

fn decode(field: &Field, record: &[u8]) -> Value {
    if let Some(bit) = field.null_bit
        && (record[bit / 8] >> (bit % 8)) % 2 == 1
    {
        return Value::Null;
    }
    let cell = &record[field.offset..field.offset + field.width];
    match field.kind {
        FieldType::Unsigned => Value::Int(unsigned(field, cell)),
        FieldType::Signed => Value::Int(signed(field, cell)),
        FieldType::Float if field.width == 4 => {
            Value::Float(f32::from_bits(unsigned(field, cell) as u32).into())
        }
        FieldType::Float => Value::Float(f64::from_bits(unsigned(field, cell) as u64)),
        FieldType::Bool => Value::Bool(cell != [0]),
        FieldType::Time(unit) => Value::Time(signed(field, cell) as i64, unit),
        FieldType::Ipv4 | FieldType::Ipv6 | FieldType::Mac | FieldType::Uuid => {
            Value::Octets(field.kind, cell.to_vec())
        }
        FieldType::Text => Value::Text(cell.to_vec()),
    }
}

/// The number that the digits (bytes) spell, most significant first after reordering.
fn unsigned(field: &Field, cell: &[u8]) -> i128 {
    let mut digits = cell.to_vec();
    if !field.big_endian {
        digits.reverse();
    }
    digits.iter().fold(0, |number, &digit| number * 256 + i128::from(digit))
}

fn signed(field: &Field, cell: &[u8]) -> i128 {
    let number = unsigned(field, cell);
    let values = 1i128 << (8 * cell.len());
    if number >= values / 2 { number - values } else { number }
}

#[cfg(test)]
mod tests;
