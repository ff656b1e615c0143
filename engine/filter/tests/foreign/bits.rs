//! Plain dumps of bits, of which the caller knows all.

use bloomrf_filter::SizeRefusal;
use bloomrf_filter::foreign::bits::{Dump, Layout};
use bloomrf_filter::foreign::{BitOrder, Foreign, Limits, Refusal, Rule, SampleRefusal};

use crate::damage;
use crate::golden::{folder, key};

const ORDERS: [BitOrder; 3] = [BitOrder::LsbFirst, BitOrder::MsbFirst, BitOrder::BigEndianWords];
const RULES: [Rule; 4] = [Rule::GuavaMitz64, Rule::GuavaMitz32, Rule::RedisBloom, Rule::Redisson];

fn layout(bits: u64, order: BitOrder, rule: Rule) -> Layout {
    Layout { bits, k: 7, order, rule }
}

fn built(layout: Layout) -> Dump {
    let mut dump = Dump::build(layout, Limits::default()).unwrap();
    for i in 0..100 {
        dump.insert(&key(i));
    }
    dump
}

#[test]
fn fastbloom_2_raw_bits_come_back_with_their_rule_in_every_order() {
    for bits in [959, 960, 1_000] {
        for (order, rule) in ORDERS.into_iter().flat_map(|o| RULES.map(|rule| (o, rule))) {
            let layout = layout(bits, order, rule);
            let dump = built(layout);
            let read = Dump::parse(&dump.write(), layout, Limits::default()).unwrap();
            assert_eq!(read, dump);
            assert!((0..100).all(|i| read.contains(&key(i))));
            assert!((read.estimate() - 100.0).abs() < 15.0 && read.fpr() < 0.03);
        }
    }
}

#[test]
fn payloads_of_other_systems_are_dumps_of_their_bits() {
    let (Some(guava), Some(redis)) = (folder("guava"), folder("redisbloom")) else { return };
    let members: Vec<Vec<u8>> = (0..1_000).map(key).collect();
    let file = std::fs::read(guava.join("str_utf8_n1000_p0.01_mitz64.bin")).unwrap();
    let rule = layout(9_600, BitOrder::BigEndianWords, Rule::GuavaMitz64);
    let read = Dump::parse(&file[6..], rule, Limits::default()).unwrap();
    read.check_samples(&members).unwrap();
    let chunk = std::fs::read(redis.join("bf_n1000_p01.chunk01")).unwrap();
    let rule = Layout { k: 8, ..layout(11_072, BitOrder::LsbFirst, Rule::RedisBloom) };
    Dump::parse(&chunk, rule, Limits::default()).unwrap().check_samples(&members).unwrap();
}

#[test]
fn a_wrong_order_or_rule_is_caught_by_samples() {
    let right = layout(960, BitOrder::LsbFirst, Rule::RedisBloom);
    let bytes = built(right).write();
    let members: Vec<Vec<u8>> = (0..100).map(key).collect();
    for (order, rule) in ORDERS.into_iter().flat_map(|o| RULES.map(|rule| (o, rule))) {
        let given = layout(960, order, rule);
        let checked =
            Dump::parse(&bytes, given, Limits::default()).unwrap().check_samples(&members);
        assert_eq!(checked.is_ok(), given == right, "{given:?}");
        if let Err(why) = checked {
            assert!(matches!(why, SampleRefusal::Missing { missing: 80.., asked: 100 }), "{why}");
        }
    }
}

#[test]
fn another_length_or_bits_past_the_end_are_refused() {
    let given = layout(959, BitOrder::LsbFirst, Rule::RedisBloom);
    let bytes = built(given).write();
    for length in 0..140 {
        let padded: Vec<u8> = bytes.iter().copied().chain([0; 20]).take(length).collect();
        assert_eq!(Dump::parse(&padded, given, Limits::default()).is_ok(), length == 120);
    }
    let mut stray = bytes.clone();
    stray[119] |= 0x80;
    let why = Dump::parse(&stray, given, Limits::default()).unwrap_err();
    assert!(why.to_string().contains("past the end"), "{why}");
    // In whole words, too.
    let given = layout(900, BitOrder::MsbFirst, Rule::Redisson);
    let mut bytes = built(given).write();
    assert_eq!(bytes.len(), 113);
    bytes.resize(120, 0);
    assert_eq!(Dump::parse(&bytes, given, Limits::default()).unwrap().write(), bytes);
    bytes[119] = 1;
    assert!(Dump::parse(&bytes, given, Limits::default()).is_err());
}

#[test]
fn layouts_out_of_range_are_refused() {
    let refused = |layout| Dump::parse(&[0; 8], layout, Limits::default()).unwrap_err();
    let usual = layout(64, BitOrder::LsbFirst, Rule::RedisBloom);
    for wrong in [Layout { bits: 0, ..usual }, Layout { k: 0, ..usual }] {
        assert_eq!(refused(wrong), Refusal::Params(SizeRefusal::NoItems));
    }
    for wrong in [Layout { bits: u64::MAX, ..usual }, Layout { k: u32::MAX, ..usual }] {
        assert!(matches!(refused(wrong), Refusal::Params(SizeRefusal::TooLarge { .. })));
        assert!(Dump::build(wrong, Limits::default()).is_err());
    }
    damage::each(&[1; 8], |bytes| drop(Dump::parse(bytes, usual, Limits::default())));
}
