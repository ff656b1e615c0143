//! Exact comparison of two values.
//!
//! - Null with anything, and kinds that do not mix: no answer (unknown).
//! - Integers, floats and truth values mix only as integer with float, compared as the numbers
//!   they are and never rounded.
//! - Times compare as instants, in nanoseconds, whatever their units.
//! - Text compares byte by byte as if both were padded right with zero bytes for ever.
//! - Octets compare only within one kind and one length.

use super::value::Unit;
use super::{FloatRule, Value};

/// How two values stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Left below right.
    Less,
    /// Equal.
    Equal,
    /// Left above right.
    Greater,
    /// NaN under IEEE 754.
    Unordered,
}

/// `None`: null is involved, or the kinds do not mix.
pub(crate) fn compare(left: &Value, right: &Value, rule: FloatRule) -> Option<Order> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(order(a, b)),
        (Value::Bool(a), Value::Bool(b)) => Some(order(a, b)),
        (Value::Float(a), Value::Float(b)) => Some(float_order(*a, *b, rule)),
        (Value::Int(a), Value::Float(b)) => Some(int_float_order(*a, *b, rule)),
        (Value::Float(a), Value::Int(b)) => Some(reverse(int_float_order(*b, *a, rule))),
        (Value::Time(a, au), Value::Time(b, bu)) => {
            Some(order(&nanoseconds(*a, *au), &nanoseconds(*b, *bu)))
        }
        (Value::Octets(ak, a), Value::Octets(bk, b)) if ak == bk && a.len() == b.len() => {
            Some(order(a, b))
        }
        (Value::Text(a), Value::Text(b)) => Some(order(&unpadded(a), &unpadded(b))),
        _ => None,
    }
}

fn order<T: Ord + ?Sized>(left: &T, right: &T) -> Order {
    if left < right {
        Order::Less
    } else if left == right {
        Order::Equal
    } else {
        Order::Greater
    }
}

fn reverse(order: Order) -> Order {
    match order {
        Order::Less => Order::Greater,
        Order::Greater => Order::Less,
        same => same,
    }
}

fn float_order(left: f64, right: f64, rule: FloatRule) -> Order {
    match (left.is_nan(), right.is_nan(), rule) {
        (false, false, _) if left < right => Order::Less,
        // The language's own comparison has -0.0 equal to +0.0.
        (false, false, _) if left == right => Order::Equal,
        (false, false, _) => Order::Greater,
        (_, _, FloatRule::Ieee) => Order::Unordered,
        (true, true, FloatRule::Total) => Order::Equal,
        (true, false, FloatRule::Total) => Order::Greater,
        (false, true, FloatRule::Total) => Order::Less,
        (true, true, FloatRule::Below) => Order::Equal,
        (true, false, FloatRule::Below) => Order::Less,
        (false, true, FloatRule::Below) => Order::Greater,
    }
}

fn int_float_order(left: i128, right: f64, rule: FloatRule) -> Order {
    if right.is_nan() {
        return match rule {
            FloatRule::Ieee => Order::Unordered,
            FloatRule::Total => Order::Less,
            FloatRule::Below => Order::Greater,
        };
    }
    // 2^127 and its negation are floats; outside them no integer of ours lies.
    let limit = 2f64.powi(127);
    if right >= limit {
        return Order::Less;
    }
    if right < -limit {
        return Order::Greater;
    }
    let whole = right.trunc();
    // Exact: a whole float within i128.
    match order(&left, &(whole as i128)) {
        Order::Equal if right > whole => Order::Less,
        Order::Equal if right < whole => Order::Greater,
        known => known,
    }
}

fn nanoseconds(ticks: i64, unit: Unit) -> i128 {
    i128::from(ticks)
        * match unit {
            Unit::S => 1_000_000_000,
            Unit::Ms => 1_000_000,
            Unit::Us => 1_000,
            Unit::Ns => 1,
        }
}

fn unpadded(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    &text[..end]
}
