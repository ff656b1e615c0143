//! What is written is read, and says what it said before.

use bloomrf_engine::format::PageSize;
use bloomrf_filter::file::encode_paged;
use bloomrf_filter::file::{Asked, Info, SourcePosition, StoredFilter, decode, encode};
use bloomrf_filter::{Encoding, Kind, Presence};

use crate::world::{filter, item, rule, stored};

#[test]
fn a_filter_reads_back_and_answers_as_before() {
    for kind in Kind::ALL {
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
    for kind in Kind::ALL {
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
    for kind in Kind::ALL {
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
        assert!((fill - stored.filter.fill()).abs() < 1e-9);
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
