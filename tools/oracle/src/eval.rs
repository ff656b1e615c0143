//! Three-valued evaluation of a predicate over one row.

use super::Value;

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
    /// `field BETWEEN low AND high`
    Between(usize, Value, Value),
    /// `field IN (values)`
    In(usize, Vec<Value>),
    /// `field IS NULL`
    IsNull(usize),
    /// All.
    And(Vec<Expr>),
    /// Any.
    Or(Vec<Expr>),
    /// Not.
    Not(Box<Expr>),
}

/// How NaN compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatRule {
    /// IEEE 754.
    Ieee,
    /// NaN equals NaN and is above every number.
    Total,
}

/// True, false, or unknown (`None`). A row matches only when it is true.
#[must_use]
pub fn matches_row(expr: &Expr, row: &[Value], rule: FloatRule) -> Option<bool> {
    let _ = (expr, row, rule);
    todo!("oracle")
}
