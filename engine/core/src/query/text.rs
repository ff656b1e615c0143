//! A predicate as WHERE text, the inverse of [`super::parse_where`].

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{sql, time};
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::schema::{ColumnType, Schema};

pub(super) fn to_text(schema: &Schema, predicate: &Predicate) -> String {
    let mut text = String::new();
    Writer { schema, text: &mut text }.condition(predicate);
    text
}

struct Writer<'w> {
    schema: &'w Schema,
    text: &'w mut String,
}

impl Writer<'_> {
    fn condition(&mut self, predicate: &Predicate) {
        match predicate {
            Predicate::Compare { column, op, literal } => {
                self.name(*column);
                self.text.push_str(operator(*op));
                self.literal(*column, literal);
            }
            Predicate::Between { .. } | Predicate::In { .. } => self.set(predicate, ""),
            Predicate::IsNull { column } => {
                self.name(*column);
                self.text.push_str(" IS NULL");
            }
            Predicate::IsNotNull { column } => {
                self.name(*column);
                self.text.push_str(" IS NOT NULL");
            }
            Predicate::And(parts) => self.joined(parts, " AND ", "TRUE"),
            Predicate::Or(parts) => self.joined(parts, " OR ", "FALSE"),
            Predicate::Not(part) => match &**part {
                Predicate::Between { .. } => self.set(part, "NOT "),
                Predicate::In { list, .. } if !list.is_empty() => self.set(part, "NOT "),
                _ => {
                    self.text.push_str("NOT ");
                    self.operand(part);
                }
            },
            Predicate::Unknown => self.text.push_str("unknown()"),
        }
    }

    /// BETWEEN and IN, with `negation` before the word.
    fn set(&mut self, predicate: &Predicate, negation: &str) {
        match predicate {
            Predicate::Between { column, low, high } => {
                self.name(*column);
                let _ = write!(self.text, " {negation}BETWEEN ");
                self.literal(*column, low);
                self.text.push_str(" AND ");
                self.literal(*column, high);
            }
            // SQL has no empty list; what it means is false.
            Predicate::In { list, .. } if list.is_empty() => self.text.push_str("FALSE"),
            Predicate::In { column, list } => {
                self.name(*column);
                let _ = write!(self.text, " {negation}IN (");
                for (index, literal) in list.iter().enumerate() {
                    self.text.push_str(if index == 0 { "" } else { ", " });
                    self.literal(*column, literal);
                }
                self.text.push(')');
            }
            other => self.condition(other),
        }
    }

    fn joined(&mut self, parts: &[Predicate], connective: &str, empty: &str) {
        if parts.is_empty() {
            self.text.push_str(empty);
        }
        for (index, part) in parts.iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { connective });
            self.operand(part);
        }
    }

    /// In parentheses where that keeps the tree's shape.
    fn operand(&mut self, predicate: &Predicate) {
        match predicate {
            Predicate::And(parts) | Predicate::Or(parts) if !parts.is_empty() => {
                self.text.push('(');
                self.condition(predicate);
                self.text.push(')');
            }
            _ => self.condition(predicate),
        }
    }

    fn name(&mut self, column: u16) {
        match self.schema.columns().get(usize::from(column)) {
            Some(column) if sql::is_plain_name(column.name()) => self.text.push_str(column.name()),
            Some(column) => {
                let _ = write!(self.text, "\"{}\"", column.name());
            }
            None => {
                let _ = write!(self.text, "column({column})");
            }
        }
    }

    fn literal(&mut self, column: u16, literal: &Literal) {
        let kind = self.schema.columns().get(usize::from(column)).map(|c| c.kind());
        let text = &mut *self.text;
        let _ = match literal {
            Literal::Unsigned(v) => write!(text, "{v}"),
            Literal::Signed(v) => write!(text, "{v}"),
            Literal::Float(v) if v.is_nan() => write!(text, "'nan'"),
            Literal::Float(v) if v.is_infinite() => write!(text, "'{v}'"),
            Literal::Float(v) => write!(text, "{v:?}"),
            Literal::Bool(true) => write!(text, "TRUE"),
            Literal::Bool(false) => write!(text, "FALSE"),
            Literal::Timestamp(ticks, unit) => match time::format(*ticks, *unit) {
                Some(iso) if kind != Some(ColumnType::Timestamp(*unit)) => {
                    write!(text, "'{iso}'")
                }
                _ => write!(text, "{ticks}"),
            },
            Literal::Ipv4(b) => write!(text, "'{}'", Ipv4Addr::from(*b)),
            Literal::Ipv6(b) => write!(text, "'{}'", Ipv6Addr::from(*b)),
            Literal::Mac([a, b, c, d, e, f]) => {
                write!(text, "'{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}'")
            }
            Literal::Uuid(b) => write_uuid(text, b),
            Literal::Bytes(b) => write_bytes(text, b),
        };
    }
}

fn write_uuid(text: &mut String, bytes: &[u8; 16]) -> std::fmt::Result {
    text.push('\'');
    for (index, byte) in bytes.iter().enumerate() {
        text.push_str(if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" });
        write!(text, "{byte:02x}")?;
    }
    text.push('\'');
    Ok(())
}

/// As text where it is printable, else in hexadecimal.
fn write_bytes(text: &mut String, bytes: &[u8]) -> std::fmt::Result {
    match std::str::from_utf8(bytes) {
        Ok(printable) if !printable.chars().any(char::is_control) => {
            write!(text, "'{}'", printable.replace('\'', "''"))
        }
        _ => {
            text.push_str("X'");
            for byte in bytes {
                write!(text, "{byte:02x}")?;
            }
            text.push('\'');
            Ok(())
        }
    }
}

fn operator(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => " = ",
        CompareOp::Ne => " != ",
        CompareOp::Lt => " < ",
        CompareOp::Le => " <= ",
        CompareOp::Gt => " > ",
        CompareOp::Ge => " >= ",
    }
}
