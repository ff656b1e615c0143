//! Filters to be stored.

use bloomrf_filter::file::{SourcePosition, Stamp, StoredFilter};
use bloomrf_filter::foreign::Rule;
use bloomrf_filter::scaling::Growth;
use bloomrf_filter::{
    AnyFilter, AnyScaling, AnySharded, Encoding, HashRule, Imported, Kind, Presence, Spec,
};

/// All kinds that a file may hold.
pub(crate) const KINDS: [Kind; 6] =
    [Kind::Classic, Kind::SplitBlock, Kind::Blocked, Kind::Counting, Kind::Cuckoo, Kind::Imported];

/// Kinds of chains and shards here; the rate of cuckoo filters ends too soon for long chains.
pub(crate) const CHAINED: [Kind; 4] =
    [Kind::Classic, Kind::SplitBlock, Kind::Blocked, Kind::Counting];

/// Kinds that the independent reader knows.
pub(crate) const INDEPENDENT: [Kind; 3] = [Kind::Classic, Kind::SplitBlock, Kind::Blocked];

/// Rule of a kind's test files: another for each.
pub(crate) fn rule(kind: Kind) -> HashRule {
    match kind {
        Kind::SplitBlock => HashRule::Parquet,
        Kind::Imported => HashRule::Foreign(Rule::GuavaMitz64),
        _ => HashRule::Native { seed: 7 },
    }
}

/// Item number `i`.
pub(crate) fn item(i: u64) -> Vec<u8> {
    format!("item-{i}").into_bytes()
}

/// A filter of a kind that holds the items below `items`.
pub(crate) fn filter(kind: Kind, items: u64) -> AnyFilter {
    let spec = Spec { items: items.max(1), fpr: 0.01 };
    let mut filter = match AnyFilter::build(kind, &spec).unwrap() {
        Some(filter) => filter,
        None => {
            let words = spec.items.div_ceil(6);
            let (bits, words) = (64 * words - 3, vec![0; words as usize]);
            Imported::from_parts(Rule::GuavaMitz64, 7, bits, words, items.max(1), 0).unwrap().into()
        }
    };
    let hashes: Vec<_> = (0..items).map(|i| rule(kind).hash(&item(i))).collect();
    assert_eq!(filter.insert_many(&hashes), 0);
    filter
}

/// A chain of a kind whose links were made for 20 items, 40, ..., with the items below `items`.
pub(crate) fn chain(kind: Kind, items: u64) -> AnyScaling {
    let spec = Spec { items: 20, fpr: 0.01 };
    let mut chain = AnyScaling::build(kind, &spec, Growth::default()).unwrap().unwrap();
    let hashes: Vec<_> = (0..items).map(|i| rule(kind).hash(&item(i))).collect();
    assert_eq!(chain.insert_many(&hashes), 0);
    chain
}

/// Shards of a kind with the items below `items`.
pub(crate) fn shards(kind: Kind, shards: usize, items: u64) -> AnySharded {
    let spec = Spec { items: items.max(1), fpr: 0.01 };
    let mut filter = AnySharded::build(kind, &spec, shards).unwrap().unwrap();
    let hashes: Vec<_> = (0..items).map(|i| rule(kind).hash(&item(i))).collect();
    assert_eq!(filter.insert_many(&hashes), 0);
    filter
}

/// Small files of every kind, and of chains of two links of every kind that makes one; and one of
/// two shards.
pub(crate) fn small() -> Vec<(String, StoredFilter)> {
    let single = KINDS.map(|kind| (kind.to_string(), stored(kind, 60)));
    let chains = CHAINED.map(|kind| {
        let chain = AnyFilter::from(chain(kind, 50));
        (format!("{kind} chain"), StoredFilter { filter: chain, ..stored(kind, 1) })
    });
    let sharded = AnyFilter::from(shards(Kind::Blocked, 2, 20));
    let sharded = StoredFilter { filter: sharded, ..stored(Kind::Blocked, 1) };
    single.into_iter().chain(chains).chain([("two shards".to_owned(), sharded)]).collect()
}

/// That filter with all that a file can say.
pub(crate) fn stored(kind: Kind, items: u64) -> StoredFilter {
    let topics = [("orders".to_owned(), [(0, 1_234), (1, 99)].into())];
    let labels = [("team", "search"), ("owner", "ops"), ("by", "a test")];
    let uuid = 0x2f2e_2d2c_2b2a_2928_2726_2524_2322_2120;
    StoredFilter {
        target_fpr: Some(0.01),
        stamp: Stamp { uuid, generation: 3, built_at_us: 1_700_000_000_000_000 },
        source: Some(SourcePosition::Kafka { topics: topics.into() }),
        labels: labels.map(|(label, value)| (label.to_owned(), value.to_owned())).into(),
        ..StoredFilter::new(filter(kind, items), rule(kind), Encoding::Utf8)
    }
}
