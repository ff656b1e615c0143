use super::*;
use crate::wire::lookup::IdRange;

/// Batches in order of id in consecutive slots, but for gaps in the ids, slots out of order,
/// and slots that stay empty.
fn snapshot(first: BatchId, rng: &mut impl FnMut(u64) -> u64) -> Snapshot {
    let (mut id, mut code) = (first, 0u32);
    let mut index = Vec::new();
    for _ in 0..rng(400) {
        index.push((id, Place { chunk: code / 64, slot: code % 64 }));
        id = id.saturating_add(if rng(20) == 0 { 1 + rng(9) } else { 1 });
        code += if rng(30) == 0 { 1 + rng(5) as u32 } else { 1 };
        if id == u64::MAX {
            break;
        }
    }
    for at in 1..index.len() {
        if rng(25) == 0 {
            let (before, here) = (index[at - 1].1, index[at].1);
            (index[at - 1].1, index[at].1) = (here, before);
        }
    }
    let runs = IdRun::all(&index);
    Snapshot { chunks: Vec::new(), index: index.into(), runs: runs.into(), gone: [].into() }
}

/// One look-up after another.
fn expected(snapshot: &Snapshot, candidates: &Candidates) -> Vec<Option<Place>> {
    candidates.iter().map(|id| snapshot.place(id)).collect()
}

fn places(runs: &[CandidateRun], candidates: usize) -> Vec<Option<Place>> {
    let mut places = vec![None; candidates];
    let mut end = 0;
    for run in runs {
        assert!(run.at >= end, "runs go in the order sent");
        assert!((1..=64).contains(&run.count) && run.place.slot + run.count <= 64);
        end = run.at + run.count as usize;
        for (i, place) in places[run.at..end].iter_mut().enumerate() {
            *place = Some(run.place.plus(i as u32));
        }
    }
    places
}

#[test]
fn candidates_resolve_like_one_look_up_after_another() {
    let seed = std::env::var("SEED").map_or(61, |text| text.parse().unwrap());
    println!("SEED={seed}");
    let mut state = seed;
    let mut rng = |below: u64| {
        state += 1;
        bloomrf_kernels::hash::bytes(&u64::to_le_bytes(state), seed) % below.max(1)
    };
    let mut runs = Vec::new();
    for round in 0..400 {
        let first = if round % 4 == 0 { u64::MAX - 200 } else { rng(50) };
        let snapshot = snapshot(first, &mut rng);
        let mut ranges = Vec::new();
        for _ in 0..rng(6) {
            let from = first.saturating_sub(9).saturating_add(rng(600));
            let count = (rng(300) as u32).min((u64::MAX - from).min(1 << 20) as u32);
            ranges.push(IdRange { first: from, count });
        }
        let ids = |n: u64, rng: &mut dyn FnMut(u64) -> u64| -> Vec<BatchId> {
            (0..rng(n)).map(|_| first.saturating_add(rng(450))).collect()
        };
        let random = ids(300, &mut rng);
        let mut sorted = random.clone();
        sorted.sort_unstable();
        let mut reversed = sorted.clone();
        reversed.reverse();
        let mut all = vec![
            Candidates::List(vec![]),
            Candidates::List(vec![u64::MAX, 0, u64::MAX]),
            Candidates::List((first..first.saturating_add(450)).collect()),
            Candidates::List(random),
            Candidates::List(sorted),
            Candidates::List(reversed),
        ];
        all.extend(ranges.iter().map(|r| Candidates::Range { first: r.first, count: r.count }));
        all.push(Candidates::Ranges(ranges));
        for candidates in all {
            snapshot.resolve(&candidates, &mut runs);
            let found = places(&runs, candidates.len());
            assert_eq!(found, expected(&snapshot, &candidates), "{candidates:?}");
        }
    }
}

#[test]
fn a_range_over_full_chunks_takes_one_run_per_chunk() {
    let place = |i: u32| Place { chunk: i / 64, slot: i % 64 };
    let index: Vec<_> = (0..640).map(|i| (u64::from(i) + 5, place(i))).collect();
    let runs = IdRun::all(&index);
    let snapshot =
        Snapshot { chunks: Vec::new(), index: index.into(), runs: runs.into(), gone: [].into() };
    let mut runs = Vec::new();
    snapshot.resolve(&Candidates::Range { first: 10, count: 600 }, &mut runs);
    assert_eq!(runs.len(), 10);
    assert_eq!(runs[0], CandidateRun { at: 0, place: place(5), count: 59 });
    assert_eq!(runs[9], CandidateRun { at: 571, place: place(576), count: 29 });
    snapshot.resolve(&Candidates::List((10..610).collect()), &mut runs);
    assert_eq!(runs.len(), 10, "a list that ascends without gaps is no dearer");
}

#[test]
fn what_is_stopped_has_the_places_of_a_prefix_and_no_others() {
    let place = |i: u32| Place { chunk: i / 64, slot: i % 64 };
    let index: Vec<_> = (0..640).map(|i| (u64::from(i), place(i))).collect();
    let runs = IdRun::all(&index);
    let snapshot =
        Snapshot { chunks: Vec::new(), index: index.into(), runs: runs.into(), gone: [].into() };
    let ids: Vec<BatchId> = (0..10_000).map(|i| (i * 7) % 640).collect();
    let ranges = ids.iter().map(|&first| IdRange { first, count: 1 }).collect();
    for candidates in [Candidates::List(ids.clone()), Candidates::Ranges(ranges)] {
        let all = expected(&snapshot, &candidates);
        let mut found = Vec::new();
        for stop_at in 1..=9 {
            let (mut asked, mut runs) = (0, Vec::new());
            let mut goes_on = || {
                asked += 1;
                asked < stop_at
            };
            snapshot.resolve_while(&candidates, &mut runs, &mut goes_on);
            found = places(&runs, ids.len());
            let end = runs.last().map_or(0, |run| run.at + run.count as usize);
            assert!(end < ids.len() && end >= (stop_at - 1) * LOOK_EVERY, "stopped at {end}");
            assert_eq!((&found[..end], asked), (&all[..end], stop_at));
            assert!(found[end..].iter().all(Option::is_none));
        }
        assert_ne!(found, all);
    }
}
