//! Three-valued evaluation of a predicate over one row.

use super::Value;
use super::compare::{Order, compare};

/// Comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A predicate over fields by index.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `field op value`
    Compare(usize, Op, Value),
    /// `field BETWEEN low AND high`; the same as `field >= low AND field <= high`, so bounds the
    /// wrong way round match nothing.
    Between(usize, Value, Value),
    /// `field IN (values)`; the same as `field = v1 OR field = v2 ..`: a null in the list makes
    /// a miss unknown. An empty list is false, for a null field as well.
    In(usize, Vec<Value>),
    /// `field IS NULL`; never unknown.
    IsNull(usize),
    /// All; true when empty.
    And(Vec<Expr>),
    /// Any; false when empty.
    Or(Vec<Expr>),
    /// Not.
    Not(Box<Expr>),
}

/// How NaN compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatRule {
    /// IEEE 754: `!=` with NaN is true, every other comparison false.
    Ieee,
    /// NaN equals NaN and is above every number.
    Total,
    /// NaN equals NaN and is below every number, as one with the sign bit set is in some engines.
    Below,
}

/// True, false, or unknown (`None`). A row matches only when it is true. A field past the row
/// is null.
#[must_use]
pub fn matches_row(expr: &Expr, row: &[Value], rule: FloatRule) -> Option<bool> {
    let field = |index: usize| row.get(index).unwrap_or(&Value::Null);
    match expr {
        Expr::Compare(index, op, value) => holds(field(*index), *op, value, rule),
        Expr::Between(index, low, high) => {
            and(holds(field(*index), Op::Ge, low, rule), holds(field(*index), Op::Le, high, rule))
        }
        Expr::In(index, values) => {
            any(values.iter().map(|value| holds(field(*index), Op::Eq, value, rule)))
        }
        Expr::IsNull(index) => Some(*field(*index) == Value::Null),
        Expr::And(parts) => all(parts.iter().map(|part| matches_row(part, row, rule))),
        Expr::Or(parts) => any(parts.iter().map(|part| matches_row(part, row, rule))),
        Expr::Not(part) => matches_row(part, row, rule).map(|known| !known),
    }
}

/// `left op right`.
fn holds(left: &Value, op: Op, right: &Value, rule: FloatRule) -> Option<bool> {
    Some(match compare(left, right, rule)? {
        // IEEE NaN: only "not equal" holds.
        Order::Unordered => op == Op::Ne,
        Order::Less => matches!(op, Op::Ne | Op::Lt | Op::Le),
        Order::Equal => matches!(op, Op::Eq | Op::Le | Op::Ge),
        Order::Greater => matches!(op, Op::Ne | Op::Gt | Op::Ge),
    })
}

/// False if one is, else unknown if one is. Not a `try_fold`: unknown does not end it.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(true);
    for part in parts {
        known = and(known, part);
    }
    known
}

/// True if one is, else unknown if one is.
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(false);
    for part in parts {
        known = or(known, part);
    }
    known
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
