//! Claims about blocks of an arena, on the mapping as the process sees it.

use super::*;

fn arena(bytes: usize) -> Arena {
    Arena::new(ArenaConfig { guards: false, ..ArenaConfig::new(bytes) }).unwrap()
}

struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        crate::hash::mix(self.0, 1)
    }
}

#[test]
fn blocks_are_aligned_zeroed_and_their_own() {
    let arena = arena(64 << 20);
    let mut random = Random(7);
    let mut held: Vec<(Words, u64)> = Vec::new();
    for round in 1..4_000u64 {
        let len = (random.draw() % (1 << (random.draw() % 18))) as usize;
        if let Some(mut words) = arena.words(len) {
            assert_eq!(words.len(), len);
            assert_eq!(words.as_ptr() as usize % 64, 0);
            assert!(words.iter().all(|&w| w == 0), "round {round}");
            words.fill(round);
            held.push((words, round));
        }
        while held.len() > 40 {
            let at = random.draw() as usize % held.len();
            let (words, mark) = held.swap_remove(at);
            assert!(words.iter().all(|&w| w == mark), "somebody wrote into block {mark}");
        }
    }
    held.clear();
    assert_eq!(arena.used_bytes(), 0);
    assert_eq!(arena.largest_words() * 8, arena.bytes(), "everything joined again");
}

#[test]
fn ceiling_holds_and_a_freed_block_is_had_again() {
    let arena = arena(4 << 20);
    assert!(arena.words(1 << 20).is_none());
    assert!(arena.words(usize::MAX).is_none());
    assert!(arena.words(usize::MAX / 8).is_none());
    let whole = arena.words(arena.bytes() / 8).unwrap();
    assert!(arena.words(1).is_none());
    drop(whole);
    assert!(arena.words(arena.bytes() / 8).is_some());
}

#[test]
fn blocks_outlive_the_arena_they_came_from() {
    let arena = arena(2 << 20);
    let mut words = arena.words(100).unwrap();
    drop(arena);
    words.fill(9);
    assert_eq!(words.iter().sum::<u64>(), 900);
    std::thread::spawn(move || assert_eq!(words[99], 9)).join().unwrap();
}

#[test]
fn unusable_sizes_are_refused() {
    assert!(Arena::new(ArenaConfig::new(0)).is_err());
    assert!(Arena::new(ArenaConfig::new(usize::MAX)).is_err());
    let node = Some(5_000);
    assert!(Arena::new(ArenaConfig { numa_node: node, ..ArenaConfig::new(1) }).is_err());
}

#[test]
fn node_zero_can_be_bound_where_the_kernel_lets_it() {
    match Arena::new(ArenaConfig { numa_node: Some(0), ..ArenaConfig::new(2 << 20) }) {
        Ok(arena) => assert!(arena.words(9).is_some()),
        // A kernel without NUMA, or a sandbox that refuses the call.
        Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
    }
}

#[test]
fn guards_stand_behind_large_blocks_and_vanish_with_them() {
    let arena = Arena::new(ArenaConfig {
        guards: true,
        pages: PagesWanted::Small,
        ..ArenaConfig::new(4 << 20)
    });
    let arena = arena.unwrap();
    for _ in 0..3 {
        let mut words = arena.words(20_000).unwrap();
        words.fill(1);
        let end = words.as_ptr() as usize + words.bytes();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let guard = maps.lines().find(|line| line.starts_with(&format!("{end:x}-"))).unwrap();
        assert!(guard.contains("---p"), "{guard}");
    }
    let mut whole = arena.words(arena.largest_words()).unwrap();
    whole.fill(2);
}

#[test]
fn classes_waste_a_fifth_at_most() {
    for lines in 1..=1_024 {
        let class = slabs::class_of(lines);
        assert!(class >= lines && class <= 1_024, "{lines}: {class}");
        assert!(class as f64 <= lines as f64 * 1.25, "{lines}: {class}");
        assert_eq!(slabs::class_of(class), class);
    }
}

/// A week of batches of a busy node: open filters of drifting sizes, sealed ones held in order
/// for a while, groups of 64 now and then; the blocks in use stay below four fifths of the region.
#[test]
fn a_week_of_batches_does_not_fragment_the_region() {
    let mut pool = pool::Pool::new(512 << 20);
    let budget = (512 << 20) / 5 * 4;
    let seed = std::env::var("SEED").map_or(11, |s| s.parse().unwrap());
    println!("SEED={seed}");
    let mut random = Random(seed);
    let mut sealed = std::collections::VecDeque::new();
    let mut groups = std::collections::VecDeque::new();
    // A batch every six seconds.
    for batch in 0..7 * 24 * 600u64 {
        // Records drift over the day by a factor of 16, with a jitter of a quarter.
        let hour = (batch / 600 % 24) as f64;
        let load = 4_096.0 * 2f64.powf(2.0 + 2.0 * (hour / 24.0 * std::f64::consts::TAU).sin());
        let records = load * (0.875 + (random.draw() % 256) as f64 / 1_024.0);
        for _column in 0..6 {
            let words = (records / 2.0) as usize;
            let open = pool.take(words * 5 / 4, false).expect("room for an open filter");
            sealed.push_back(pool.take(words, false).expect("room for a sealed filter"));
            pool.give(open);
        }
        if batch % 64 == 63 {
            groups.push_back(pool.take(records as usize * 24, false).expect("room for a group"));
        }
        while pool.used_bytes() > budget - (64 << 20) {
            let oldest = if batch % 2 == 0 { sealed.pop_front() } else { groups.pop_front() };
            let Some(oldest) = oldest.or_else(|| sealed.pop_front()) else { break };
            pool.give(oldest);
        }
        if random.draw().is_multiple_of(50) && !sealed.is_empty() {
            // A deleted batch leaves a hole anywhere.
            let at = random.draw() as usize % sealed.len();
            pool.give(sealed.remove(at).unwrap());
        }
    }
    sealed.into_iter().chain(groups).for_each(|block| pool.give(block));
    assert_eq!(pool.used_bytes(), 0);
    assert_eq!(pool.largest_words(false) * 8, 512 << 20);
}
