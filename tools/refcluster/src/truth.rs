//! The truth: every batch file is read, every row decoded and judged by the brute-force oracle.
//!
//! A path of its own: from the schema's description and the predicate as stated to the oracle's
//! fields and tree. No key map, no filter, no rewriting of the node is on it.

use std::path::Path;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::predicate::{CompareOp, Literal, Predicate};
use bloomrf_engine::schema::{ByteOrder, Column, ColumnType, Schema, TimeUnit};
use bloomrf_oracle::{Expr, Field, FieldType, FloatRule, Op, Unit, Value, decode_row, matches_row};

use crate::storage::file::{FileError, StoredBatch, read_batch};

/// A predicate as the oracle reads it.
#[derive(Clone, Debug)]
pub struct Judge {
    expr: Expr,
}

impl Judge {
    /// `None` where the predicate holds a part that has no defined meaning.
    #[must_use]
    pub fn new(schema: &Schema, predicate: &Predicate) -> Option<Self> {
        Some(Judge { expr: expr(schema, predicate)? })
    }

    /// Whether a row matches under either reading of NaN.
    #[must_use]
    pub fn matches(&self, row: &[Value]) -> bool {
        [FloatRule::Ieee, FloatRule::Total, FloatRule::Below]
            .into_iter()
            .any(|rule| matches_row(&self.expr, row, rule) == Some(true))
    }
}

/// The fields of a schema as the oracle reads them.
#[must_use]
pub fn fields(schema: &Schema) -> Vec<Field> {
    let mut null_bits = 0..;
    let field = |column: &Column| Field {
        name: column.name().to_owned(),
        offset: column.offset(),
        width: column.width(),
        kind: field_type(column.kind()),
        big_endian: column.order() == ByteOrder::Big,
        // The bitmap has one bit per nullable column, in column order.
        null_bit: if column.is_nullable() { null_bits.next() } else { None },
    };
    schema.columns().iter().map(field).collect()
}

/// All rows of a stored batch.
#[must_use]
pub fn rows(fields: &[Field], stored: &StoredBatch) -> Vec<Vec<Value>> {
    stored.iter().map(|record| decode_row(fields, record)).collect()
}

/// For every judge: how many rows of the batch in `folder` match.
pub fn count_matches(
    folder: &Path,
    batch: BatchId,
    fields: &[Field],
    judges: &[Judge],
) -> Result<Vec<u64>, FileError> {
    let stored = read_batch(folder, batch)?;
    let mut counts = vec![0; judges.len()];
    for record in stored.iter() {
        let row = decode_row(fields, record);
        for (count, judge) in counts.iter_mut().zip(judges) {
            *count += u64::from(judge.matches(&row));
        }
    }
    Ok(counts)
}

fn field_type(kind: ColumnType) -> FieldType {
    match kind {
        ColumnType::U8 | ColumnType::U16 | ColumnType::U32 | ColumnType::U64 => FieldType::Unsigned,
        ColumnType::I8 | ColumnType::I16 | ColumnType::I32 | ColumnType::I64 => FieldType::Signed,
        ColumnType::Bool => FieldType::Bool,
        ColumnType::F32 | ColumnType::F64 => FieldType::Float,
        ColumnType::Timestamp(unit) => FieldType::Time(time_unit(unit)),
        ColumnType::Ipv4 => FieldType::Ipv4,
        ColumnType::Ipv6 => FieldType::Ipv6,
        ColumnType::Mac => FieldType::Mac,
        ColumnType::Uuid => FieldType::Uuid,
        ColumnType::Bytes(_) => FieldType::Text,
    }
}

fn time_unit(unit: TimeUnit) -> Unit {
    match unit {
        TimeUnit::S => Unit::S,
        TimeUnit::Ms => Unit::Ms,
        TimeUnit::Us => Unit::Us,
        TimeUnit::Ns => Unit::Ns,
    }
}

fn expr(schema: &Schema, predicate: &Predicate) -> Option<Expr> {
    let field = |column: u16| {
        let column = usize::from(column);
        (column < schema.columns().len()).then_some(column)
    };
    let all = |parts: &[Predicate]| parts.iter().map(|p| expr(schema, p)).collect::<Option<_>>();
    Some(match predicate {
        Predicate::Compare { column, op, literal } => {
            Expr::Compare(field(*column)?, operator(*op), value(literal))
        }
        Predicate::Between { column, low, high } => {
            Expr::Between(field(*column)?, value(low), value(high))
        }
        Predicate::In { column, list } => {
            Expr::In(field(*column)?, list.iter().map(value).collect())
        }
        Predicate::IsNull { column } => Expr::IsNull(field(*column)?),
        Predicate::IsNotNull { column } => Expr::Not(Box::new(Expr::IsNull(field(*column)?))),
        Predicate::And(parts) => Expr::And(all(parts)?),
        Predicate::Or(parts) => Expr::Or(all(parts)?),
        Predicate::Not(part) => Expr::Not(Box::new(expr(schema, part)?)),
        Predicate::Unknown => return None,
    })
}

fn operator(op: CompareOp) -> Op {
    match op {
        CompareOp::Eq => Op::Eq,
        CompareOp::Ne => Op::Ne,
        CompareOp::Lt => Op::Lt,
        CompareOp::Le => Op::Le,
        CompareOp::Gt => Op::Gt,
        CompareOp::Ge => Op::Ge,
    }
}

fn value(literal: &Literal) -> Value {
    match literal {
        Literal::Unsigned(n) => Value::Int(i128::from(*n)),
        Literal::Signed(n) => Value::Int(i128::from(*n)),
        Literal::Float(x) => Value::Float(*x),
        Literal::Bool(b) => Value::Bool(*b),
        Literal::Timestamp(ticks, unit) => Value::Time(*ticks, time_unit(*unit)),
        Literal::Ipv4(octets) => Value::Octets(FieldType::Ipv4, octets.to_vec()),
        Literal::Ipv6(octets) => Value::Octets(FieldType::Ipv6, octets.to_vec()),
        Literal::Mac(octets) => Value::Octets(FieldType::Mac, octets.to_vec()),
        Literal::Uuid(octets) => Value::Octets(FieldType::Uuid, octets.to_vec()),
        Literal::Bytes(bytes) => Value::Text(bytes.clone()),
    }
}
