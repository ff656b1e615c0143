//! Cuckoo filters.

use bloomrf_filter::foreign::redisbloom::Cuckoo;
use bloomrf_filter::foreign::redisbloom::cuckoo::{Loading, Reserve};
use bloomrf_filter::foreign::{Foreign, Limits, Refusal};
use bloomrf_filter::{Inserted, SizeRefusal};
use serde_json::Value;

use super::{Chunks, added, argument, dumps};
use crate::damage;
use crate::golden::{key, number, numbers};

fn load(chunks: &Chunks) -> Result<Cuckoo, Refusal> {
    let (iterator, head) = chunks.first().map_or((1, &[][..]), |(i, bytes)| (*i, bytes));
    let mut loading = Loading::begin(iterator, head, Limits::default())?;
    for (iterator, chunk) in chunks.iter().skip(1) {
        loading.load(*iterator, chunk)?;
    }
    loading.finish()
}

fn hand_out(filter: &Cuckoo) -> Chunks {
    let rest = filter.chunks().map(|(iterator, chunk)| (iterator, chunk.to_vec()));
    std::iter::once((1, filter.head_chunk())).chain(rest).collect()
}

fn reserve(entry: &Value) -> Reserve {
    let usual = Reserve::default();
    let Some(capacity) = entry["reserve"].get(2) else { return usual };
    Reserve {
        capacity: capacity.as_str().unwrap().parse().unwrap(),
        bucket_size: argument(entry, "BUCKETSIZE").unwrap_or(2) as u8,
        iterations_max: argument(entry, "MAXITERATIONS").unwrap_or(20) as u16,
        expansion: argument(entry, "EXPANSION").unwrap_or(1) as u16,
    }
}

fn small() -> Cuckoo {
    let reserve = Reserve { capacity: 16, expansion: 2, ..Reserve::default() };
    let mut filter = Cuckoo::build(&reserve, Limits::default()).unwrap();
    for i in 0..30 {
        assert_ne!(filter.insert(&key(i)), Inserted::Full);
    }
    assert_eq!(filter.filters(), 2);
    filter
}

#[test]
fn every_filter_imports_answers_exports_and_is_built_byte_for_byte() {
    let Some(dumps) = dumps("cf_") else { return };
    for (name, entry, chunks) in &dumps {
        let read = load(chunks).unwrap();
        assert!(hand_out(&read) == *chunks, "{name}");
        let mut built = Cuckoo::build(&reserve(entry), Limits::default()).unwrap();
        let full: Vec<u64> =
            (0..added(entry)).filter(|i| built.insert(&key(*i)) == Inserted::Full).collect();
        let refused = entry["adds_not_1"].as_array().unwrap();
        // Five at most are listed.
        let listed: Vec<u64> = refused.iter().map(|one| one[0].as_u64().unwrap()).collect();
        assert_eq!(full[..full.len().min(5)], listed, "{name}");
        for i in 0..number(entry, "deleted_first") {
            assert!(built.remove(&key(i)));
        }
        assert!(hand_out(&built) == *chunks, "{name}: built from its keys, it has other bytes");
        let found: Vec<u64> =
            (added(entry)..added(entry) + 5_000).filter(|i| read.contains(&key(*i))).collect();
        let listed = numbers(entry, "false_positive_key_indexes");
        let last = listed.last().copied().unwrap_or(0);
        let probed = found.iter().copied().filter(|i| *i <= last);
        assert_eq!(probed.collect::<Vec<u64>>(), listed, "{name}");
        let measured = found.len() as f64 / 5_000.0;
        assert!((read.fpr() - measured).abs() < 0.01, "{name}: {} {measured}", read.fpr());
    }
    println!("{} filters", dumps.len());
    assert_eq!(dumps.len(), 4);
}

#[test]
fn no_part_and_no_other_order_of_chunks_is_a_filter() {
    let chunks = hand_out(&small());
    load(&chunks).unwrap();
    for end in 0..chunks.len() {
        assert!(load(&chunks[..end].to_vec()).is_err());
    }
    let mut swapped = chunks.clone();
    swapped.swap(1, 2);
    assert!(load(&swapped).is_err());
    let mut emptied = chunks.clone();
    emptied[1].1[3] = 0;
    emptied[2].1.fill(0);
    let why = load(&emptied).unwrap_err();
    assert!(why.to_string().contains("taken slots"), "{why}");
}

#[test]
fn heads_that_announce_much_are_refused_at_once_and_take_no_memory() {
    let chunks = hand_out(&small());
    let with = |at: usize, bytes: &[u8]| {
        let mut head = chunks[0].1.clone();
        head[at..at + bytes.len()].copy_from_slice(bytes);
        Loading::begin(1, &head, Limits::default())
    };
    assert!(with(8, &(1_u64 << 40).to_le_bytes()).is_err());
    assert!(with(8, &7_u64.to_le_bytes()).is_err());
    assert!(with(24, &u64::MAX.to_le_bytes()).is_err());
    assert!(with(24, &65_535_u64.to_le_bytes()).is_err());
    assert!(with(24, &0_u64.to_le_bytes()).is_err());
    for at in [32, 34] {
        assert!(with(at, &[0, 0]).is_err());
    }
    assert!(with(36, &3_u16.to_le_bytes()).is_err());
}

#[test]
fn any_damage_is_refused_or_read_within_its_own_bytes() {
    let chunks = hand_out(&small());
    let whole = small().bytes();
    for at in 0..chunks.len() {
        damage::each(&chunks[at].1, |bytes| {
            let mut damaged = chunks.clone();
            damaged[at].1 = bytes.to_vec();
            if let Ok(mut filter) = load(&damaged) {
                assert!(filter.bytes() <= whole);
                filter.insert(b"x");
                filter.remove(b"key-1");
            }
        });
    }
}

#[test]
fn what_is_removed_is_gone_and_the_others_are_not() {
    let mut filter = small();
    for i in (0..30).step_by(3) {
        assert!(filter.remove(&key(i)));
    }
    assert!((0..30).filter(|i| i % 3 > 0).all(|i| filter.contains(&key(i))));
    assert_eq!((filter.items(), filter.estimate()), (20, 20.0));
    let empty = Cuckoo::build(&Reserve::default(), Limits::default()).unwrap();
    assert!(!empty.clone().remove(b"absent") && empty.fpr() == 0.0);
}

#[test]
fn sizes_beyond_all_bounds_are_refused() {
    let build = |capacity, bucket_size| {
        let reserve = Reserve { capacity, bucket_size, ..Reserve::default() };
        Cuckoo::build(&reserve, Limits::default()).map(|filter| filter.bytes())
    };
    assert_eq!(build(0, 2), Err(SizeRefusal::NoItems));
    assert_eq!(build(5, 0), Err(SizeRefusal::NoItems));
    assert_eq!(build(1, 2), Ok(2));
    assert!(matches!(build(u64::MAX, 1), Err(SizeRefusal::TooLarge { .. })));
    assert!(matches!(build(1 << 40, 2), Err(SizeRefusal::TooLarge { .. })));
}
