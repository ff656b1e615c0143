//! A chain is stored in a section for each of its links, shards in one for each.

use bloomrf_filter::file::{Asked, Compound, FileRefusal, Info, StoredFilter, decode, encode};
use bloomrf_filter::scaling::{ChainRefusal, Growth};
use bloomrf_filter::{AnyFilter, Encoding, Kind, Presence};

use crate::reseal::reseal;
use crate::world::{CHAINED, chain, item, rule, shards, stored};

#[test]
fn a_chain_reads_back_answers_as_before_and_grows_on() {
    for kind in CHAINED {
        for items in [0, 20, 2_000] {
            let stored = StoredFilter::new(chain(kind, items), rule(kind), Encoding::Utf8);
            let bytes = encode(&stored).unwrap();
            let info = Info::read(&bytes, bytes.len() as u64).unwrap();
            let growth = Growth::default();
            assert_eq!(info.compound, Some(Compound::Scaling { fpr: 0.01, growth }));
            let AnyFilter::Scaling(ours) = &stored.filter else { panic!("a chain") };
            assert_eq!(info.sections.len(), ours.specs().len());
            let capacities: Vec<u64> = info.sections.iter().map(|s| s.capacity).collect();
            assert_eq!(capacities[0], 20);
            assert!(capacities.is_sorted(), "the newest last: {capacities:?}");
            let mut read = decode(&bytes, &Asked::default()).unwrap();
            assert_eq!(encode(&read).unwrap(), bytes, "{kind}, {items} items");
            assert_eq!((read.target_fpr, read.filter.inserted()), (Some(0.01), ours.inserted()));
            assert!(
                (0..items + 1_000).all(|i| read.contains(&item(i)) == stored.contains(&item(i)))
            );
            assert!((0..items).all(|i| read.contains(&item(i))), "{kind}");
            let more: Vec<_> = (items..items + 500).map(|i| read.rule.hash(&item(i))).collect();
            assert_eq!(read.filter.insert_many(&more), 0);
            assert!((0..items + 500).all(|i| read.contains(&item(i))), "{kind}");
        }
    }
}

#[test]
fn several_sections_are_no_filter_unless_a_critical_item_says_how() {
    let plain = StoredFilter::new(chain(Kind::Classic, 50), rule(Kind::Classic), Encoding::Utf8);
    let bytes = encode(&plain).unwrap();
    let refused = |at: usize, with: &[u8]| {
        let mut forged = bytes.clone();
        forged[at..at + with.len()].copy_from_slice(with);
        reseal(&mut forged);
        decode(&forged, &Asked::default()).map(|_| ()).unwrap_err()
    };
    // The one item of the metadata: its tag, its form, the factor, the rate.
    assert_eq!(refused(256, &[5, 0]), FileRefusal::Sections { found: 2, most: 1 });
    assert_eq!(refused(256, &[6, 0x80]), FileRefusal::Metadata { tag: 0x8006 });
    assert_eq!(refused(264, &[9]), FileRefusal::Metadata { tag: 0x8005 });
    assert_eq!(refused(266, &[1]), FileRefusal::Metadata { tag: 0x8005 });
    assert_eq!(refused(268, &[33]), FileRefusal::Chain(ChainRefusal::Factor(33)));
    let nan = f64::NAN.to_le_bytes();
    assert_eq!(refused(272, &nan), FileRefusal::Metadata { tag: 0x8005 });
    assert_eq!(refused(280, &nan).to_string().split(':').next(), Some("the links make no chain"));
    assert_eq!(refused(288, &[1]), FileRefusal::Chain(ChainRefusal::Links { links: 2, most: 1 }));
    // A link with another encoding, and one without a rate.
    let second = 256 + 8 + 40 + 8 + 128;
    let refusal = refused(second + 6, &[1]);
    assert!(matches!(refusal, FileRefusal::Entry { section: 1, .. }), "{refusal}");
    let refusal = refused(second + 80, &[0; 8]);
    assert!(matches!(refusal, FileRefusal::Chain(ChainRefusal::Link(_))), "{refusal}");
}

#[test]
fn a_chain_under_a_foreign_hash_is_refused() {
    let rule = rule(Kind::Imported);
    let stored =
        StoredFilter { rule, filter: chain(Kind::Blocked, 9).into(), ..stored(Kind::Blocked, 1) };
    assert!(encode(&stored).is_err());
}

#[test]
fn shards_read_back_and_answer_as_before() {
    for kind in CHAINED {
        for count in [1, 2, 64] {
            let filter = shards(kind, count, 3_000);
            let stored = StoredFilter { filter: filter.into(), ..stored(kind, 1) };
            let bytes = encode(&stored).unwrap();
            let info = Info::read(&bytes, bytes.len() as u64).unwrap();
            assert_eq!(info.compound, Some(Compound::Sharded { capacity: 3_000 }));
            assert_eq!(info.sections.len(), count);
            let read = decode(&bytes, &Asked::default()).unwrap();
            assert_eq!(encode(&read).unwrap(), bytes, "{count} of {kind}");
            assert_eq!((read.target_fpr, read.filter.capacity()), (Some(0.01), 3_000));
            assert!((0..3_000).all(|i| read.contains(&item(i))), "{count} of {kind}");
            assert!((0..6_000).all(|i| read.contains(&item(i)) == stored.contains(&item(i))));
        }
    }
}

#[test]
fn shards_that_are_not_of_one_filter_are_refused() {
    let filter = shards(Kind::Classic, 2, 100);
    let plain = StoredFilter { filter: filter.into(), ..stored(Kind::Classic, 1) };
    let plain = StoredFilter { source: None, labels: [].into(), ..plain };
    let bytes = encode(&plain).unwrap();
    let second = 256 + 8 + 16 + 8 + 128;
    let refused = |at: usize| {
        let mut forged = bytes.clone();
        forged[at] ^= 1;
        reseal(&mut forged);
        decode(&forged, &Asked::default()).map(|_| ()).unwrap_err()
    };
    assert!(matches!(refused(second + 72), FileRefusal::Shards(_)), "another capacity");
    assert_eq!(refused(second + 80), FileRefusal::Mixed, "another rate");
    assert_eq!(refused(266), FileRefusal::Metadata { tag: 0x8005 });
    assert_eq!(refused(268), FileRefusal::Metadata { tag: 0x8005 });
}
