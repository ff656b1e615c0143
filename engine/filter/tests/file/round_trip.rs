//! What is written is read, and says what it said before.

use bloomrf_engine::format::PageSize;
use bloomrf_filter::file::encode_paged;
use bloomrf_filter::file::{
    Asked, EncodeError, Info, SourcePosition, StoredFilter, decode, encode,
};
use bloomrf_filter::foreign::guava::{Guava, KRule, Params, Strategy};
use bloomrf_filter::foreign::{Foreign, Limits, Rule};
use bloomrf_filter::{Encoding, HashRule, Imported, Kind, Presence, Spec};

use crate::world::{KINDS, filter, item, rule, stored};

#[test]
fn a_filter_reads_back_and_answers_as_before() {
    for kind in KINDS {
        for items in [0, 1, 63, 2_000] {
            let stored = stored(kind, items);
            let bytes = encode(&stored).unwrap();
            let read = decode(&bytes, &Asked::default()).unwrap();
            assert_eq!(encode(&read).unwrap(), bytes, "{kind}, {items} items");
            assert_eq!(read.filter.kind(), kind);
            assert_eq!((read.rule, read.encoding), (stored.rule, stored.encoding));
            assert_eq!((read.stamp, read.target_fpr), (stored.stamp, stored.target_fpr));
            assert_eq!((&read.source, &read.labels), (&stored.source, &stored.labels));
            let (ours, theirs) = (&stored.filter, &read.filter);
            assert_eq!((ours.capacity(), ours.inserted()), (theirs.capacity(), theirs.inserted()));
            for i in 0..items + 2_000 {
                let item = item(i);
                assert_eq!(read.contains(&item), stored.contains(&item), "{kind}, item {i}");
                assert!(i >= items || read.contains(&item), "{kind} lost item {i}");
            }
        }
    }
}

#[test]
fn a_filter_of_many_pages_reads_back_with_pages_of_either_size() {
    for kind in KINDS {
        for size in PageSize::ALL {
            let stored = stored(kind, 100_000);
            let bytes = encode_paged(&stored, size).unwrap();
            let read = decode(&bytes, &Asked::default()).unwrap();
            assert_eq!(encode_paged(&read, size).unwrap(), bytes, "{kind}, {size:?}");
        }
    }
}

#[test]
fn header_and_tables_tell_the_filter_without_its_pages() {
    for kind in KINDS {
        let stored = stored(kind, 5_000);
        let bytes = encode(&stored).unwrap();
        let info = Info::read(&bytes[..4_096], bytes.len() as u64).unwrap();
        assert_eq!((info.rule, info.encoding), (stored.rule, stored.encoding));
        assert_eq!((info.stamp, info.file_bytes), (stored.stamp, bytes.len() as u64));
        assert_eq!((&info.source, &info.labels), (&stored.source, &stored.labels));
        let section = info.sections[0];
        assert_eq!((section.kind, section.capacity), (kind, 5_000));
        assert_eq!(section.inserted, stored.filter.inserted());
        assert_eq!(section.bytes, stored.filter.bytes());
        assert_eq!(section.target_fpr, Some(0.01));
        let fill = section.ones as f64 / section.bits as f64;
        // Counters and fingerprints are more than a bit each.
        let is_bits = !matches!(kind, Kind::Counting | Kind::Cuckoo);
        assert!(!is_bits || (fill - stored.filter.fill()).abs() < 1e-9, "{kind}");
    }
}

#[test]
fn every_source_encoding_and_gap_in_what_is_known_reads_back() {
    let sources = [
        None,
        Some(SourcePosition::Kafka { topics: [].into() }),
        Some(SourcePosition::Database { name: "orders".to_owned(), lsn: u64::MAX }),
        Some(SourcePosition::File { path: "members.csv".to_owned(), sha256: [0xab; 32] }),
    ];
    let encodings = [
        Encoding::Unspecified,
        Encoding::Raw,
        Encoding::Utf8,
        Encoding::Utf8LowerNfkc,
        Encoding::U64Le,
        Encoding::I64Le,
        Encoding::U32Le,
        Encoding::I32Le,
        Encoding::Utf16Le,
        Encoding::DecimalText,
        Encoding::ParquetPlain,
    ];
    for source in sources {
        for encoding in encodings {
            let kind = Kind::Classic;
            let plain = StoredFilter::new(filter(kind, 9), rule(kind), encoding);
            let stored = StoredFilter { source: source.clone(), ..plain };
            let bytes = encode(&stored).unwrap();
            let read = decode(&bytes, &Asked::default()).unwrap();
            assert_eq!((read.encoding, &read.source), (encoding, &source));
            assert_eq!((read.target_fpr, read.labels.len()), (None, 0));
            assert_eq!(encode(&read).unwrap(), bytes);
        }
    }
}

#[test]
fn bits_of_other_systems_answer_as_they_did_there() {
    for rule in [Rule::GuavaMitz64, Rule::GuavaMitz32, Rule::RedisBloom, Rule::Redisson] {
        let mut filter = Imported::from_parts(rule, 5, 1_000, vec![0; 16], 0, 0).unwrap();
        (0..100).for_each(|i| _ = filter.insert(rule.hash(&item(i))));
        let stored = StoredFilter::new(filter.clone(), HashRule::Foreign(rule), Encoding::Utf8);
        let bytes = encode(&stored).unwrap();
        let read = decode(&bytes, &Asked::default()).unwrap();
        assert_eq!(read.rule, HashRule::Foreign(rule));
        assert_eq!(encode(&read).unwrap(), bytes);
        assert!((0..100).all(|i| read.contains(&item(i))), "{rule:?}");
        let found = (0..1_000).filter(|i| read.contains(&item(1_000 + i))).count();
        assert!((1..=40).contains(&found), "{rule:?}: {found} of 1,000");
        let wrong = StoredFilter::new(filter, HashRule::Native { seed: 0 }, Encoding::Utf8);
        assert!(matches!(encode(&wrong), Err(EncodeError::Rule { .. })));
    }
    let params = Params {
        spec: Spec { items: 300, fpr: 0.01 },
        strategy: Strategy::Mitz64,
        k_rule: KRule::FromBits,
    };
    let mut guava = Guava::build(&params, Limits::default()).unwrap();
    (0..300).for_each(|i| _ = guava.insert(&item(i)));
    let rule = HashRule::Foreign(Rule::GuavaMitz64);
    let stored = StoredFilter::new(Imported::from(&guava), rule, Encoding::Utf8);
    let read = decode(&encode(&stored).unwrap(), &Asked::default()).unwrap();
    assert!((0..3_000).all(|i| read.contains(&item(i)) == guava.contains(&item(i))));
}
