//! Mapped readers beside a writer: what was acknowledged is found, whatever the writer is at.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bloomrf_engine::format::container::{HEADER_BYTES, Sequence};
use bloomrf_kernels::hash::Hash128;

use super::*;
use crate::file::{Asked, SourcePosition, StoredFilter, save};
use crate::foreign::Rule;
use crate::{
    AnyFilter, AnyScaling, Blocked, Build, Classic, Counting, Cuckoo, Encoding, HashRule, Imported,
    Presence, Scaling, Spec, SplitBlock,
};

const RULE: HashRule = HashRule::Native { seed: 5 };
const SPEC: Spec = Spec { items: 20_000, fpr: 0.01 };

fn item(i: u64) -> Hash128 {
    RULE.hash(&i.to_le_bytes())
}

fn stored(filter: impl Into<AnyFilter>) -> StoredFilter {
    let mut stored = StoredFilter::new(filter, RULE, Encoding::U64Le);
    stored.stamp.uuid = 0xabc;
    stored
}

/// A filter of each kind that a map can hold.
fn each_kind() -> Vec<StoredFilter> {
    let imported = Imported::from_parts(Rule::GuavaMitz64, 7, 100_003, vec![0; 1_563], 0, 0);
    let foreign = HashRule::Foreign(Rule::GuavaMitz64);
    let mut kinds = vec![
        stored(Classic::build(&SPEC).unwrap()),
        stored(SplitBlock::build(&SPEC).unwrap()),
        stored(Blocked::build(&SPEC).unwrap()),
        stored(Counting::build(&SPEC).unwrap()),
        stored(Cuckoo::build(&SPEC).unwrap()),
    ];
    kinds.push(StoredFilter::new(imported.unwrap(), foreign, Encoding::Raw));
    kinds
}

#[test]
fn a_map_answers_as_the_copy_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    for mut stored in each_kind() {
        let hash = |i: u64| stored.rule.hash(&i.to_le_bytes());
        let items: Vec<Hash128> = (0..8_000).map(hash).collect();
        assert_eq!(stored.filter.insert_many(&items[..4_000]), 0);
        save(&path, &stored).unwrap();
        let map = MappedFilter::open(&path, &Asked::default()).unwrap();
        let mut found = vec![0; 125];
        map.contains_many(&items, &mut found);
        let mut expected = vec![0; 125];
        stored.filter.contains_many(&items, &mut expected);
        let kind = stored.filter.kind();
        assert_eq!(found, expected, "{kind:?}");
        let one_by_one = |i: usize| found[i / 64] >> (i % 64) & 1 == 1;
        assert!((0..8_000).all(|i| map.contains(items[i]) == one_by_one(i)), "{kind:?}");
        let absent = (4_000..8_000).filter(|i| !one_by_one(*i)).count();
        assert!(absent > 3_900, "{kind:?}: {absent}");
    }
}

/// Flushes of ten items each while a thread asks for all that were acknowledged. A cuckoo filter
/// moves what it holds, and all of it is full: a torn look at it would miss items.
#[test]
fn what_a_flush_acknowledged_is_found_through_a_map_while_the_next_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    let mut first = stored(Cuckoo::build(&Spec { items: 40_000, fpr: 0.01 }).unwrap());
    let items: Vec<Hash128> = (0..40_000).map(item).collect();
    assert_eq!(first.filter.insert_many(&items[..36_000]), 0);
    save(&path, &first).unwrap();
    let mut live = Live::open(&path, &Asked::default()).unwrap();
    let acknowledged = AtomicU64::new(36_000);
    std::thread::scope(|scope| {
        let asker = |map: MappedFilter| {
            let acknowledged = &acknowledged;
            let items = &items;
            move || {
                let (mut nos, mut found) = (0, vec![0; 40_000 / 64]);
                loop {
                    let upto = acknowledged.load(Ordering::SeqCst);
                    map.contains_many(items, &mut found);
                    let is_found = |i: u64| found[i as usize / 64] >> (i % 64) & 1 == 1;
                    let missing = (0..upto).find(|i| !is_found(*i));
                    assert_eq!(missing, None, "of {upto}");
                    nos += (upto..40_000).filter(|i| !is_found(*i)).count();
                    if upto == 39_000 {
                        return nos;
                    }
                }
            }
        };
        let maps = [(); 2].map(|()| MappedFilter::open(&path, &Asked::default()).unwrap());
        let askers = maps.map(|map| scope.spawn(asker(map)));
        for flush in 0..300 {
            let from = 36_000 + flush * 10;
            (from..from + 10).for_each(|i| {
                assert_ne!(live.insert(items[i as usize]), crate::Inserted::Full);
            });
            live.flush(None).unwrap();
            acknowledged.store(from + 10, Ordering::SeqCst);
        }
        for asker in askers {
            assert!(asker.join().unwrap() > 1_000, "a map that never says no proves nothing");
        }
    });
}

fn write(path: &Path, bytes: &[u8], offset: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, offset).unwrap();
}

#[test]
fn in_the_midst_of_a_flush_every_answer_is_maybe_and_a_file_that_stays_so_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    save(&path, &stored(Classic::build(&SPEC).unwrap())).unwrap();
    let map = MappedFilter::open(&path, &Asked::default()).unwrap();
    assert!(map.is_settled() && !map.contains(item(1)));
    let whole = std::fs::read(&path).unwrap();
    let mut header: [u8; HEADER_BYTES] = *whole.first_chunk().unwrap();
    header[GENERATION].copy_from_slice(&1u64.to_le_bytes());
    Sequence { writing: 1, whole: 0 }.mark(&mut header);
    write(&path, &header, 0);
    assert!(!map.is_settled() && map.contains(item(1)));
    let mut found = [0];
    map.contains_many(&[item(1), item(2)], &mut found);
    assert_eq!(found, [3]);
    let texts = [
        MappedFilter::open(&path, &Asked::default()).unwrap_err().to_string(),
        LiveReader::open(&path, &Asked::default()).unwrap_err().to_string(),
        Live::open(&path, &Asked::default()).unwrap_err().to_string(),
    ];
    for text in texts {
        assert!(text.contains("generation 1 was being written over 0"), "{text}");
    }
    write(&path, &whole[..HEADER_BYTES], 0);
    assert!(map.is_settled() && !map.contains(item(1)));
}

#[test]
fn a_map_is_refused_where_its_file_is_damaged_several_or_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    save(&path, &stored(Classic::build(&SPEC).unwrap())).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for at in [50, 300, 4_000, 4_096, 20_000, bytes.len() - 20, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 16;
        std::fs::write(&path, damaged).unwrap();
        let why = MappedFilter::open(&path, &Asked::default()).unwrap_err();
        assert!(matches!(why, MapError::Refused(_)), "byte {at}: {why}");
    }
    std::fs::write(&path, &bytes).unwrap();
    let asked = Asked { encoding: Some(Encoding::Utf8), ..Asked::default() };
    let why = MappedFilter::open(&path, &asked).unwrap_err().to_string();
    assert!(why.contains("asked: utf8"), "{why}");
    let chain = Scaling::<Classic>::build(&SPEC).unwrap();
    save(&path, &stored(AnyScaling::Classic(chain))).unwrap();
    let why = MappedFilter::open(&path, &Asked::default()).unwrap_err();
    assert!(matches!(why, MapError::Several), "{why}");
}

#[test]
fn a_filter_of_another_shape_is_maybe_until_the_map_is_refreshed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    save(&path, &stored(Classic::build(&SPEC).unwrap())).unwrap();
    let mut map = MappedFilter::open(&path, &Asked::default()).unwrap();
    assert!(!map.refresh().unwrap());
    let mut live = Live::open(&path, &Asked::default()).unwrap();
    *live.filter_mut() = Classic::build(&Spec { items: 30_000, ..SPEC }).unwrap().into();
    live.insert(item(1));
    live.flush(None).unwrap();
    assert!(map.contains(item(2)), "in doubt");
    assert!(map.refresh().unwrap());
    assert!(map.contains(item(1)) && !map.contains(item(2)));
    // A file that is put in its place is another one, which only a refresh finds.
    drop(live);
    save(&path, &stored(Classic::build(&SPEC).unwrap())).unwrap();
    assert!(map.refresh().unwrap());
    assert!(!map.contains(item(1)));
}

#[test]
fn a_file_becomes_no_shorter_under_a_map() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.blmf");
    save(&path, &stored(Classic::build(&SPEC).unwrap())).unwrap();
    let map = MappedFilter::open(&path, &Asked::default()).unwrap();
    let mut live = Live::open(&path, &Asked::default()).unwrap();
    *live.filter_mut() = Classic::build(&Spec { items: 10_000, ..SPEC }).unwrap().into();
    let source = Some(SourcePosition::Database { name: "orders".to_owned(), lsn: 9 });
    let why = live.flush(source.clone()).unwrap_err();
    assert!(matches!(why, FlushError::Held(_)), "{why}");
    assert!(map.is_settled() && !map.contains(item(1)));
    drop(map);
    assert_eq!(live.flush(source).unwrap(), 1);
    assert!(MappedFilter::open(&path, &Asked::default()).is_ok(), "the lock was given back");
}
