//! Leaves over columns whose keys are unsigned integers: numbers, times, ipv4, MAC, bool.
//!
//! Hot path: once per lookup and literal.

use super::Test;
use crate::predicate::{CompareOp, FloatOrder, Literal};
use crate::schema::{ColumnType, Fit};

/// `column op literal`, or its negation.
pub(super) fn compare(
    kind: ColumnType,
    op: CompareOp,
    literal: &Literal,
    negated: bool,
    order: FloatOrder,
) -> Test {
    let Some(at) = Position::of(kind, literal) else { return Test::UNSOUND };
    if at.exact.is_none() && (negated || op == CompareOp::Ne) {
        return Test::UNSOUND;
    }
    let nan = kind.is_float() && nan_may_match(op, negated, order);
    let op = if negated { negate(op) } else { op };
    let (min, max) = at.bounds;
    match op {
        CompareOp::Eq => Test::range(at.equal, nan),
        CompareOp::Ne => Test::NotKeys(at.exact.into_iter().collect()),
        CompareOp::Lt => Test::range(at.lt.map(|upper| (min, upper)), nan),
        CompareOp::Le => Test::range(at.le.map(|upper| (min, upper)), nan),
        CompareOp::Gt => Test::range(at.gt.map(|lower| (lower, max)), nan),
        CompareOp::Ge => Test::range(at.ge.map(|lower| (lower, max)), nan),
    }
}

/// `column BETWEEN low AND high`, or its negation.
pub(super) fn between(kind: ColumnType, low: &Literal, high: &Literal, negated: bool) -> Test {
    let (Some(low), Some(high)) = (Position::of(kind, low), Position::of(kind, high)) else {
        return Test::UNSOUND;
    };
    if !negated {
        // NaN is in no such range: IEEE says false to both ends, total order to the upper one.
        return Test::range(low.ge.zip(high.le), false);
    }
    match (low.exact, high.exact) {
        (Some(lo), Some(hi)) if lo <= hi => {
            let (min, max) = low.bounds;
            let below = low.lt.map(|upper| (min, upper));
            let above = high.gt.map(|lower| (lower, max));
            Test::keys(below.into_iter().chain(above).collect(), kind.is_float())
        }
        _ => Test::UNSOUND,
    }
}

/// `column IN (list)`, or its negation.
pub(super) fn in_list(kind: ColumnType, list: &[Literal], negated: bool) -> Test {
    let Some(at) = list.iter().map(|l| Position::of(kind, l)).collect::<Option<Vec<_>>>() else {
        return Test::UNSOUND;
    };
    if !negated {
        return Test::keys(at.iter().filter_map(|at| at.equal).collect(), false);
    }
    match at.iter().map(|at| at.exact).collect::<Option<Vec<u64>>>() {
        Some(mut keys) if !keys.is_empty() => {
            keys.sort_unstable();
            keys.dedup();
            Test::NotKeys(keys)
        }
        _ => Test::UNSOUND,
    }
}

/// Where a literal lies among the keys of a column: the keys next to it on either side.
struct Position {
    /// Keys of the least and greatest value of the type.
    bounds: (u64, u64),
    /// The literal's own key, where the column can hold it.
    exact: Option<u64>,
    /// Keys that may equal it.
    equal: Option<(u64, u64)>,
    /// Greatest key below it.
    lt: Option<u64>,
    /// Greatest key not above it.
    le: Option<u64>,
    /// Least key above it.
    gt: Option<u64>,
    /// Least key not below it.
    ge: Option<u64>,
}

impl Position {
    /// `None`: the literal cannot be compared with the column soundly.
    fn of(kind: ColumnType, literal: &Literal) -> Option<Self> {
        let bounds = kind.key_bounds()?;
        Some(match fit(kind, literal)? {
            Fit::Exact(key) => Position {
                bounds,
                exact: Some(key),
                equal: Some((key, key)),
                lt: key.checked_sub(1).filter(|&k| k >= bounds.0),
                le: Some(key),
                gt: key.checked_add(1).filter(|&k| k <= bounds.1),
                ge: Some(key),
            },
            // Engines differ on whether such a literal is first rounded to the column's type or
            // compared as it is. Both neighbours together hold what either reading matches.
            Fit::Gap { below, above } if kind.is_float() => {
                let (lower, upper) = (below.or(above), above.or(below));
                Position {
                    bounds,
                    exact: None,
                    equal: lower.zip(upper),
                    lt: upper,
                    le: upper,
                    gt: lower,
                    ge: lower,
                }
            }
            Fit::Gap { below, above } => Position {
                bounds,
                exact: None,
                equal: None,
                lt: below,
                le: below,
                gt: above,
                ge: above,
            },
        })
    }
}

fn fit(kind: ColumnType, literal: &Literal) -> Option<Fit> {
    use ColumnType as T;
    match (kind, literal) {
        (T::Bool, Literal::Bool(value)) => Some(Fit::Exact(u64::from(*value))),
        (T::Ipv4, Literal::Ipv4(value)) => Some(Fit::Exact(u32::from_be_bytes(*value).into())),
        (T::Mac, Literal::Mac([a, b, c, d, e, f])) => {
            Some(Fit::Exact(u64::from_be_bytes([0, 0, *a, *b, *c, *d, *e, *f])))
        }
        (T::Timestamp(_), Literal::Timestamp(ticks, unit)) => kind.fit_time(*ticks, *unit),
        (T::Bool | T::Ipv4 | T::Mac | T::Timestamp(_), _) => None,
        (_, Literal::Unsigned(value)) => kind.fit_integer(i128::from(*value)),
        (_, Literal::Signed(value)) => kind.fit_integer(i128::from(*value)),
        // An engine that turns the column's integers into binary64 rounds those from 2^53 on.
        (T::U64 | T::I64, Literal::Float(value))
            if (EXACT_INTEGERS..=ROUNDED_INTEGERS).contains(&value.abs()) =>
        {
            None
        }
        (_, Literal::Float(value)) => kind.fit_float(*value),
        _ => None,
    }
}

/// 2^53: binary64 holds every integer below it.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;
/// 2^64: what the greatest 64-bit integer rounds to.
const ROUNDED_INTEGERS: f64 = 18_446_744_073_709_551_616.0;

/// Whether NaN makes the leaf true under a reading that is left open. The literal is not NaN.
fn nan_may_match(op: CompareOp, negated: bool, order: FloatOrder) -> bool {
    let ieee = (op == CompareOp::Ne) != negated;
    let total = matches!(op, CompareOp::Ne | CompareOp::Gt | CompareOp::Ge) != negated;
    // Some engines sort a NaN whose sign bit is set below all numbers.
    let below = matches!(op, CompareOp::Ne | CompareOp::Lt | CompareOp::Le) != negated;
    match order {
        FloatOrder::Ieee => ieee,
        FloatOrder::Total => total,
        FloatOrder::Unstated => ieee || total || below,
    }
}

/// The operator that is true exactly where `op` is false, on values that are not NaN.
pub(super) fn negate(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}
