//! The one place where the engine's schema and predicates become the oracle's. Test-only: include
//! it with `mod truth;`. It renames types and nothing else: no clamping, no normalisation.
#![allow(dead_code, reason = "each test binary uses its own part")]

use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{ByteOrder, ColumnType, Schema, TimeUnit};
use bloomrf_oracle::{Expr, Field, FieldType, FloatRule, Op, Unit, Value};

/// The schema's columns as the oracle's fields, in the order of their ordinals.
pub(crate) fn fields(schema: &Schema) -> Vec<Field> {
    let mut nullable = 0..;
    schema
        .columns()
        .iter()
        .map(|column| Field {
            name: column.name().to_owned(),
            offset: column.offset(),
            width: column.width(),
            kind: field_type(column.kind()),
            big_endian: column.order() == ByteOrder::Big,
            // Counted here, so that the schema's own numbering of bits is checked by it.
            null_bit: if column.is_nullable() { nullable.next() } else { None },
        })
        .collect()
}

/// The predicate as the oracle's; `None` where [`Predicate::Unknown`] occurs in it.
pub(crate) fn expr(predicate: &Predicate) -> Option<Expr> {
    let all = |parts: &[Predicate]| parts.iter().map(expr).collect::<Option<Vec<Expr>>>();
    Some(match predicate {
        Predicate::Compare { column, op, literal } => {
            Expr::Compare(usize::from(*column), operator(*op), value(literal))
        }
        Predicate::Between { column, low, high } => {
            Expr::Between(usize::from(*column), value(low), value(high))
        }
        Predicate::In { column, list } => {
            Expr::In(usize::from(*column), list.iter().map(value).collect())
        }
        Predicate::IsNull { column } => Expr::IsNull(usize::from(*column)),
        Predicate::IsNotNull { column } => Expr::Not(Box::new(Expr::IsNull(usize::from(*column)))),
        Predicate::And(parts) => Expr::And(all(parts)?),
        Predicate::Or(parts) => Expr::Or(all(parts)?),
        Predicate::Not(part) => Expr::Not(Box::new(expr(part)?)),
        Predicate::Unknown => return None,
    })
}

/// The rules under which a row may match when the asker states `order`: a batch must be kept if
/// it has a match under any of them.
pub(crate) fn float_rules(order: FloatOrder) -> &'static [FloatRule] {
    match order {
        FloatOrder::Unstated => &[FloatRule::Ieee, FloatRule::Total, FloatRule::Below],
        FloatOrder::Ieee => &[FloatRule::Ieee],
        FloatOrder::Total => &[FloatRule::Total],
    }
}

/// A literal as the oracle's value.
pub(crate) fn value(literal: &Literal) -> Value {
    match literal {
        Literal::Unsigned(v) => Value::Int((*v).into()),
        Literal::Signed(v) => Value::Int((*v).into()),
        Literal::Float(v) => Value::Float(*v),
        Literal::Bool(v) => Value::Bool(*v),
        Literal::Timestamp(ticks, unit) => Value::Time(*ticks, time_unit(*unit)),
        Literal::Ipv4(b) => Value::Octets(FieldType::Ipv4, b.to_vec()),
        Literal::Ipv6(b) => Value::Octets(FieldType::Ipv6, b.to_vec()),
        Literal::Mac(b) => Value::Octets(FieldType::Mac, b.to_vec()),
        Literal::Uuid(b) => Value::Octets(FieldType::Uuid, b.to_vec()),
        Literal::Bytes(b) => Value::Text(b.clone()),
    }
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

fn time_unit(unit: TimeUnit) -> Unit {
    match unit {
        TimeUnit::S => Unit::S,
        TimeUnit::Ms => Unit::Ms,
        TimeUnit::Us => Unit::Us,
        TimeUnit::Ns => Unit::Ns,
    }
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
