//! dablooms 0.9.1: eight files, the traces of its hashes, its sequence numbers.

use bloomrf_filter::foreign::dablooms::{
    Counting, Crash, Params, Removed, Scaling, Sequence, Shape, State, hash,
};
use bloomrf_filter::foreign::{Foreign, Limits, Refusal};
use bloomrf_filter::{Inserted, SizeRefusal};
use serde_json::Value;

use crate::damage;
use crate::golden::{entries, folder, key, number, numbers, text};

fn params(capacity: u32, error: f64) -> Params {
    Params { capacity, error }
}

fn params_of(entry: &Value) -> Params {
    params(number(entry, "capacity") as u32, entry["error_rate"].as_f64().unwrap())
}

fn probed(entry: &Value) -> std::ops::RangeInclusive<u64> {
    let (first, last) = text(entry, "probe").rsplit_once(' ').unwrap().1.split_once("..").unwrap();
    first.parse().unwrap()..=last.parse().unwrap()
}

/// What the generator did to a counting filter.
fn counting(name: &str, params: &Params) -> Counting {
    let mut filter = Counting::build(params, Limits::default()).unwrap();
    if name.contains("overflow") {
        (0..20).for_each(|_| _ = filter.insert(b"dup"));
        let removals = if name.contains("15removes") { 15 } else { 0 };
        (0..removals).for_each(|_| filter.remove_blindly(b"dup"));
        return filter;
    }
    (0..500).for_each(|i| _ = filter.insert(&key(i)));
    if name.contains("removed") {
        (0..500).step_by(5).for_each(|i| assert_eq!(filter.remove(&key(i)), Removed::Done));
    }
    filter
}

/// What the generator did to a chain.
fn scaling(name: &str, params: &Params) -> Scaling {
    let mut chain = Scaling::build(params, Limits::default()).unwrap();
    if name.contains("lateids") {
        (0..200).for_each(|i| _ = chain.insert(&key(i), i * 10).unwrap());
        (200..260).for_each(|i| _ = chain.insert(&key(i), (i - 200) * 10 + 5).unwrap());
        chain.flushed();
        chain.insert(&key(9_999), 99_990).unwrap();
        return chain;
    }
    (0..1_000).for_each(|i| _ = chain.insert(&key(i), i).unwrap());
    if name.contains("removed") {
        (0..1_000).step_by(5).for_each(|i| assert_eq!(chain.remove(&key(i), i), Removed::Done));
    }
    if !name.contains("noflush") {
        chain.flushed();
    }
    chain
}

#[test]
fn every_file_imports_answers_exports_and_is_built_byte_for_byte() {
    let Some(folder) = folder("dablooms") else { return };
    let mut seen = 0;
    for entry in entries(folder.join("dablooms.json")) {
        let Some(name) = entry["file"].as_str() else { continue };
        let file = std::fs::read(folder.join(name)).unwrap();
        let params = params_of(&entry);
        let found: Vec<u64>;
        if name.starts_with("counting") {
            let read = Counting::parse(&file, &params, Limits::default()).unwrap();
            assert_eq!(read.write(), file, "{name}");
            assert!(counting(name, &params).write() == file, "{name}: built, it has other bytes");
            assert_eq!(u64::from(read.count()), number(&entry, "count"));
            assert_eq!(u64::from(read.shape().k), number(&entry, "nfuncs"));
            assert_eq!(u64::from(read.shape().part), number(&entry, "counts_per_func"));
            found = probed(&entry).filter(|i| read.contains(&key(*i))).collect();
        } else {
            let read = Scaling::parse(&file, &params, Limits::default()).unwrap();
            assert_eq!(read.write(), file, "{name}");
            assert!(scaling(name, &params).write() == file, "{name}: built, it has other bytes");
            for (link, listed) in read.links().iter().zip(entry["blooms"].as_array().unwrap()) {
                assert_eq!(link.id(), number(listed, "id"));
                let later = u64::from(name.contains("lateids") && link.id() == 1_951);
                assert_eq!(u64::from(link.count()), number(listed, "count") + later);
                assert_eq!(u64::from(link.shape().k), number(listed, "nfuncs"));
                assert_eq!(link.shape().counters(), number(listed, "size"));
            }
            found = probed(&entry).filter(|i| read.contains(&key(*i))).collect();
            let members: Vec<_> = (0..200).filter(|i| i % 5 > 0).map(key).collect();
            read.check_samples(&members).unwrap();
        }
        // One key more was added to this file after its list was made.
        let expected = numbers(&entry, "positives");
        if name.contains("lateids") {
            assert!(expected.iter().all(|i| found.contains(i)), "{name}");
        } else {
            assert_eq!(found, expected, "{name}");
        }
        seen += 1;
    }
    println!("{seen} files");
    assert_eq!(seen, 8);
}

#[test]
fn hashes_and_probes_are_those_of_the_traces() {
    let Some(folder) = folder("dablooms") else { return };
    let mut seen = 0;
    for trace in entries(folder.join("dablooms.json")) {
        if text(&trace, "what") != "hash" {
            continue;
        }
        let hash = hash(text(&trace, "key").as_bytes());
        let halves = [hash.lo & 0xffff_ffff, hash.lo >> 32];
        assert_eq!(halves, [number(&trace, "h1"), number(&trace, "h2")]);
        let probes = Shape { k: 8, part: 1_000 }.probes(hash).map(|at| at % 1_000);
        assert_eq!(probes.collect::<Vec<u64>>(), numbers(&trace, "idx_first8_mod_1000"));
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn torn_unflushed_and_clean_chains_are_told_apart() {
    let whole = |mem, disk| {
        let sequence = Sequence { mem, disk };
        let whole = [Crash::Process, Crash::Machine].map(|crash| sequence.is_whole_after(crash));
        (sequence.state(), whole)
    };
    assert_eq!(whole(1_001, 1_001), (State::Clean, [true, true]));
    assert_eq!(whole(1_001, 0), (State::Unflushed, [true, false]));
    assert_eq!(whole(0, 0), (State::Torn, [false, false]));
    assert_eq!(whole(0, 9), (State::Impossible, [false, false]));
    assert_eq!(whole(8, 9), (State::Impossible, [false, false]));

    let mut chain = Scaling::build(&params(50, 0.05), Limits::default()).unwrap();
    assert_eq!(chain.sequence(), Sequence { mem: 1, disk: 0 });
    chain.insert(b"a", 0).unwrap();
    chain.flushed();
    assert_eq!(chain.sequence(), Sequence { mem: 2, disk: 2 });
    chain.insert(b"b", 1).unwrap();
    assert_eq!(chain.sequence(), Sequence { mem: 3, disk: 0 });
    let Some(folder) = folder("dablooms") else { return };
    for (name, state) in [
        ("scaling_c200_e05_noflush.dab", State::Unflushed),
        ("scaling_c200_e05_flushed.dab", State::Clean),
        ("scaling_c50_lateids.dab", State::Unflushed),
    ] {
        let file = std::fs::read(folder.join(name)).unwrap();
        let params = params(if name.contains("c50") { 50 } else { 200 }, 0.05);
        let chain = Scaling::parse(&file, &params, Limits::default()).unwrap();
        assert_eq!(chain.sequence().state(), state, "{name}");
    }
}

#[test]
fn another_capacity_or_rate_is_refused_and_the_file_stays_as_it_is() {
    let built = scaling("flushed", &params(200, 0.05));
    let file = built.write();
    assert_eq!(file.len(), 6_900);
    for wrong in [params(150, 0.05), params(200, 0.04), params(199, 0.05), params(201, 0.05)] {
        let why = Scaling::parse(&file, &wrong, Limits::default()).unwrap_err();
        assert!(why.to_string().contains("6900"), "{why}");
    }
    let right = Scaling::parse(&file, &params(200, 0.05), Limits::default()).unwrap();
    assert_eq!(right.write(), file);
    let why = Scaling::parse(&file, &params(200, 2.0), Limits::default()).unwrap_err();
    assert_eq!(why, Refusal::Params(SizeRefusal::Rate(2.0)));
    let why = Counting::parse(&[0; 16], &params(0, 0.5), Limits::default()).unwrap_err();
    assert_eq!(why, Refusal::Params(SizeRefusal::NoItems));
}

#[test]
fn dablooms_29_no_probe_leaves_its_part() {
    for (capacity, error) in [(1, 0.5), (10, 0.01), (500, 0.01), (200, 0.05 / 64.0), (3, 1e-300)] {
        let shape = Shape::of(&params(capacity, error)).unwrap();
        for i in 0..2_000 {
            for (part, at) in shape.probes(hash(&key(i))).enumerate() {
                let start = part as u64 * u64::from(shape.part);
                assert!((start..start + u64::from(shape.part)).contains(&at));
            }
        }
    }
}

#[test]
fn redablooms_1_removing_what_is_absent_says_so_and_changes_nothing() {
    let mut filter = counting("", &params(500, 0.01));
    let before = filter.clone();
    let absent: Vec<u64> = (500..3_500).filter(|i| !filter.contains(&key(*i))).collect();
    assert!(absent.len() > 2_900);
    for i in absent {
        assert_eq!(filter.remove(&key(i)), Removed::Absent);
    }
    assert_eq!(filter, before);
    let mut chain = scaling("flushed", &params(200, 0.05));
    let before = chain.clone();
    let gone: Vec<u64> = (1_000..4_000).filter(|i| !chain.contains(&key(*i))).collect();
    for i in gone {
        assert_eq!(chain.remove(&key(i), i), Removed::Absent);
    }
    assert_eq!(chain, before);
}

#[test]
fn a_full_counter_never_goes_down_so_nobody_is_lost() {
    let mut filter = counting("overflow", &params(10, 0.01));
    assert!(filter.full_counters() > 0);
    for _ in 0..15 {
        assert_eq!(filter.remove(b"dup"), Removed::Stuck);
        assert!(filter.contains(b"dup"), "five adds are still owed");
    }
    // dablooms itself loses it.
    let blind = counting("overflow_then15removes", &params(10, 0.01));
    assert!(!blind.contains(b"dup") && blind.count() == 5);
}

#[test]
fn dablooms_53_a_chain_of_ten_full_filters_keeps_its_rate() {
    let mut chain = Scaling::build(&params(200, 0.05), Limits::default()).unwrap();
    let mut id = 0;
    while chain.links().len() < 11 {
        assert_ne!(chain.insert(&key(id), id).unwrap(), Inserted::Full);
        id += 1;
    }
    assert!((0..id).all(|i| chain.contains(&key(i))));
    let wrong = (1 << 20..(1 << 20) + 40_000).filter(|i| chain.contains(&key(*i))).count();
    let measured = wrong as f64 / 40_000.0;
    assert!(measured < 0.05 * 1.1, "{measured}");
    assert!((chain.fpr() - measured).abs() < 0.005, "{} {measured}", chain.fpr());
    assert!((chain.estimate() / id as f64 - 1.0).abs() < 0.05, "{} of {id}", chain.estimate());
}

#[test]
fn late_ids_reach_the_filter_that_owns_them() {
    let mut chain = scaling("lateids", &params(50, 0.05));
    let counts: Vec<u32> = chain.links().iter().map(Counting::count).collect();
    assert!(counts[0] > 50, "{counts:?}");
    assert_eq!(chain.remove(&key(203), 35), Removed::Done);
    assert_eq!(chain.links()[0].count(), counts[0] - 1);
}

#[test]
fn any_damage_is_refused_or_read_within_its_own_bytes() {
    let asked = params(5, 0.05);
    let mut chain = Scaling::build(&asked, Limits::default()).unwrap();
    (0..12).for_each(|i| _ = chain.insert(&key(i), i).unwrap());
    let file = chain.write();
    damage::each(&file, |bytes| {
        if let Ok(chain) = Scaling::parse(bytes, &asked, Limits::default()) {
            assert!(bytes.len() == file.len() || chain.links().len() < 3);
            assert!(chain.bytes() < bytes.len() as u64);
            chain.contains(b"key-1");
            let mut chain = chain;
            chain.insert(b"x", u64::MAX).unwrap();
        }
        if let Ok(filter) = Counting::parse(bytes, &asked, Limits::default()) {
            assert!(filter.bytes() < bytes.len() as u64);
        }
    });
    let why = Scaling::parse(&file, &asked, Limits { bytes_max: 60 }).unwrap_err();
    assert!(matches!(why, Refusal::TooLarge { .. }), "{why}");
}
