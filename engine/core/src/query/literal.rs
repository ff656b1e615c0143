//! SQL literals to [`Literal`]s, typed by the column that they are compared with.

use std::net::{Ipv4Addr, Ipv6Addr};

use sqlparser::ast::{DataType, Expr, UnaryOperator, Value};

use super::names::part;
use super::{QueryError, address, time};
use crate::limits::LITERAL_BYTES_MAX;
use crate::predicate::Literal;
use crate::schema::{Column, ColumnType, TimeUnit};

/// A literal as the text spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw<'e> {
    /// Digits with an optional fraction and exponent.
    Number { negative: bool, digits: &'e str },
    /// `'text'`
    Text(&'e str),
    /// `X'00ff'` or `0x00ff`
    Hex(&'e str),
    /// TRUE or FALSE.
    Bool(bool),
    /// `TIMESTAMP '..'` or `DATE '..'`
    Time(&'e str),
    /// NULL
    Null,
}

/// The literal that `expr` is; `None` when it is no literal of a kind that is supported.
pub(super) fn raw(mut expr: &Expr) -> Option<Raw<'_>> {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, false) => Some(Raw::Number { negative: false, digits }),
            Value::SingleQuotedString(text) => Some(Raw::Text(text)),
            Value::HexStringLiteral(digits) => Some(Raw::Hex(digits)),
            Value::Boolean(truth) => Some(Raw::Bool(*truth)),
            Value::Null => Some(Raw::Null),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: operand } => {
            let Expr::Value(value) = &**operand else { return None };
            let Value::Number(digits, false) = &value.value else { return None };
            let negative = matches!(expr, Expr::UnaryOp { op: UnaryOperator::Minus, .. });
            Some(Raw::Number { negative, digits })
        }
        Expr::TypedString(typed) => match (&typed.data_type, &typed.value.value) {
            (
                DataType::Timestamp(None, _) | DataType::Date | DataType::Datetime(None),
                Value::SingleQuotedString(text),
            ) => Some(Raw::Time(text)),
            _ => None,
        },
        _ => None,
    }
}

/// The literal `expr` for `column`.
pub(super) fn typed(column: &Column, expr: &Expr) -> Result<Literal, QueryError> {
    let wrong_type = || QueryError::LiteralType {
        part: part(expr),
        column: column.name().to_owned(),
        kind: column.kind(),
        expected: spelling(column.kind()),
    };
    let wrong_value =
        |reason: &str| QueryError::Value { part: part(expr), reason: reason.to_owned() };
    let raw = match raw(expr) {
        None => return Err(not_a_literal(expr)),
        Some(Raw::Null) => {
            return Err(wrong_value("a comparison with NULL is never true: use IS NULL"));
        }
        Some(raw) => raw,
    };
    let kind = column.kind();
    match (kind, raw) {
        (ColumnType::Bool, Raw::Bool(truth)) => Ok(Literal::Bool(truth)),
        (ColumnType::F32 | ColumnType::F64, Raw::Number { negative, digits }) => {
            float(negative, digits).ok_or_else(|| wrong_value("not within a binary64"))
        }
        (ColumnType::F32 | ColumnType::F64, Raw::Text(text)) => {
            named_float(text).map(Literal::Float).ok_or_else(wrong_type)
        }
        (ColumnType::Timestamp(unit), Raw::Number { negative, digits }) => {
            let ticks = integer(negative, digits).ok_or_else(wrong_type)?;
            let ticks = i64::try_from(ticks)
                .map_err(|_| wrong_value("not within the 64 bits of a time's ticks"))?;
            Ok(Literal::Timestamp(ticks, unit))
        }
        (ColumnType::Timestamp(unit), Raw::Text(text) | Raw::Time(text)) => {
            instant(text, unit).map_err(wrong_value)
        }
        (ColumnType::Ipv4, Raw::Text(text)) => {
            text.parse().map(|v: Ipv4Addr| Literal::Ipv4(v.octets())).map_err(|_| wrong_type())
        }
        (ColumnType::Ipv6, Raw::Text(text)) => {
            text.parse().map(|v: Ipv6Addr| Literal::Ipv6(v.octets())).map_err(|_| wrong_type())
        }
        (ColumnType::Mac, Raw::Text(text)) => {
            address::mac(text).map(Literal::Mac).ok_or_else(wrong_type)
        }
        (ColumnType::Uuid, Raw::Text(text)) => {
            address::uuid(text).map(Literal::Uuid).ok_or_else(wrong_type)
        }
        (ColumnType::Bytes(_), Raw::Text(text)) => bytes(expr, text.as_bytes().to_vec()),
        (ColumnType::Bytes(_), Raw::Hex(digits)) => {
            let value = address::hex(digits)
                .ok_or_else(|| wrong_value("expected an even number of hexadecimal digits"))?;
            bytes(expr, value)
        }
        (_, Raw::Number { negative, digits }) if is_integer(kind) => {
            number(kind, negative, digits).ok_or_else(|| wrong_value("not within a binary64"))
        }
        (_, Raw::Hex(digits)) if is_integer(kind) => u64::from_str_radix(digits, 16)
            .map(|value| typed_integer(kind, value.into()).unwrap_or(Literal::Unsigned(value)))
            .map_err(|_| wrong_value("expected 1 to 16 hexadecimal digits")),
        _ => Err(wrong_type()),
    }
}

pub(super) fn not_a_literal(expr: &Expr) -> QueryError {
    QueryError::Unsupported {
        part: part(expr),
        expected: "expected a literal: a number, TRUE, FALSE, 'text' or X'00ff'",
    }
}

/// How a literal of a type is written.
fn spelling(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Bool => "TRUE or FALSE",
        ColumnType::F32 | ColumnType::F64 => "a number, 'inf', '-inf' or 'nan'",
        ColumnType::Timestamp(_) => {
            "a time such as '2026-01-31T12:00:00Z', or whole ticks of the column's unit"
        }
        ColumnType::Ipv4 => "an IPv4 address such as '10.0.0.1'",
        ColumnType::Ipv6 => "an IPv6 address such as '2001:db8::1'",
        ColumnType::Mac => "a MAC address such as 'aa:bb:cc:dd:ee:ff'",
        ColumnType::Uuid => "a uuid such as '00112233-4455-6677-8899-aabbccddeeff'",
        ColumnType::Bytes(_) => "a text such as 'abc', or bytes such as X'00ff'",
        _ => "a number such as 443 or 0x1bb",
    }
}

fn is_integer(kind: ColumnType) -> bool {
    is_signed(kind)
        || matches!(kind, ColumnType::U8 | ColumnType::U16 | ColumnType::U32 | ColumnType::U64)
}

fn is_signed(kind: ColumnType) -> bool {
    matches!(kind, ColumnType::I8 | ColumnType::I16 | ColumnType::I32 | ColumnType::I64)
}

fn integer(negative: bool, digits: &str) -> Option<i128> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    let magnitude: i128 = digits.parse().ok().filter(|_| plain)?;
    Some(if negative { -magnitude } else { magnitude })
}

/// A finite decimal number as the nearest binary64.
fn decimal(negative: bool, digits: &str) -> Option<f64> {
    let magnitude: f64 = digits.parse().ok().filter(|v: &f64| v.is_finite())?;
    Some(if negative { -magnitude } else { magnitude })
}

/// A number for an integer column. Past 64 bits every number compares with the column's values
/// as its nearest binary64 does, since that is past them as well.
fn number(kind: ColumnType, negative: bool, digits: &str) -> Option<Literal> {
    let exact = integer(negative, digits).and_then(|value| typed_integer(kind, value));
    exact.or_else(|| decimal(negative, digits).map(Literal::Float))
}

/// Signed where the column is, as long as 64 bits hold it.
fn typed_integer(kind: ColumnType, value: i128) -> Option<Literal> {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(signed), _) if is_signed(kind) || signed < 0 => Some(Literal::Signed(signed)),
        (_, Ok(unsigned)) => Some(Literal::Unsigned(unsigned)),
        _ => None,
    }
}

/// A number for a float column: an integer that no binary64 equals stays an integer, so that it
/// is compared exactly.
fn float(negative: bool, digits: &str) -> Option<Literal> {
    let nearest = decimal(negative, digits)?;
    let inexact = integer(negative, digits).filter(|&value| nearest as i128 != value);
    Some(match inexact.map(|value| (i64::try_from(value), u64::try_from(value))) {
        Some((Ok(signed), _)) => Literal::Signed(signed),
        Some((_, Ok(unsigned))) => Literal::Unsigned(unsigned),
        _ => Literal::Float(nearest),
    })
}

fn named_float(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "inf" | "+inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

fn instant(text: &str, unit: TimeUnit) -> Result<Literal, &'static str> {
    let ns = time::parse(text)?;
    let (ticks, unit) =
        time::ticks(ns, unit).ok_or("this time with this fraction does not fit 64 bits")?;
    Ok(Literal::Timestamp(ticks, unit))
}

fn bytes(expr: &Expr, value: Vec<u8>) -> Result<Literal, QueryError> {
    if value.len() > LITERAL_BYTES_MAX {
        return Err(QueryError::LiteralTooLong { part: part(expr), bytes: value.len() });
    }
    Ok(Literal::Bytes(value))
}
