use super::*;
use crate::{FieldType, Unit};

const T: Option<bool> = Some(true);
const F: Option<bool> = Some(false);
const U: Option<bool> = None;
const OPS: [Op; 6] = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];

/// An expression that is true, false or unknown on the row `[1, null]`.
fn constant(value: Option<bool>) -> Expr {
    match value {
        T => Expr::Compare(0, Op::Eq, Value::Int(1)),
        F => Expr::Compare(0, Op::Eq, Value::Int(2)),
        U => Expr::Compare(1, Op::Eq, Value::Int(1)),
    }
}

fn on_one_and_null(expr: &Expr) -> Option<bool> {
    matches_row(expr, &[Value::Int(1), Value::Null], FloatRule::Ieee)
}

/// Answers of all six operators, in the order of `OPS`.
fn answers(left: &Value, right: &Value, rule: FloatRule) -> [Option<bool>; 6] {
    OPS.map(|op| {
        matches_row(&Expr::Compare(0, op, right.clone()), std::slice::from_ref(left), rule)
    })
}

const LESS: [Option<bool>; 6] = [F, T, T, T, F, F];
const EQUAL: [Option<bool>; 6] = [T, F, F, T, F, T];
const GREATER: [Option<bool>; 6] = [F, T, F, F, T, T];
const NAN: [Option<bool>; 6] = [F, T, F, F, F, F];

#[test]
fn and_or_not_follow_the_three_valued_truth_tables() {
    let table = [
        (T, T, T, T),
        (T, F, F, T),
        (T, U, U, T),
        (F, T, F, T),
        (F, F, F, F),
        (F, U, F, U),
        (U, T, U, T),
        (U, F, F, U),
        (U, U, U, U),
    ];
    for (a, b, both, either) in table {
        let pair = || vec![constant(a), constant(b)];
        assert_eq!(on_one_and_null(&Expr::And(pair())), both, "{a:?} AND {b:?}");
        assert_eq!(on_one_and_null(&Expr::Or(pair())), either, "{a:?} OR {b:?}");
    }
    for (a, not) in [(T, F), (F, T), (U, U)] {
        assert_eq!(on_one_and_null(&Expr::Not(Box::new(constant(a)))), not);
    }
    assert_eq!(on_one_and_null(&Expr::And(vec![])), T);
    assert_eq!(on_one_and_null(&Expr::Or(vec![])), F);
}

#[test]
fn null_is_unknown_in_every_comparison_and_known_to_is_null() {
    assert_eq!(answers(&Value::Null, &Value::Int(1), FloatRule::Total), [U; 6]);
    assert_eq!(answers(&Value::Int(1), &Value::Null, FloatRule::Total), [U; 6]);
    assert_eq!(answers(&Value::Null, &Value::Null, FloatRule::Total), [U; 6]);
    assert_eq!(on_one_and_null(&Expr::IsNull(0)), F);
    assert_eq!(on_one_and_null(&Expr::IsNull(1)), T);
    assert_eq!(on_one_and_null(&Expr::IsNull(9)), T, "a field past the row is null");
}

#[test]
fn in_lists_treat_nulls_as_sql_does() {
    let list = |values: &[Value]| Expr::In(0, values.to_vec());
    let not = |e: Expr| Expr::Not(Box::new(e));
    assert_eq!(on_one_and_null(&list(&[Value::Int(2), Value::Int(1)])), T);
    assert_eq!(on_one_and_null(&list(&[Value::Null, Value::Int(1)])), T);
    assert_eq!(on_one_and_null(&list(&[Value::Null, Value::Int(2)])), U);
    assert_eq!(on_one_and_null(&not(list(&[Value::Null, Value::Int(2)]))), U);
    assert_eq!(on_one_and_null(&not(list(&[Value::Int(2)]))), T);
    assert_eq!(on_one_and_null(&list(&[])), F);
    assert_eq!(on_one_and_null(&Expr::In(1, vec![])), F);
}

#[test]
fn between_is_inclusive_and_matches_nothing_the_wrong_way_round() {
    let between = |low, high| Expr::Between(0, Value::Int(low), Value::Int(high));
    assert_eq!(on_one_and_null(&between(1, 1)), T);
    assert_eq!(on_one_and_null(&between(0, 1)), T);
    assert_eq!(on_one_and_null(&between(2, 3)), F);
    assert_eq!(on_one_and_null(&between(2, 0)), F);
    assert_eq!(on_one_and_null(&Expr::Not(Box::new(between(2, 0)))), T);
    assert_eq!(on_one_and_null(&Expr::Between(0, Value::Null, Value::Int(5))), U);
    assert_eq!(on_one_and_null(&Expr::Between(0, Value::Null, Value::Int(0))), F);
}

#[test]
fn nan_follows_the_stated_rule_and_zeros_are_equal() {
    let (nan, one) = (Value::Float(f64::NAN), Value::Float(1.0));
    let payload = Value::Float(f64::from_bits(0xfff8_0000_0000_1234));
    let infinity = Value::Float(f64::INFINITY);
    for other in [&nan, &payload, &one, &infinity] {
        assert_eq!(answers(&nan, other, FloatRule::Ieee), NAN);
        assert_eq!(answers(other, &nan, FloatRule::Ieee), NAN);
    }
    assert_eq!(answers(&nan, &payload, FloatRule::Total), EQUAL);
    assert_eq!(answers(&payload, &infinity, FloatRule::Total), GREATER);
    assert_eq!(answers(&infinity, &payload, FloatRule::Total), LESS);
    assert_eq!(answers(&Value::Int(7), &nan, FloatRule::Total), LESS);
    assert_eq!(answers(&nan, &Value::Int(7), FloatRule::Total), GREATER);
    assert_eq!(answers(&nan, &Value::Int(7), FloatRule::Ieee), NAN);
    assert_eq!(answers(&nan, &payload, FloatRule::Below), EQUAL);
    assert_eq!(answers(&payload, &Value::Float(f64::NEG_INFINITY), FloatRule::Below), LESS);
    assert_eq!(answers(&Value::Int(7), &nan, FloatRule::Below), GREATER);
    assert_eq!(answers(&nan, &Value::Int(7), FloatRule::Below), LESS);
    for rule in [FloatRule::Ieee, FloatRule::Total, FloatRule::Below] {
        assert_eq!(answers(&Value::Float(-0.0), &Value::Float(0.0), rule), EQUAL);
        assert_eq!(answers(&Value::Float(-0.0), &Value::Int(0), rule), EQUAL);
    }
}

#[test]
fn integers_and_floats_compare_as_numbers_without_rounding() {
    let cases = [
        (i128::from(i64::MAX), 2f64.powi(63), LESS),
        (i128::from(u64::MAX), 2f64.powi(64), LESS),
        (1 << 64, 2f64.powi(64), EQUAL),
        ((1 << 53) + 1, 2f64.powi(53), GREATER),
        (3, 3.5, LESS),
        (4, 3.5, GREATER),
        (-3, -3.5, GREATER),
        (-4, -3.5, LESS),
        (0, -0.5, GREATER),
        (0, f64::MIN_POSITIVE, LESS),
        (i128::MAX, f64::INFINITY, LESS),
        (i128::MAX, 2f64.powi(127), LESS),
        (i128::MIN, -(2f64.powi(127)), EQUAL),
        (i128::MIN, f64::NEG_INFINITY, GREATER),
    ];
    for (int, float, expected) in cases {
        let (int, float) = (Value::Int(int), Value::Float(float));
        assert_eq!(answers(&int, &float, FloatRule::Ieee), expected, "{int:?} ? {float:?}");
        let mirrored = if expected == LESS {
            GREATER
        } else if expected == GREATER {
            LESS
        } else {
            EQUAL
        };
        assert_eq!(answers(&float, &int, FloatRule::Ieee), mirrored, "{float:?} ? {int:?}");
    }
}

#[test]
fn times_compare_as_instants_whatever_their_units() {
    let time = |ticks, unit| Value::Time(ticks, unit);
    let check = |a: Value, b: Value, expected| {
        assert_eq!(answers(&a, &b, FloatRule::Ieee), expected, "{a:?} ? {b:?}");
    };
    check(time(1, Unit::S), time(1_000, Unit::Ms), EQUAL);
    check(time(1, Unit::S), time(1_000_001, Unit::Us), LESS);
    check(time(-1, Unit::S), time(-1_000_000_001, Unit::Ns), GREATER);
    check(time(i64::MAX, Unit::S), time(i64::MAX, Unit::Ns), GREATER);
    check(time(i64::MIN, Unit::S), time(i64::MIN, Unit::Ms), LESS);
}

#[test]
fn text_ignores_padding_and_octets_compare_within_their_kind() {
    let text = |t: &[u8]| Value::Text(t.to_vec());
    let v4 = |b: [u8; 4]| Value::Octets(FieldType::Ipv4, b.to_vec());
    let uuid = Value::Octets(FieldType::Uuid, vec![0; 16]);
    let v6 = Value::Octets(FieldType::Ipv6, vec![0; 16]);
    let check = |a: Value, b: Value, expected| {
        assert_eq!(answers(&a, &b, FloatRule::Ieee), expected, "{a:?} ? {b:?}");
    };
    check(text(b"ab\0\0"), text(b"ab"), EQUAL);
    check(text(b"\0\0"), text(b""), EQUAL);
    check(text(b"ab"), text(b"ab\0c"), LESS);
    check(text(b"b"), text(b"ab"), GREATER);
    check(text(b"\xff"), text(b"a"), GREATER);
    check(v4([10, 0, 0, 9]), v4([10, 0, 1, 0]), LESS);
    check(uuid, v6, [U; 6]);
    check(v4([1; 4]), Value::Int(0x0101_0101), [U; 6]);
    check(Value::Bool(true), Value::Int(1), [U; 6]);
    check(Value::Bool(false), Value::Bool(true), LESS);
    check(Value::Time(1, Unit::S), Value::Int(1), [U; 6]);
}
