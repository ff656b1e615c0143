use super::*;
use crate::Classic;
use crate::double::{Dice, Tally, items, seed};

const WINDOW_MS: u64 = 1_000;

fn window(generations: u32, items: u64, fpr: f64) -> Window {
    Window { window_ms: WINDOW_MS, generations, spec: Spec { items, fpr } }
}

/// An exact window: what it says is what its generations hold.
fn exact(generations: u32) -> Rolling<Tally<1_000_000>> {
    Rolling::new(window(generations, 10, 0.01)).unwrap()
}

#[test]
fn item_is_found_for_the_window_and_at_most_a_generation_more() {
    let seed = seed();
    for generations in [1, 3, 4, 7] {
        let (mut dice, mut rolling) = (Dice(seed), exact(generations));
        let (mut now, mut here) = (1_700_000_000_000, Vec::new());
        for (at, item) in items(seed, 0..1_000).into_iter().enumerate() {
            // Now and then the clock stands still, and now and then many rotations are missed.
            now += [0, 1, dice.below(60), dice.below(500), dice.below(20_000)][at % 5];
            assert_eq!(rolling.insert(item, now), Inserted::New);
            here.push((item, now));
            let ask = now + dice.below(3 * WINDOW_MS);
            for (item, inserted) in here.iter().rev().take(60) {
                let (age, is_found) = (ask - inserted, rolling.contains(*item, ask));
                assert!(is_found || age >= WINDOW_MS, "gone after {age} ms");
                assert!(!is_found || age < WINDOW_MS + rolling.span_ms(), "there after {age} ms");
            }
            assert!(rolling.live(now).count() <= generations as usize + 1);
        }
        assert!(rolling.generations.len() <= generations as usize + 2);
    }
}

#[test]
fn clock_that_goes_back_drops_nothing_early() {
    let seed = seed();
    let (mut dice, mut rolling) = (Dice(seed), exact(4));
    let (mut now, mut here) = (1_700_000_000_000_u64, Vec::new());
    for (at, item) in items(seed, 0..600).into_iter().enumerate() {
        now += dice.below(40);
        if at % 50 == 49 {
            now -= dice.below(5 * WINDOW_MS);
        }
        assert_ne!(rolling.insert(item, now), Inserted::Full);
        // Found until the clock first says that the window has passed since.
        here.retain(|(_, inserted)| now < inserted + WINDOW_MS);
        here.push((item, now));
        // The oldest and the newest each time, and all of them now and then.
        let step = if at % 50 < 2 { 1 } else { here.len().div_ceil(8) };
        for (item, inserted) in here.iter().step_by(step).chain(here.last()) {
            assert!(rolling.contains(*item, now), "inserted at {inserted}, gone at {now}");
        }
        assert!(rolling.generations.len() <= rolling.places());
    }
}

#[test]
fn clock_that_leaps_ahead_empties_the_window_and_costs_one_generation() {
    let seed = seed();
    let (mut rolling, all) = (exact(4), items(seed, 0..6));
    for (now, item) in (0..5).map(|i| 250 * i).zip(&all) {
        rolling.insert(*item, now);
    }
    let ahead = 1 << 60;
    assert!(all.iter().all(|item| !rolling.contains(*item, ahead)));
    assert_eq!(rolling.insert(all[5], ahead), Inserted::New);
    assert_eq!(rolling.live(ahead).count(), 1);
    // It was a mistake: only the oldest gave its place, and it was the next to go.
    let back: Vec<_> = all.iter().filter(|item| rolling.contains(**item, 1_100)).collect();
    assert!(back.len() >= 5, "{}", back.len());
    rolling.insert(all[0], u64::MAX);
    assert!(rolling.contains(all[0], u64::MAX));
}

#[test]
fn mended_window_forgets_the_future_one_window_from_now() {
    let seed = seed();
    let (mut rolling, all) = (exact(4), items(seed, 0..40));
    for (i, item) in (0..20).zip(&all) {
        rolling.insert(*item, (1 << 50) + 250 * i);
    }
    for (i, item) in (0..20).zip(&all[20..]) {
        assert_eq!(rolling.insert(*item, 5_000 + 250 * i), Inserted::New);
        assert!(rolling.contains(*item, 5_000 + 250 * i + 999));
    }
    assert!(rolling.contains(all[19], 9_900), "of the future");
    rolling.mend(9_900);
    assert!(rolling.contains(all[19], 9_900 + 999));
    assert!(all.iter().all(|item| !rolling.contains(*item, 9_900 + 1_250)));
}

#[test]
fn item_inserted_again_lives_anew() {
    let (mut rolling, item) = (exact(4), items(seed(), 0..1)[0]);
    assert_eq!(rolling.insert(item, 0), Inserted::New);
    assert_eq!(rolling.insert(item, 900), Inserted::Seen);
    assert!(rolling.contains(item, 1_899));
    assert_eq!(rolling.insert(item, 1_899), Inserted::Seen);
    assert!(rolling.contains(item, 2_898));
}

#[test]
fn rate_of_all_generations_together_is_no_more_than_promised() {
    let seed = seed();
    let mut rolling: Rolling<Classic> = Rolling::new(window(7, 1_000, 0.02)).unwrap();
    // Spans of 143 ms: at the end of the last all 8 generations are full.
    for part in 0..20 {
        let batch = items(seed, part * 1_000..part * 1_000 + 1_000);
        assert_eq!(rolling.insert_many(&batch, part * rolling.span_ms()), 0);
    }
    let now = 19 * rolling.span_ms();
    assert_eq!((rolling.live(now).count(), rolling.over()), (8, 0));
    let mut found = vec![0; 1_563];
    rolling.contains_many(&items(seed, 1 << 40..(1 << 40) + 100_000), now, &mut found);
    let wrong: u32 = found.iter().map(|word| word.count_ones()).sum();
    // The promise, what chance does to the fill of 8 filters, and 4 deviations of the count.
    assert!((1_600..2_000 + 60 + 180).contains(&wrong), "{wrong} of 100,000");
    assert!((rolling.fpr(now) - f64::from(wrong) / 1e5).abs() < 2e-3);
    rolling.insert_many(&items(seed, 1 << 50..(1 << 50) + 300), now);
    assert!((280..=300).contains(&rolling.over()), "{}", rolling.over());
}

#[test]
fn window_that_cannot_be_is_refused() {
    let refusal = |window| Rolling::<Classic>::new(window).map(|_| ()).unwrap_err();
    let none = Window { window_ms: 0, ..window(4, 10, 0.01) };
    assert_eq!(refusal(none), WindowRefusal::NoTime);
    assert_eq!(refusal(window(0, 10, 0.01)), WindowRefusal::Generations(0));
    assert_eq!(refusal(window(1_025, 10, 0.01)), WindowRefusal::Generations(1_025));
    let size = refusal(window(4, 0, 0.01));
    assert_eq!(size, WindowRefusal::Size(SizeRefusal::NoItems));
}
