//! What a predicate means: every sentence of the design's section, one batch at a time.

mod lookup_world;
mod truth;

use bloomrf_engine::lookup::{NoOpinion, Outcome};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::TimeUnit;
use lookup_world::{Cell, World, schema};

use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};

fn compare(op: CompareOp, literal: Literal) -> Predicate {
    Predicate::Compare { column: 0, op, literal }
}

fn between(low: Literal, high: Literal) -> Predicate {
    Predicate::Between { column: 0, low, high }
}

fn is_in(list: Vec<Literal>) -> Predicate {
    Predicate::In { column: 0, list }
}

fn not(predicate: Predicate) -> Predicate {
    Predicate::Not(Box::new(predicate))
}

fn unsigned(value: u64) -> Literal {
    Literal::Unsigned(value)
}

fn signed(value: i64) -> Literal {
    Literal::Signed(value)
}

fn float(value: f64) -> Literal {
    Literal::Float(value)
}

fn text(value: &str) -> Literal {
    Literal::Bytes(value.as_bytes().to_vec())
}

/// One batch of one nullable column.
fn one(kind: &str, cells: &[Cell]) -> World {
    let mut world = World::new(schema(&[(kind, None, true)]));
    let rows: Vec<Vec<Cell>> = cells.iter().map(|cell| vec![cell.clone()]).collect();
    world.add(&rows);
    world
}

fn u8s(values: &[u8]) -> World {
    one("u8", &values.iter().map(|v| Some(vec![*v])).collect::<Vec<_>>())
}

fn i32s(values: &[i32]) -> World {
    one("i32", &values.iter().map(|v| Some(v.to_le_bytes().to_vec())).collect::<Vec<_>>())
}

fn f64s(values: &[f64]) -> World {
    one("f64", &values.iter().map(|v| Some(v.to_le_bytes().to_vec())).collect::<Vec<_>>())
}

fn f32s(values: &[f32]) -> World {
    one("f32", &values.iter().map(|v| Some(v.to_le_bytes().to_vec())).collect::<Vec<_>>())
}

fn times_s(values: &[i64]) -> World {
    one("timestamp(s)", &values.iter().map(|v| Some(v.to_le_bytes().to_vec())).collect::<Vec<_>>())
}

fn texts(width: usize, values: &[&str]) -> World {
    let cell = |v: &&str| {
        let mut bytes = v.as_bytes().to_vec();
        bytes.resize(width, 0);
        Some(bytes)
    };
    one(&format!("bytes({width})"), &values.iter().map(cell).collect::<Vec<_>>())
}

#[track_caller]
fn excluded(world: &mut World, predicate: Predicate) {
    if truth::expr(&predicate).is_some() {
        world.check(&predicate, FloatOrder::Unstated);
    }
    assert_eq!(world.excludes(&predicate), [true], "should be excluded: {predicate:?}");
}

#[track_caller]
fn kept(world: &mut World, predicate: Predicate) {
    assert_eq!(world.excludes(&predicate), [false], "should be kept: {predicate:?}");
}

/// Kept for want of an opinion, for this reason.
#[track_caller]
fn no_opinion(world: &mut World, predicate: Predicate, why: NoOpinion) {
    kept(world, predicate.clone());
    let outcome = world.explain(&predicate, FloatOrder::Unstated).remove(0).outcome;
    assert_eq!(outcome, Outcome::NoOpinion(why), "{predicate:?}");
}

#[test]
fn a_comparison_with_null_is_unknown_and_no_match() {
    let mut world = one("u8", &[None, None]);
    for op in [Eq, Ne, Lt, Le, Gt, Ge] {
        excluded(&mut world, compare(op, unsigned(5)));
        excluded(&mut world, not(compare(op, unsigned(5))));
    }
    excluded(&mut world, not(between(unsigned(1), unsigned(2))));
    excluded(&mut world, not(is_in(vec![unsigned(1)])));
    kept(&mut world, Predicate::IsNull { column: 0 });
    excluded(&mut world, Predicate::IsNotNull { column: 0 });
    excluded(&mut world, not(Predicate::IsNull { column: 0 }));
}

#[test]
fn not_is_pushed_to_the_leaves_by_de_morgan() {
    let mut world = u8s(&[10, 20]);
    let low = compare(Lt, unsigned(15));
    let high = compare(Gt, unsigned(15));
    kept(&mut world, not(Predicate::And(vec![low.clone(), high.clone()])));
    let any = compare(Le, unsigned(20));
    excluded(&mut world, not(Predicate::Or(vec![any.clone(), high.clone()])));
    excluded(&mut world, not(any.clone()));
    kept(&mut world, not(not(any)));
}

#[test]
fn and_excludes_if_one_branch_does_or_only_if_every_one_does() {
    let mut world = u8s(&[10, 20, 30]);
    let (hit, miss) = (compare(Eq, unsigned(20)), compare(Eq, unsigned(21)));
    excluded(&mut world, Predicate::And(vec![hit.clone(), miss.clone()]));
    excluded(&mut world, Predicate::And(vec![miss.clone(), Predicate::Unknown]));
    kept(&mut world, Predicate::Or(vec![hit, miss.clone()]));
    kept(&mut world, Predicate::Or(vec![miss.clone(), Predicate::Unknown]));
    excluded(&mut world, Predicate::Or(vec![miss.clone(), miss]));
}

#[test]
fn an_empty_and_is_true_and_an_empty_or_is_false() {
    let mut world = u8s(&[1]);
    kept(&mut world, Predicate::And(vec![]));
    excluded(&mut world, Predicate::Or(vec![]));
    excluded(&mut world, not(Predicate::And(vec![])));
    kept(&mut world, not(Predicate::Or(vec![])));
}

#[test]
fn inequality_is_disproved_only_by_a_zone_map_of_one_value() {
    let mut same = u8s(&[7, 7, 7]);
    let mut other = u8s(&[7, 8]);
    for predicate in [
        compare(Ne, unsigned(7)),
        not(compare(Eq, unsigned(7))),
        not(is_in(vec![unsigned(3), unsigned(7)])),
    ] {
        excluded(&mut same, predicate.clone());
        kept(&mut other, predicate.clone());
        let mut with_null = one("u8", &[Some(vec![7]), None]);
        kept(&mut with_null, predicate);
    }
    kept(&mut u8s(&[7, 9]), not(is_in(vec![unsigned(7), unsigned(9)])));
    kept(&mut same, compare(Ne, unsigned(8)));
    let mut nan = f64s(&[1.0, f64::NAN]);
    kept(&mut nan, compare(Ne, float(1.0)));
    excluded(&mut f64s(&[1.0, 1.0]), compare(Ne, float(1.0)));
    excluded(&mut texts(4, &["ab", "ab"]), compare(Ne, text("ab")));
    // Of more than 16 bytes the zone map sees only the first 16.
    kept(&mut texts(20, &["ab", "ab"]), compare(Ne, text("ab")));
}

#[test]
fn a_batch_with_nan_is_kept_for_whatever_could_be_true_of_nan_under_any_open_reading() {
    let mut world = f64s(&[1.0, f64::NAN]);
    // (predicate, true of NaN under IEEE, under total order)
    let cases = [
        (compare(Gt, float(5.0)), false, true),
        (compare(Ge, float(5.0)), false, true),
        (compare(Lt, float(0.0)), false, false),
        (compare(Le, float(0.0)), false, false),
        (compare(Eq, float(5.0)), false, false),
        (compare(Ne, float(1.0)), true, true),
        (not(compare(Lt, float(5.0))), true, true),
        (not(compare(Le, float(5.0))), true, true),
        (not(compare(Gt, float(0.0))), true, false),
        (not(compare(Ge, float(0.0))), true, false),
        (not(compare(Ne, float(5.0))), false, false),
        (not(between(float(0.0), float(5.0))), true, true),
        (between(float(2.0), float(5.0)), false, false),
    ];
    for (predicate, ieee, total) in cases {
        for (order, may) in [
            (FloatOrder::Ieee, ieee),
            (FloatOrder::Total, total),
            (FloatOrder::Unstated, ieee || total || below(&predicate)),
        ] {
            let reply = world.check(&predicate, order);
            assert_eq!(reply.is_excluded(0), !may, "{predicate:?} {order:?}");
        }
    }
}

/// Whether it is true of a NaN that sorts below all numbers, as one with the sign bit set does in
/// some engines.
fn below(predicate: &Predicate) -> bool {
    matches!(predicate, Predicate::Compare { op: Ne | Lt | Le, .. })
}

#[test]
fn a_negated_float_comparison_is_not_rewritten_to_its_opposite() {
    // 0 > 101.5 is false of 1.0, and so is 0 >= 101.5: only NaN makes the negation true.
    let mut world = f64s(&[1.0, f64::NAN]);
    kept(&mut world, not(compare(Lt, float(101.5))));
    excluded(&mut f64s(&[1.0]), not(compare(Lt, float(101.5))));
    kept(&mut f64s(&[200.0]), not(compare(Lt, float(101.5))));
}

#[test]
fn minus_zero_equals_plus_zero_on_both_sides() {
    for stored in [0.0, -0.0] {
        for asked in [0.0, -0.0] {
            let mut world = f64s(&[-5.0, stored, 5.0]);
            kept(&mut world, compare(Eq, float(asked)));
            let mut world = f64s(&[stored]);
            for op in [Eq, Le, Ge] {
                kept(&mut world, compare(op, float(asked)));
            }
            for op in [Ne, Lt, Gt] {
                excluded(&mut world, compare(op, float(asked)));
            }
            kept(&mut f32s(&[-5.0, stored as f32, 5.0]), compare(Eq, float(asked)));
        }
    }
}

#[test]
fn nan_payloads_are_one_value() {
    for bits in [0x7ff8_0000_0000_0000, 0xfff8_0000_0000_0000, 0x7ff0_0000_0000_0001, u64::MAX] {
        let mut world = f64s(&[1.0, f64::from_bits(bits)]);
        kept(&mut world, compare(Gt, float(5.0)));
        kept(&mut world, compare(Lt, float(1.0)));
        excluded(&mut world, compare(Eq, float(5.0)));
        let total = world.check(&compare(Lt, float(1.0)), FloatOrder::Total);
        assert!(total.is_excluded(0), "{bits:#x}: the asker said that NaN is above");
        kept(&mut f64s(&[f64::from_bits(bits)]), Predicate::IsNotNull { column: 0 });
    }
}

#[test]
fn a_nan_literal_is_no_opinion() {
    let mut world = f64s(&[1.0]);
    for op in [Eq, Ne, Lt, Le, Gt, Ge] {
        no_opinion(&mut world, compare(op, float(f64::NAN)), NoOpinion::Operator);
    }
    no_opinion(&mut world, between(float(f64::NAN), float(5.0)), NoOpinion::Operator);
    no_opinion(&mut world, is_in(vec![float(9.0), float(f64::NAN)]), NoOpinion::Operator);
}

#[test]
fn literals_of_another_type_are_normalised_exactly() {
    let mut world = u8s(&[10, 20]);
    kept(&mut world, compare(Eq, signed(20)));
    kept(&mut world, compare(Eq, float(20.0)));
    excluded(&mut world, compare(Eq, signed(15)));
    excluded(&mut world, compare(Lt, float(9.5)));
    kept(&mut world, compare(Lt, float(10.5)));
    kept(&mut world, compare(Gt, float(19.5)));
    excluded(&mut world, compare(Gt, float(20.5)));
    excluded(&mut world, compare(Eq, float(10.5)));
    let mut world = i32s(&[-3, 4]);
    kept(&mut world, compare(Lt, float(-2.5)));
    excluded(&mut world, compare(Lt, float(-3.5)));
    kept(&mut world, compare(Eq, float(-3.0)));
    let mut world = f64s(&[3.0]);
    kept(&mut world, compare(Eq, unsigned(3)));
    excluded(&mut world, compare(Gt, signed(3)));
    // A number that binary64 rounds: whoever rounds it first finds a match.
    let mut world = f64s(&[9_007_199_254_740_992.0]);
    kept(&mut world, compare(Eq, unsigned((1 << 53) + 1)));
    kept(&mut f32s(&[0.1]), compare(Eq, float(0.1)));
    excluded(&mut f32s(&[0.2]), compare(Eq, float(0.1)));
}

#[test]
fn literals_that_cannot_be_compared_soundly_are_no_opinion() {
    let mut numbers = u8s(&[1]);
    for literal in
        [Literal::Bool(true), Literal::Timestamp(9, TimeUnit::S), Literal::Ipv4([9; 4]), text("9")]
    {
        no_opinion(&mut numbers, compare(Eq, literal), NoOpinion::Operator);
    }
    let mut address = one("ipv4", &[Some(vec![10, 0, 0, 1])]);
    no_opinion(&mut address, compare(Eq, unsigned(9)), NoOpinion::Operator);
    no_opinion(&mut address, compare(Eq, Literal::Ipv6([0; 16])), NoOpinion::Operator);
    let mut time = times_s(&[100]);
    no_opinion(&mut time, compare(Eq, unsigned(9)), NoOpinion::Operator);
    let mut flag = one("bool", &[Some(vec![1])]);
    no_opinion(&mut flag, compare(Eq, unsigned(0)), NoOpinion::Operator);
    // An engine that compares in binary64 rounds large integers; we do not guess.
    let mut large = one("u64", &[Some(((1u64 << 53) + 1).to_le_bytes().to_vec())]);
    no_opinion(&mut large, compare(Eq, float(9_007_199_254_740_992.0)), NoOpinion::Operator);
}

#[test]
fn equality_with_a_value_the_column_cannot_hold_matches_nothing() {
    let mut world = u8s(&[0, 255]);
    for literal in [unsigned(256), signed(-1), float(2.5), float(1e300), float(f64::INFINITY)] {
        excluded(&mut world, compare(Eq, literal.clone()));
        excluded(&mut world, is_in(vec![literal.clone()]));
        no_opinion(&mut world, compare(Ne, literal.clone()), NoOpinion::Operator);
        no_opinion(&mut world, not(compare(Eq, literal.clone())), NoOpinion::Operator);
        no_opinion(&mut world, not(is_in(vec![literal])), NoOpinion::Operator);
    }
    kept(&mut world, is_in(vec![unsigned(256), unsigned(255)]));
}

#[test]
fn order_against_a_value_the_column_cannot_hold_is_decided_by_the_types_bounds() {
    let mut world = u8s(&[0, 255]);
    for (literal, is_above) in [
        (unsigned(256), true),
        (signed(-1), false),
        (float(1e300), true),
        (float(f64::NEG_INFINITY), false),
    ] {
        for (op, matches) in [(Lt, is_above), (Le, is_above), (Gt, !is_above), (Ge, !is_above)] {
            let predicate = compare(op, literal.clone());
            if matches {
                kept(&mut world, predicate.clone());
            } else {
                excluded(&mut world, predicate.clone());
            }
            no_opinion(&mut world, not(predicate), NoOpinion::Operator);
        }
    }
    let mut empty = one("u8", &[None]);
    excluded(&mut empty, compare(Lt, unsigned(256)));
}

#[test]
fn times_of_other_units_are_exact_or_rounded_to_a_correct_bound() {
    let ms = |ticks| Literal::Timestamp(ticks, TimeUnit::Ms);
    let mut world = times_s(&[10, 20]);
    kept(&mut world, compare(Eq, ms(20_000)));
    excluded(&mut world, compare(Eq, ms(20_001)));
    excluded(&mut world, compare(Ge, ms(20_001)));
    kept(&mut world, compare(Le, ms(10_001)));
    excluded(&mut world, compare(Lt, ms(10_000)));
    kept(&mut world, compare(Lt, ms(10_001)));
    excluded(&mut world, between(ms(10_001), ms(10_999)));
    let mut before_1970 = times_s(&[-10]);
    kept(&mut before_1970, compare(Lt, ms(-9_001)));
    excluded(&mut before_1970, compare(Gt, ms(-9_999)));
    let mut fine = one("timestamp(ns)", &[Some(5_000_000_000i64.to_le_bytes().to_vec())]);
    kept(&mut fine, compare(Eq, Literal::Timestamp(5, TimeUnit::S)));
    excluded(&mut fine, compare(Gt, Literal::Timestamp(i64::MAX, TimeUnit::S)));
    kept(&mut fine, compare(Lt, Literal::Timestamp(i64::MAX, TimeUnit::S)));
}

#[test]
fn padding_of_text_does_not_count_and_longer_text_matches_nothing() {
    let mut world = texts(4, &["ab", "zz"]);
    kept(&mut world, compare(Eq, text("ab")));
    kept(&mut world, compare(Eq, text("ab\0\0\0\0\0")));
    excluded(&mut world, compare(Eq, text("ab\0\0\0\0x")));
    excluded(&mut world, compare(Eq, text("abc")));
    no_opinion(&mut world, compare(Ne, text("abcde")), NoOpinion::Operator);
    // "ab" < "ab\0\0x" < "ab\0c" < "zz" in the zero-padded order.
    excluded(&mut world, compare(Lt, text("ab")));
    kept(&mut world, compare(Lt, text("ab\0\0x")));
    kept(&mut world, compare(Le, text("ab")));
    excluded(&mut world, compare(Gt, text("zz")));
    excluded(&mut world, compare(Ge, text("zz\0\0x")));
    kept(&mut world, compare(Ge, text("zz")));
    excluded(&mut texts(4, &[""]), compare(Gt, text("")));
    kept(&mut texts(4, &[""]), compare(Eq, text("")));
    let mut long = texts(20, &["aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb"]);
    kept(&mut long, compare(Eq, text("aaaaaaaaaaaaaaaaaaaa")));
    excluded(&mut long, compare(Eq, text("aaaaaaaaaaaaaaaaaaab")));
    excluded(&mut long, compare(Lt, text("aaaaaaaaaaaaaaa")));
    kept(&mut long, compare(Lt, text("aaaaaaaaaaaaaaaaaaaa")));
}

#[test]
fn order_of_wide_values_is_the_zone_maps_alone() {
    let mut world = texts(4, &["aa", "zz"]);
    no_opinion(&mut world, between(text("ba"), text("bz")), NoOpinion::NotFiltered);
    excluded(&mut world, between(text("ab\0\0x"), text("ab\0\0y")));
}

#[test]
fn a_range_that_ends_before_it_starts_is_empty_and_under_not_no_opinion() {
    let mut world = u8s(&[5]);
    excluded(&mut world, between(unsigned(9), unsigned(1)));
    no_opinion(&mut world, not(between(unsigned(9), unsigned(1))), NoOpinion::Operator);
    excluded(&mut world, is_in(vec![]));
    no_opinion(&mut world, not(is_in(vec![])), NoOpinion::Operator);
    let mut wide = texts(4, &["mm"]);
    excluded(&mut wide, between(text("z"), text("a")));
    no_opinion(&mut wide, not(between(text("z"), text("a"))), NoOpinion::Operator);
}

#[test]
fn exclusive_bounds_at_the_ends_of_the_domain_do_not_wrap() {
    let mut world = u8s(&[0, 128, 255]);
    excluded(&mut world, compare(Lt, unsigned(0)));
    excluded(&mut world, compare(Gt, unsigned(255)));
    kept(&mut world, compare(Le, unsigned(0)));
    kept(&mut world, compare(Ge, unsigned(255)));
    let mut world = i32s(&[i32::MIN, i32::MAX]);
    excluded(&mut world, compare(Lt, signed(i32::MIN.into())));
    excluded(&mut world, compare(Gt, signed(i32::MAX.into())));
    kept(&mut world, compare(Le, signed(i32::MIN.into())));
    let mut world = f64s(&[f64::NEG_INFINITY, f64::INFINITY]);
    excluded(&mut world, compare(Lt, float(f64::NEG_INFINITY)));
    excluded(&mut world, compare(Gt, float(f64::INFINITY)));
    kept(&mut world, compare(Ge, float(f64::INFINITY)));
    let mut wide = one("ipv6", &[Some(vec![0; 16]), Some(vec![255; 16])]);
    excluded(&mut wide, compare(Lt, Literal::Ipv6([0; 16])));
    excluded(&mut wide, compare(Gt, Literal::Ipv6([255; 16])));
    kept(&mut wide, compare(Ge, Literal::Ipv6([255; 16])));
}
