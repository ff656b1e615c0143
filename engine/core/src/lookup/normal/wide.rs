//! Leaves over columns whose keys are byte strings: ipv6, uuid, bytes(N). Equality asks the
//! filter; order asks only the zone map, whose keys are the first 16 bytes.
//!
//! Hot path: once per lookup and literal.

use super::Test;
use super::narrow::negate;
use crate::filter::wide_zone_key;
use crate::predicate::{CompareOp, Literal};
use crate::schema::ColumnType;

/// `column op literal`, or its negation.
pub(super) fn compare(kind: ColumnType, op: CompareOp, literal: &Literal, negated: bool) -> Test {
    let Some(at) = Position::of(kind, literal) else { return Test::UNSOUND };
    if at.longer && (negated || op == CompareOp::Ne) {
        return Test::UNSOUND;
    }
    match if negated { negate(op) } else { op } {
        CompareOp::Eq => values(vec![at]),
        CompareOp::Ne => not_values(kind, &[at]),
        CompareOp::Lt => order([Some(0).zip(at.below())]),
        CompareOp::Le => order([Some(0).zip(at.up_to())]),
        CompareOp::Gt => order([at.above().zip(Some(u128::MAX))]),
        CompareOp::Ge => order([at.from().zip(Some(u128::MAX))]),
    }
}

/// `column BETWEEN low AND high`, or its negation.
pub(super) fn between(kind: ColumnType, low: &Literal, high: &Literal, negated: bool) -> Test {
    let (Some(low), Some(high)) = (Position::of(kind, low), Position::of(kind, high)) else {
        return Test::UNSOUND;
    };
    let empty = low.text > high.text;
    if negated {
        if empty || low.longer || high.longer {
            return Test::UNSOUND;
        }
        return order([Some(0).zip(low.below()), high.above().zip(Some(u128::MAX))]);
    }
    match (empty, low.text == high.text) {
        (true, _) => Test::Nothing,
        (false, true) => values(vec![low]),
        (false, false) => order([low.from().zip(high.up_to())]),
    }
}

/// `column IN (list)`, or its negation.
pub(super) fn in_list(kind: ColumnType, list: &[Literal], negated: bool) -> Test {
    let Some(at) = list.iter().map(|l| Position::of(kind, l)).collect::<Option<Vec<_>>>() else {
        return Test::UNSOUND;
    };
    match negated {
        false => values(at),
        true if at.is_empty() || at.iter().any(|at| at.longer) => Test::UNSOUND,
        true => not_values(kind, &at),
    }
}

/// Where a literal lies among the values of a column.
struct Position<'l> {
    /// The literal without its padding.
    text: &'l [u8],
    /// As wide as the column; where the literal is longer, its first bytes.
    value: Box<[u8]>,
    /// The column cannot hold it: it lies between `value` and the next one.
    longer: bool,
    /// Equal zone keys mean equal values.
    exact: bool,
}

impl<'l> Position<'l> {
    /// `None`: the literal cannot be compared with the column soundly.
    fn of(kind: ColumnType, literal: &'l Literal) -> Option<Self> {
        let text = match (kind, literal) {
            (ColumnType::Ipv6, Literal::Ipv6(value)) => &value[..],
            (ColumnType::Uuid, Literal::Uuid(value)) => &value[..],
            (ColumnType::Bytes(_), Literal::Bytes(value)) => &value[..],
            _ => return None,
        };
        let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let text = &text[..end];
        let width = kind.width();
        let held = end.min(width);
        let mut value = vec![0; width].into_boxed_slice();
        value[..held].copy_from_slice(&text[..held]);
        Some(Position { text, value, longer: end > width, exact: width <= EXACT_BYTES })
    }

    fn zone(&self) -> u128 {
        wide_zone_key(&self.value)
    }

    /// Greatest zone key of the values below it.
    fn below(&self) -> Option<u128> {
        match self.exact && !self.longer {
            true => self.zone().checked_sub(1),
            false => Some(self.zone()),
        }
    }

    /// Greatest zone key of the values not above it.
    fn up_to(&self) -> Option<u128> {
        Some(self.zone())
    }

    /// Least zone key of the values above it.
    fn above(&self) -> Option<u128> {
        match self.exact {
            true => self.zone().checked_add(1),
            false => Some(self.zone()),
        }
    }

    /// Least zone key of the values not below it.
    fn from(&self) -> Option<u128> {
        match self.longer {
            true => self.above(),
            false => Some(self.zone()),
        }
    }
}

fn values(at: Vec<Position<'_>>) -> Test {
    let mut values: Vec<_> = at.into_iter().filter(|p| !p.longer).map(|p| p.value).collect();
    values.sort_unstable();
    values.dedup();
    if values.is_empty() { Test::Nothing } else { Test::Values(values) }
}

fn not_values(kind: ColumnType, at: &[Position<'_>]) -> Test {
    // Behind longer values the zone map cannot tell one value from another.
    let exact = kind.width() <= EXACT_BYTES;
    let mut keys: Vec<_> = at.iter().filter(|_| exact).map(Position::zone).collect();
    keys.sort_unstable();
    keys.dedup();
    Test::NotValues(keys)
}

fn order<const N: usize>(ranges: [Option<(u128, u128)>; N]) -> Test {
    let ranges: Vec<_> = ranges.into_iter().flatten().filter(|(lo, hi)| lo <= hi).collect();
    if ranges.is_empty() { Test::Nothing } else { Test::Order(ranges) }
}

/// Widest values that the zone map tells apart.
const EXACT_BYTES: usize = 16;
