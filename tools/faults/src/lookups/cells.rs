//! Columns of every kind, and cells of them that are hard on filters: edges of the type, keys
//! beside each other, keys that many batches share.

use bloomrf_engine::predicate::Literal;
use bloomrf_engine::schema::{Column, ColumnType, Schema};

use crate::chance::Chance;

/// A cell as its record holds it; bytes past the column's width are zero.
pub(super) type Cell = [u8; CELL_BYTES];

/// Bytes of the widest column.
pub(super) const CELL_BYTES: usize = 24;

/// Every kind of filter, and most types.
pub(super) fn schema() -> Result<Schema, String> {
    let columns = [
        ("ts", "timestamp(ns)", false),
        ("id", "u64", false),
        ("balance", "i64", true),
        ("ratio", "f64", true),
        ("mac", "mac", false),
        ("near", "i32", true),
        ("ip", "ipv4", false),
        ("wide", "u32", false),
        ("share", "f32", false),
        ("port", "u16", false),
        ("rare", "i16", true),
        ("proto", "u8", false),
        ("ip6", "ipv6", true),
        ("tag", "bytes(24)", false),
        ("uuid", "uuid", false),
    ];
    let mut text = "name = \"lookups\"\nversion = 1\n".to_owned();
    for (name, kind, nullable) in columns {
        text.push_str(&format!(
            "[[columns]]\nname = \"{name}\"\ntype = \"{kind}\"\nnullable = {nullable}\n"
        ));
    }
    Schema::from_toml(&text).map_err(|why| why.to_string())
}

/// Draws the cells of one column.
pub(super) struct Source {
    kind: ColumnType,
    nullable: bool,
    name: String,
    /// Shared by the batches.
    pool: Vec<Cell>,
    /// Where keys of the current batch lie.
    base: u64,
}

impl Source {
    /// Cells of `column`.
    pub(super) fn new(column: &Column, chance: &mut Chance) -> Self {
        let mut source = Source {
            kind: column.kind(),
            nullable: column.is_nullable(),
            name: column.name().to_owned(),
            pool: Vec::new(),
            base: 0,
        };
        source.start(chance);
        source.pool = (0..POOL).map(|_| source.own(0, chance)).collect();
        source
    }

    /// The next batch lies elsewhere.
    pub(super) fn start(&mut self, chance: &mut Chance) {
        self.base = match self.name.as_str() {
            "ts" => self.base.max(1_790_000_000_000_000_000) + chance.below(1 << 33),
            _ => chance.draw(),
        };
    }

    /// The cell of row number `row`; `None`: null.
    pub(super) fn draw(&mut self, row: u64, chance: &mut Chance) -> Option<Cell> {
        if self.nullable && chance.below(8) == 0 {
            return None;
        }
        // One in four belongs to the batch alone.
        let is_shared = !self.pool.is_empty() && chance.below(4) != 0;
        Some(if is_shared { chance.pick(&self.pool) } else { self.own(row, chance) })
    }

    fn own(&mut self, row: u64, chance: &mut Chance) -> Cell {
        let draw = chance.draw();
        let is_edge = chance.below(200) == 0;
        let edge = chance.pick(&[0, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 31, 1, 1 << 15, 0x7F]);
        let value = match self.name.as_str() {
            "ts" => self.base + row * 997 + draw % 900,
            _ if is_edge => edge,
            "near" => (self.base >> 32).wrapping_add(draw % 60_000),
            "ip" => self.base >> 16 << 16 | draw & 0xFFFF,
            "rare" => draw % 50,
            "mac" | "ip6" => self.base & !0xFF_FFFF | draw & 0xFF_FFFF,
            _ => draw,
        };
        let mut cell = [0; CELL_BYTES];
        match self.kind {
            ColumnType::F64 => put(&mut cell, &float(value, chance).to_le_bytes()),
            ColumnType::F32 => put(&mut cell, &(float(value, chance) as f32).to_le_bytes()),
            // Network order: the bytes that differ are the last ones.
            ColumnType::Mac => put(&mut cell, &value.to_be_bytes()[2..]),
            ColumnType::Ipv4 => put(&mut cell, &(value as u32).to_be_bytes()),
            ColumnType::Ipv6 | ColumnType::Uuid => {
                put(&mut cell, &(u128::from(self.base) << 64 | u128::from(value)).to_be_bytes());
            }
            ColumnType::Bytes(_) => {
                let text = format!("tag-{:x}", value >> chance.below(60));
                put(&mut cell, text.as_bytes());
            }
            kind => put(&mut cell, &value.to_le_bytes()[..kind.width()]),
        }
        cell
    }
}

/// Floats of every size, zeros of both signs, infinities, now and then no number.
fn float(value: u64, chance: &mut Chance) -> f64 {
    match chance.below(64) {
        0 => chance.pick(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE]),
        1 => f64::NAN,
        2..=20 => (value % 100_000) as f64 / 8.0 - 5_000.0,
        _ => f64::from_bits(value),
    }
}

fn put(cell: &mut Cell, bytes: &[u8]) {
    cell[..bytes.len()].copy_from_slice(bytes);
}

/// The value of a cell as a number that its literals are made of; `None` where the type has none.
fn number(kind: ColumnType, cell: &Cell) -> Option<i128> {
    let low = u64::from_le_bytes(*cell.first_chunk()?);
    Some(match kind {
        ColumnType::U8 | ColumnType::U16 | ColumnType::U32 | ColumnType::U64 => low.into(),
        ColumnType::I16 => i128::from(low as i16),
        ColumnType::I32 => i128::from(low as i32),
        ColumnType::I64 | ColumnType::Timestamp(_) => i128::from(low as i64),
        ColumnType::Ipv4 => i128::from(u32::from_be_bytes(*cell.first_chunk()?)),
        ColumnType::Mac => i128::from(u64::from_be_bytes(*cell.first_chunk()?) >> 16),
        _ => return None,
    })
}

fn literal_of(kind: ColumnType, value: i128) -> Option<Literal> {
    let [.., a, b, c, d, e, f] = value.to_be_bytes();
    Some(match kind {
        ColumnType::Ipv4 => Literal::Ipv4([c, d, e, f]),
        ColumnType::Mac => Literal::Mac([a, b, c, d, e, f]),
        ColumnType::Timestamp(unit) => Literal::Timestamp(i64::try_from(value).ok()?, unit),
        _ => match u64::try_from(value) {
            Ok(value) => Literal::Unsigned(value),
            Err(_) => Literal::Signed(i64::try_from(value).ok()?),
        },
    })
}

fn real(kind: ColumnType, cell: &Cell) -> Option<f64> {
    match kind {
        ColumnType::F64 => Some(f64::from_le_bytes(*cell.first_chunk()?)),
        ColumnType::F32 => Some(f32::from_le_bytes(*cell.first_chunk()?).into()),
        _ => None,
    }
}

/// The cell as an asker would write it; `None` for NaN, which no literal finds.
pub(super) fn literal(column: &Column, cell: &Cell) -> Option<Literal> {
    let kind = column.kind();
    if kind.is_float() {
        return real(kind, cell).filter(|value| !value.is_nan()).map(Literal::Float);
    }
    match kind {
        ColumnType::Ipv6 => Some(Literal::Ipv6(*cell.first_chunk()?)),
        ColumnType::Uuid => Some(Literal::Uuid(*cell.first_chunk()?)),
        ColumnType::Bytes(_) => Some(Literal::Bytes(cell.get(..column.width())?.to_vec())),
        _ => literal_of(kind, number(kind, cell)?),
    }
}

/// A range around the cell, up to `below` under and `above` over it; `None` where the type has
/// no order that filters know, or the cell is NaN.
pub(super) fn around(
    column: &Column,
    cell: &Cell,
    below: u64,
    above: u64,
) -> Option<(Literal, Literal)> {
    let kind = column.kind();
    if let Some(value) = real(kind, cell) {
        let (low, high) = (value - below as f64, value + above as f64);
        return (!value.is_nan()).then_some((Literal::Float(low), Literal::Float(high)));
    }
    let value = number(kind, cell)?;
    let (min, max) = kind.integer_bounds().unwrap_or((0, (1 << (8 * kind.width())) - 1));
    let low = value.saturating_sub(below.into()).max(min);
    let high = value.saturating_add(above.into()).min(max);
    Some((literal_of(kind, low)?, literal_of(kind, high)?))
}

/// Keys that the batches share, per column.
const POOL: usize = 4_000;
