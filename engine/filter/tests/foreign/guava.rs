//! Guava 31.1: 18 files, the traces of its hashes, its sizes, its reader's errors.

use bloomrf_filter::foreign::guava::{Guava, Head, KRule, Params, Strategy, Warning};
use bloomrf_filter::foreign::{Foreign, Item, Limits, Refusal, Rule, SampleRefusal, encode};
use bloomrf_filter::{Encoding, SizeRefusal, Spec};

use crate::damage;
use crate::golden::{bytes, entries, folder, hex, key, number, numbers, text};

/// The `i`-th item of a file, by the funnel in its name.
fn item(file: &str, i: u64) -> Vec<u8> {
    let number = i as i64;
    let plain = format!("key-{i}");
    let odd = format!("{}{i}", ["\u{e9}", "\u{20ac}", "\u{1f600}"][(i % 3) as usize]);
    let string = if file.starts_with("uni") { &odd } else { &plain };
    let (encoding, item) = match file.split('_').next().unwrap() {
        "long" => (Encoding::I64Le, Item::Number((number * 1_000_003 - 500).into())),
        "int" => {
            (Encoding::I32Le, Item::Number(((number as i32).wrapping_mul(7_919) - 500).into()))
        }
        "bytes" => return bytes(i),
        _ if file.contains("_u16_") => (Encoding::Utf16Le, Item::Text(string)),
        _ => (Encoding::Utf8, Item::Text(string)),
    };
    encode(encoding, item).unwrap().into_owned()
}

fn params(items: u64, fpr: f64, k_rule: KRule) -> Params {
    Params { spec: Spec { items, fpr }, strategy: Strategy::Mitz64, k_rule }
}

#[test]
fn every_file_imports_answers_exports_and_is_built_byte_for_byte() {
    let Some(folder) = folder("guava") else { return };
    let files = entries(folder.join("guava_files.json"));
    for entry in &files {
        let name = text(entry, "file");
        let file = std::fs::read(folder.join(name)).unwrap();
        let read = Guava::parse(&file, Limits::default()).unwrap();
        assert_eq!(read.write(), file, "{name}");

        let inserted = number(entry, "inserted");
        let mut params = params(number(entry, "n"), entry["p"].as_f64().unwrap(), KRule::FromBits);
        if text(entry, "strategy").ends_with("32") {
            params.strategy = Strategy::Mitz32;
        }
        if number(entry, "n") > 0 {
            assert_eq!(params.bits().unwrap(), number(entry, "optimalNumOfBits"), "{name}");
        }
        let mut built = Guava::build(&params, Limits::default()).unwrap();
        for i in 0..inserted {
            built.insert(&item(name, i));
        }
        assert!(built.write() == file, "{name}: built from its keys, it has other bytes");

        let members: Vec<Vec<u8>> = (0..inserted).map(|i| item(name, i)).collect();
        if !members.is_empty() {
            read.check_samples(&members).unwrap();
        }
        let found: Vec<u64> =
            (inserted..inserted + 10_000).filter(|i| read.contains(&item(name, *i))).collect();
        assert_eq!(found, numbers(entry, "falsePositiveKeyIndexes"), "{name}");
        assert_eq!(read.estimate(), number(entry, "approximateElementCount") as f64, "{name}");
        let expected = entry["expectedFpp"].as_f64().unwrap();
        assert!((read.fpr() - expected).abs() <= expected * 1e-12, "{name}: {}", read.fpr());
    }
    println!("{} files", files.len());
    assert_eq!(files.len(), 18);
}

#[test]
fn hashes_and_probes_are_those_of_the_traces() {
    let Some(folder) = folder("guava") else { return };
    let traces = entries(folder.join("guava_hash_traces.json"));
    for trace in &traces {
        let name = text(trace, "key");
        let (kind, rest) = name.split_once(':').unwrap();
        let bytes = match (kind, rest.split(" at ").next().unwrap()) {
            ("utf8", rest) if rest.starts_with("lone-surrogate") => {
                encode(Encoding::Utf8, Item::Utf16(&[0xd800])).unwrap().into_owned()
            }
            ("utf8", rest) => rest.as_bytes().to_vec(),
            ("u16", rest) => encode(Encoding::Utf16Le, Item::Text(rest)).unwrap().into_owned(),
            ("long", rest) => encode(Encoding::I64Le, Item::Text(rest)).unwrap().into_owned(),
            ("int", rest) => encode(Encoding::I32Le, Item::Text(rest)).unwrap().into_owned(),
            other => panic!("{other:?}"),
        };
        let hash = Rule::GuavaMitz64.hash(&bytes);
        let digest = [hash.lo.to_le_bytes(), hash.hi.to_le_bytes()].concat();
        assert_eq!(digest, hex(text(trace, "murmur3_128_bytes")), "{name}");
        let (k, m) = (number(trace, "k") as u32, number(trace, "m"));
        let probes = |rule: Rule| rule.probes(k, m, hash).collect::<Vec<u64>>();
        assert_eq!(probes(Rule::GuavaMitz64), numbers(trace, "mitz64"), "{name}");
        assert_eq!(probes(Rule::GuavaMitz32), numbers(trace, "mitz32"), "{name}");
    }
    assert_eq!(traces.len(), 18);
}

#[test]
fn sizes_are_those_of_old_and_new_guava() {
    let Some(folder) = folder("guava") else { return };
    let table = std::fs::read_to_string(folder.join("guava_sizing.csv")).unwrap();
    let rows: Vec<Vec<f64>> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    for row in &rows {
        let params = |k_rule| params(row[0] as u64, row[1], k_rule);
        assert_eq!(params(KRule::FromBits).bits().unwrap(), row[2] as u64, "{row:?}");
        if row[5] == 0.0 {
            assert_eq!(params(KRule::FromBits).head(), Err(SizeRefusal::NoItems));
            continue;
        }
        let heads = [KRule::FromBits, KRule::FromRate].map(|rule| params(rule).head().unwrap());
        assert_eq!(heads.map(|head| f64::from(head.k)), [row[3], row[4]], "{row:?}");
        assert_eq!(f64::from(heads[0].words), row[5], "{row:?}");
    }
    assert_eq!(rows.len(), 14);
}

#[test]
fn a_hundred_million_items_at_one_percent_have_the_known_size() {
    let head = params(100_000_000, 0.01, KRule::FromBits).head().unwrap();
    assert_eq!((head.words, head.k), (14_976_654, 7));
    assert_eq!(head.file_bytes(), 119_813_238);
    assert_eq!(params(1, 0.01, KRule::FromBits).head().unwrap().k, 6);
    assert_eq!(params(1, 0.01, KRule::FromRate).head().unwrap().k, 7);
}

#[test]
fn what_its_reader_refuses_is_refused_and_says_why() {
    let Some(folder) = folder("guava") else { return };
    let table = std::fs::read_to_string(folder.join("guava_readfrom_errors.tsv")).unwrap();
    let mut seen = 0;
    for line in table.lines().skip(1) {
        let mut cells = line.split('\t');
        let file = hex(cells.next().unwrap());
        let exception = cells.next().unwrap();
        let why = Guava::parse(&file, Limits::default()).unwrap_err();
        let is_short = exception.ends_with("EOFException") || exception.ends_with("MemoryError");
        assert_eq!(matches!(why, Refusal::Short { .. }), is_short, "{line}: {why}");
        assert_eq!(matches!(why, Refusal::Field { .. }), !is_short, "{line}: {why}");
        seen += 1;
    }
    assert_eq!(seen, 11);
}

#[test]
fn guava_8463_six_bytes_allocate_nothing() {
    let why = Guava::parse(&[1, 7, 0x7f, 0xff, 0xff, 0xff], Limits::default()).unwrap_err();
    let need = 6 + 8 * 0x7fff_ffff;
    assert_eq!(why, Refusal::Short { what: "a Guava filter", need, have: 6 });
    let file = params(1_000, 0.01, KRule::FromBits);
    let file = Guava::build(&file, Limits::default()).unwrap().write();
    let why = Guava::parse(&file, Limits { bytes_max: 1_199 }).unwrap_err();
    assert_eq!(why, Refusal::TooLarge { bytes: 1_200, most: 1_199 });
}

#[test]
fn guava_1119_a_filter_past_2_31_bits_of_mitz_32_works_and_warns() {
    let head = |strategy, words: u32| {
        let mut bytes = vec![strategy, 7];
        bytes.extend(words.to_be_bytes());
        Head::parse(&bytes).unwrap()
    };
    assert_eq!(head(0, (1 << 25) + 1).warning(), Some(Warning::Unreached));
    assert_eq!(head(0, 1 << 25).warning(), None);
    assert_eq!(head(1, (1 << 25) + 1).warning(), None);
    // Its own rule, bug and all: what was added is found, and no bit from 2^31 on is set.
    let mut asked = params(230_000_000, 0.01, KRule::FromBits);
    asked.strategy = Strategy::Mitz32;
    let mut filter = Guava::build(&asked, Limits::default()).unwrap();
    assert_eq!(filter.head().warning(), Some(Warning::Unreached));
    for i in 0..1_000 {
        filter.insert(&key(i));
    }
    assert!((0..1_000).all(|i| filter.contains(&key(i))));
    assert!((1 << 31..filter.bits().bits()).step_by(4_099).all(|bit| !filter.bits().test(bit)));
}

#[test]
fn redisbloom_9_indexes_above_2_32_bits_reach_all_of_them() {
    let asked = params(700_000_000, 0.01, KRule::FromBits);
    let mut filter = Guava::build(&asked, Limits::default()).unwrap();
    let bits = filter.bits().bits();
    assert!(bits > 1 << 32);
    (0..1_000).for_each(|i| assert!(filter.insert(&key(i))));
    assert!((0..1_000).all(|i| filter.contains(&key(i))));
    assert!(!(1_000..2_000).any(|i| filter.contains(&key(i))));
    let top = (0..1_000).flat_map(|i| Rule::GuavaMitz64.probes(7, bits, filter.hash(&key(i))));
    let above = top.filter(|bit| *bit >= 1 << 32).count();
    let share = (bits - (1 << 32)) as f64 / bits as f64;
    assert!((above as f64 / 7_000.0 - share).abs() < 0.03, "{above} of 7,000, {share} expected");
}

#[test]
fn guava_7346_filters_of_different_k_are_not_merged() {
    let build = |k_rule| Guava::build(&params(1, 0.01, k_rule), Limits::default()).unwrap();
    let (mut old, new) = (build(KRule::FromBits), build(KRule::FromRate));
    let before = old.clone();
    let why = old.merge(&new).unwrap_err();
    assert_eq!((why.field, why.ours.as_str(), why.theirs.as_str()), ("k", "6", "7"));
    assert_eq!(old, before);

    let build = || Guava::build(&params(1_000, 0.01, KRule::FromRate), Limits::default()).unwrap();
    let (mut one, mut two, mut both) = (build(), build(), build());
    for i in 0..500 {
        one.insert(&key(i));
        both.insert(&key(i));
    }
    for i in 500..900 {
        two.insert(&key(i));
        both.insert(&key(i));
    }
    one.merge(&two).unwrap();
    assert_eq!(one.write(), both.write());
}

#[test]
fn redisson_4767_a_wrong_encoding_is_an_error_where_samples_are_given() {
    let mut filter =
        Guava::build(&params(1_000, 0.01, KRule::FromBits), Limits::default()).unwrap();
    let text = |i: u64| format!("key-{i}");
    let encoded = |encoding, i| encode(encoding, Item::Text(&text(i))).unwrap().into_owned();
    for i in 0..1_000 {
        filter.insert(&encoded(Encoding::Utf16Le, i));
    }
    let read = Guava::parse(&filter.write(), Limits::default()).unwrap();
    let members = |encoding| (0..100).map(|i| encoded(encoding, i)).collect::<Vec<_>>();
    read.check_samples(&members(Encoding::Utf16Le)).unwrap();
    let why = read.check_samples(&members(Encoding::Utf8)).unwrap_err();
    assert!(matches!(why, SampleRefusal::Missing { missing: 90..=100, asked: 100 }), "{why}");
    assert_eq!(read.check_samples::<Vec<u8>>(&[]), Err(SampleRefusal::NoSamples));
}

#[test]
fn any_damage_is_refused_or_read_within_its_own_bytes() {
    let mut filter = Guava::build(&params(10, 0.03, KRule::FromBits), Limits::default()).unwrap();
    for i in 0..10 {
        filter.insert(&key(i));
    }
    let file = filter.write();
    let (mut read, mut refused) = (0, 0);
    damage::each(&file, |bytes| match Guava::parse(bytes, Limits::default()) {
        Ok(filter) => {
            assert!(bytes.len() == file.len() && filter.bytes() <= file.len() as u64);
            filter.contains(b"key-1");
            read += 1;
        }
        Err(_) => refused += 1,
    });
    // Flips of payload, of k and of one bit of the strategy cannot be seen; the rest is refused.
    assert_eq!((read, refused), (16 * 8 + 8 + 1, file.len() + 32 + 7));
    for length in 0..file.len() + 9 {
        let padded: Vec<u8> = file.iter().copied().chain([0; 9]).take(length).collect();
        assert_eq!(Guava::parse(&padded, Limits::default()).is_ok(), length == file.len());
    }
}
