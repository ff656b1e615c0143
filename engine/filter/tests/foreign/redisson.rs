//! Redisson: three bitmaps with their configs, 81 traces of hashes, and a live Redis.

use bloomrf_filter::foreign::redisson::{Config, Redisson, config_key};
use bloomrf_filter::foreign::{Foreign, Item, Limits, Refusal, Rule, SampleRefusal, encode};
use bloomrf_filter::{Encoding, SizeRefusal, Spec};
use serde_json::Value;

use crate::damage;
use crate::golden::{entries, folder, hex, key, number, numbers, text};
use crate::live::Redis;

/// The `i`-th item, as the codec encodes it.
fn item(codec: &str, i: u64) -> Vec<u8> {
    let number = Item::Number(i128::from(i) * 1_000_003 - 500);
    match codec {
        "LongCodec" => encode(Encoding::DecimalText, number).unwrap().into_owned(),
        _ => key(i),
    }
}

fn config(entry: &Value) -> Config {
    let fields = entry["config"].as_object().unwrap();
    let fields = fields.iter().map(|(name, text)| (name.as_bytes(), text.as_str().unwrap()));
    Config::parse(fields.map(|(name, text)| (name, text.as_bytes()))).unwrap()
}

fn spec(items: u64, fpr: f64) -> Spec {
    Spec { items, fpr }
}

fn built(spec: &Spec, items: impl Iterator<Item = Vec<u8>>) -> Redisson {
    let mut filter = Redisson::build(spec, Limits::default()).unwrap();
    for item in items {
        filter.insert(&item);
    }
    filter
}

#[test]
fn every_filter_imports_answers_exports_and_is_built_byte_for_byte() {
    let Some(folder) = folder("redisson") else { return };
    let filters = entries(folder.join("redisson.json"));
    for entry in &filters {
        let name = text(entry, "file");
        let string = std::fs::read(folder.join(name)).unwrap();
        let config = config(entry);
        let read = Redisson::parse(Some(config), Some(&string), Limits::default()).unwrap();
        assert_eq!(read.write().as_deref(), Some(&string[..]), "{name}");
        assert_eq!(config_key(text(entry, "key")), text(entry, "config_key"));

        let (codec, inserted) = (text(entry, "codec"), number(entry, "inserted"));
        let spec = spec(config.expected_insertions, config.false_probability);
        let mut built = Redisson::build(&spec, Limits::default()).unwrap();
        let new = (0..inserted).filter(|i| built.insert(&item(codec, *i))).count() as u64;
        assert_eq!(new, number(entry, "newly_added"), "{name}");
        assert!(built.write() == Some(string), "{name}: built from its keys, it has other bytes");
        for (field, value) in built.config().fields() {
            assert_eq!(value, text(&entry["config"], field), "{name}");
        }

        let members: Vec<Vec<u8>> = (0..inserted).map(|i| item(codec, i)).collect();
        read.check_samples(&members).unwrap();
        let found: Vec<u64> =
            (inserted..inserted + 5_000).filter(|i| read.contains(&item(codec, *i))).collect();
        assert_eq!(found, numbers(entry, "false_positive_key_indexes"), "{name}");
        assert_eq!(read.bits().ones(), number(entry, "bitcount"));
        assert_eq!(read.estimate(), number(entry, "count()") as f64);
    }
    println!("{} filters", filters.len());
    assert_eq!(filters.len(), 3);
}

#[test]
fn hashes_and_probes_are_those_of_the_traces() {
    let Some(folder) = folder("redisson") else { return };
    let traces = entries(folder.join("redisson_traces.json"));
    for trace in &traces {
        let hash = Rule::Redisson.hash(&hex(text(trace, "encoded_hex")));
        let halves = [hash.lo, hash.hi].map(|half| format!("{half:016x}"));
        assert_eq!(halves, [text(trace, "h1"), text(trace, "h2")], "{trace}");
        let (k, size) = (number(trace, "k") as u32, number(trace, "size"));
        let probes: Vec<u64> = Rule::Redisson.probes(k, size, hash).collect();
        assert_eq!(probes, numbers(trace, "indexes"), "{trace}");
    }
    println!("{} traces", traces.len());
    assert_eq!(traces.len(), 81);
}

#[test]
fn sizes_are_those_of_redisson() {
    let sized = |items, fpr| Config::sized_for(&spec(items, fpr));
    let shape = |items, fpr| sized(items, fpr).map(|config| (config.size, config.hash_iterations));
    assert_eq!(shape(1_000, 0.01), Ok((9_585, 7)));
    assert_eq!(shape(100_000_000, 0.01), Ok((958_505_837, 7)));
    assert!(matches!(shape(1 << 30, 1e-3), Err(SizeRefusal::TooLarge { .. })));
    assert_eq!(shape(1_000, 1.0), Err(SizeRefusal::NoItems));
    assert_eq!(shape(0, 0.1), Err(SizeRefusal::NoItems));
    for rate in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(shape(10, rate), Err(SizeRefusal::Rate(_))), "{rate}");
    }
    assert!(matches!(shape(10, 0.0), Err(SizeRefusal::TooLarge { .. })));
    let texts = |fpr| sized(1_000, fpr).unwrap().fields()[3].1.clone();
    assert_eq!([0.01, 0.001, 1e-4, 1.5e-7].map(texts), ["0.01", "0.001", "1.0E-4", "1.5E-7"]);
    for rate in [0.3, 1e-4, 1.5e-7, 2e-12] {
        let config = sized(1_000, rate).unwrap();
        let fields = config.fields();
        let fields = fields.iter().map(|(name, text)| (name.as_bytes(), text.as_bytes()));
        assert_eq!(Config::parse(fields), Ok(config));
    }
}

#[test]
fn names_with_a_hash_tag_share_their_slot() {
    assert_eq!(config_key("seen"), "{seen}:config");
    assert_eq!(config_key("seen:{de}"), "seen:{de}:config");
}

#[test]
fn redisson_6454_a_config_that_is_gone_or_changed_is_an_error_at_once() {
    let filter = built(&spec(100, 0.01), (0..100).map(key));
    filter.check_config(Some(filter.config())).unwrap();
    let why = filter.check_config(None).unwrap_err();
    assert!(why.to_string().contains("absent"), "{why}");
    let other = Config::sized_for(&spec(200, 0.01)).unwrap();
    let why = filter.check_config(Some(other)).unwrap_err();
    assert!(why.to_string().contains("the config's size is 1917, and must be 958"), "{why}");
}

#[test]
fn redisson_6197_bits_without_a_config_are_no_filter() {
    let string = built(&spec(100, 0.01), (0..100).map(key)).write().unwrap();
    let why = Redisson::parse(None, Some(&string), Limits::default()).unwrap_err();
    assert!(why.to_string().contains("not initialised"), "{why}");
    let missing = [(&b"size"[..], &b"958"[..]), (b"hashIterations", b"7")];
    let why = Config::parse(missing).unwrap_err();
    assert!(why.to_string().contains(" is absent, and must be there"), "{why}");
}

#[test]
fn redisson_2015_old_bits_under_a_smaller_config_are_refused() {
    let large = built(&spec(1_000, 0.01), (0..1_000).map(key)).write().unwrap();
    let small = Config::sized_for(&spec(100, 0.01)).unwrap();
    let why = Redisson::parse(Some(small), Some(&large), Limits::default()).unwrap_err();
    assert!(why.to_string().contains("at most 120"), "{why}");
    // Under a larger one they look right; known members show that they are not.
    let larger = Config::sized_for(&spec(2_000, 0.01)).unwrap();
    let wrong = Redisson::parse(Some(larger), Some(&large), Limits::default()).unwrap();
    let members: Vec<Vec<u8>> = (0..50).map(key).collect();
    let why = wrong.check_samples(&members).unwrap_err();
    assert!(matches!(why, SampleRefusal::Missing { missing: 40.., asked: 50 }), "{why}");
}

#[test]
fn redisson_5119_another_codec_is_caught_by_samples() {
    let Some(folder) = folder("redisson") else { return };
    let entries = entries(folder.join("redisson.json"));
    let longs = entries.iter().find(|entry| text(entry, "codec") == "LongCodec").unwrap();
    let string = std::fs::read(folder.join(text(longs, "file"))).unwrap();
    let read = Redisson::parse(Some(config(longs)), Some(&string), Limits::default()).unwrap();
    let members = |encoding| {
        let numbers = (0..100).map(|i: i128| Item::Number(i * 1_000_003 - 500));
        numbers.map(|item| encode(encoding, item).unwrap().into_owned()).collect::<Vec<_>>()
    };
    read.check_samples(&members(Encoding::DecimalText)).unwrap();
    let why = read.check_samples(&members(Encoding::I64Le)).unwrap_err();
    assert!(matches!(why, SampleRefusal::Missing { missing: 90.., asked: 100 }), "{why}");
}

#[test]
fn an_empty_filter_has_no_string_and_a_short_one_is_no_damage() {
    let empty = Redisson::build(&spec(1_000, 0.01), Limits::default()).unwrap();
    assert_eq!((empty.write(), empty.bytes(), empty.estimate()), (None, 0, 0.0));
    let read = Redisson::parse(Some(empty.config()), None, Limits::default()).unwrap();
    assert!(!read.contains(b"key-0"));
    assert_eq!(read, empty);
}

#[test]
fn bits_past_the_end_of_the_filter_are_refused() {
    let filter = built(&spec(100, 0.01), (0..100).map(key));
    assert_eq!(filter.config().size, 958);
    let mut string = filter.write().unwrap();
    string.resize(120, 0);
    let parse = |string: &[u8]| {
        Redisson::parse(Some(filter.config()), Some(string), Limits::default()).map(drop)
    };
    assert_eq!(parse(&string), Ok(()));
    string[119] |= 1;
    let why = parse(&string).unwrap_err();
    assert!(why.to_string().contains("the config says 958 bits"), "{why}");
}

#[test]
fn any_damage_is_refused_or_read_within_its_own_bytes() {
    let filter = built(&spec(10, 0.03), (0..10).map(key));
    let (config, string) = (filter.config(), filter.write().unwrap());
    damage::each(&string, |bytes| {
        match Redisson::parse(Some(config), Some(bytes), Limits::default()) {
            Ok(read) => assert!(read.bytes() <= string.len() as u64),
            Err(why) => assert!(matches!(why, Refusal::Field { .. }), "{why}"),
        }
    });
    let fields = config.fields();
    for (at, (_, value)) in fields.iter().enumerate() {
        damage::each(value.as_bytes(), |damaged| {
            let fields = fields.iter().enumerate().map(|(i, (name, text))| {
                (name.as_bytes(), if i == at { damaged } else { text.as_bytes() })
            });
            if let Ok(read) = Config::parse(fields) {
                assert!(read.size.abs_diff(config.size) < 60 && read.hash_iterations < 9);
            }
        });
    }
}

#[test]
fn a_filter_made_by_setbit_in_a_live_redis_is_read_from_its_two_keys() {
    let Some(mut redis) = Redis::start() else { return };
    let filter = built(&spec(200, 0.01), (0..200).map(key));
    let config = config_key("seen");
    for (field, value) in filter.config().fields() {
        redis.ask(&[b"HSET", config.as_bytes(), field.as_bytes(), value.as_bytes()]);
    }
    for bit in (0..200).flat_map(|i| {
        let hash = Rule::Redisson.hash(&key(i));
        let Config { size, hash_iterations, .. } = filter.config();
        Rule::Redisson.probes(hash_iterations, size, hash)
    }) {
        redis.ask(&[b"SETBIT", b"seen", bit.to_string().as_bytes(), b"1"]);
    }
    let fields: Vec<Vec<u8>> =
        redis.ask(&[b"HGETALL", config.as_bytes()]).into_iter().map(Option::unwrap).collect();
    let pairs = fields.chunks(2).map(|pair| (&pair[0][..], &pair[1][..]));
    let string = redis.ask(&[b"GET", b"seen"]).remove(0);
    let config = Config::parse(pairs).unwrap();
    let read = Redisson::parse(Some(config), string.as_deref(), Limits::default()).unwrap();
    assert_eq!(read, filter);
    // And back: what we write, Redis finds.
    redis.ask(&[b"SET", b"copy", &filter.write().unwrap()]);
    let counted = redis.ask(&[b"BITCOUNT", b"copy"]).remove(0).unwrap();
    assert_eq!(counted, filter.bits().ones().to_string().into_bytes());
    let absent = redis.ask(&[b"GET", b"nothing"]).remove(0);
    assert!(Redisson::parse(Some(config), absent.as_deref(), Limits::default()).is_ok());
}
