//! The values of a column type in order, by number: what goes into a cell and what into a literal.
//! The simulation includes it as well.

use bloomrf_engine::predicate::Literal;
use bloomrf_engine::schema::{ColumnType, TimeUnit};

use super::seeded::Splitmix;

/// Whether the type's cells follow the column's byte order.
pub(crate) fn has_order(kind: ColumnType) -> bool {
    !matches!(
        kind,
        ColumnType::Ipv4
            | ColumnType::Ipv6
            | ColumnType::Mac
            | ColumnType::Uuid
            | ColumnType::Bytes(_)
    )
}

/// Floats from minus infinity to minus zero.
const HALF_F32: u128 = 0x7f80_0001;
const HALF_F64: u128 = 0x7ff0_0000_0000_0001;

/// The greatest ordinal of a type; ordinals ascend with the values (both zeros have one).
pub(crate) fn last(kind: ColumnType) -> u128 {
    match kind {
        ColumnType::Bool => 1,
        ColumnType::F32 => 2 * HALF_F32 - 1,
        ColumnType::F64 => 2 * HALF_F64 - 1,
        _ if kind.width() >= 16 => u128::MAX,
        _ => (1 << (kind.width() * 8)) - 1,
    }
}

/// The bits of a number or the big-endian bytes of anything else, as a number.
fn bits(kind: ColumnType, ordinal: u128) -> u128 {
    let sign = 1u128 << (kind.width().min(8) * 8 - 1);
    match kind {
        ColumnType::I8 | ColumnType::I16 | ColumnType::I32 | ColumnType::I64 => ordinal ^ sign,
        ColumnType::Timestamp(_) => ordinal ^ sign,
        ColumnType::F32 if ordinal < HALF_F32 => 0xff80_0000 - ordinal,
        ColumnType::F32 => ordinal - HALF_F32,
        ColumnType::F64 if ordinal < HALF_F64 => 0xfff0_0000_0000_0000 - ordinal,
        ColumnType::F64 => ordinal - HALF_F64,
        _ => ordinal,
    }
}

/// The cell of a value: numbers little-endian, everything else as it is on the wire.
pub(crate) fn cell(kind: ColumnType, ordinal: u128) -> Vec<u8> {
    let width = kind.width();
    if has_order(kind) {
        return bits(kind, ordinal).to_le_bytes()[..width].to_vec();
    }
    if width <= 16 {
        return ordinal.to_be_bytes()[16 - width..].to_vec();
    }
    // Longer than the zone map's key: the last four bytes tell neighbours apart.
    let mut bytes = vec![0; width];
    bytes[..16].copy_from_slice(&(ordinal >> 32).to_be_bytes());
    bytes[width - 4..].copy_from_slice(&(ordinal as u32).to_be_bytes());
    bytes
}

/// A NaN of any sign and payload.
pub(crate) fn nan(kind: ColumnType, rng: &mut Splitmix) -> Vec<u8> {
    let payload = rng.next() | 1;
    match kind {
        ColumnType::F32 => {
            let bits = 0x7f80_0000 | (payload as u32 & 0x803f_ffff) | 1;
            bits.to_le_bytes().to_vec()
        }
        _ => (0x7ff0_0000_0000_0000 | payload & 0x8007_ffff_ffff_ffff).to_le_bytes().to_vec(),
    }
}

/// The literal of a value.
pub(crate) fn literal(kind: ColumnType, ordinal: u128) -> Literal {
    let bits = bits(kind, ordinal);
    let bytes = cell(kind, ordinal);
    match kind {
        ColumnType::U8 | ColumnType::U16 | ColumnType::U32 | ColumnType::U64 => {
            Literal::Unsigned(bits as u64)
        }
        ColumnType::I8 => Literal::Signed((bits as i8).into()),
        ColumnType::I16 => Literal::Signed((bits as i16).into()),
        ColumnType::I32 => Literal::Signed((bits as i32).into()),
        ColumnType::I64 => Literal::Signed(bits as i64),
        ColumnType::Timestamp(unit) => Literal::Timestamp(bits as i64, unit),
        ColumnType::Bool => Literal::Bool(bits != 0),
        ColumnType::F32 => Literal::Float(f32::from_bits(bits as u32).into()),
        ColumnType::F64 => Literal::Float(f64::from_bits(bits as u64)),
        ColumnType::Ipv4 => Literal::Ipv4(bytes.try_into().unwrap()),
        ColumnType::Ipv6 => Literal::Ipv6(bytes.try_into().unwrap()),
        ColumnType::Mac => Literal::Mac(bytes.try_into().unwrap()),
        ColumnType::Uuid => Literal::Uuid(bytes.try_into().unwrap()),
        ColumnType::Bytes(_) => Literal::Bytes(bytes),
    }
}

/// Every type, by its name in a schema file.
pub(crate) const TYPES: [(&str, ColumnType); 20] = [
    ("u8", ColumnType::U8),
    ("u16", ColumnType::U16),
    ("u32", ColumnType::U32),
    ("u64", ColumnType::U64),
    ("i8", ColumnType::I8),
    ("i16", ColumnType::I16),
    ("i32", ColumnType::I32),
    ("i64", ColumnType::I64),
    ("bool", ColumnType::Bool),
    ("f32", ColumnType::F32),
    ("f64", ColumnType::F64),
    ("timestamp(s)", ColumnType::Timestamp(TimeUnit::S)),
    ("timestamp(ns)", ColumnType::Timestamp(TimeUnit::Ns)),
    ("ipv4", ColumnType::Ipv4),
    ("ipv6", ColumnType::Ipv6),
    ("mac", ColumnType::Mac),
    ("uuid", ColumnType::Uuid),
    ("bytes(3)", ColumnType::Bytes(3)),
    ("bytes(16)", ColumnType::Bytes(16)),
    ("bytes(20)", ColumnType::Bytes(20)),
];
