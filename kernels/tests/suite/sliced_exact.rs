//! Bit-sliced exact bitmaps and blocked Bloom filters answer as the plain ones.

use bloomrf_kernels::sliced::{self, BITMAP_ROWS, GROUPS, Masks, SLOTS, SUMMARY_ROWS};
use bloomrf_kernels::{Kernel, scalar};

use crate::seeded::Splitmix;
use crate::sliced_built::{some_masks, some_slots, sources};

/// Bitmaps of `words`: empty, one key, sparse, clustered, dense.
fn some_bitmaps(random: &mut Splitmix, words: usize) -> Vec<Vec<u64>> {
    let bitmap = |slot: usize| {
        let mut bitmap = vec![0u64; words];
        let count = [0, 1, 5, 100, 3_000][slot % 5];
        let centre = random.below(words as u64 * 64);
        for _ in 0..count {
            let key =
                if slot.is_multiple_of(2) { centre + random.below(200) } else { random.next() };
            let key = key % (words as u64 * 64);
            bitmap[key as usize / 64] |= 1 << (key % 64);
        }
        bitmap
    };
    (0..SLOTS).map(bitmap).collect()
}

/// Ends of a range of keys below `keys`.
fn some_ends(random: &mut Splitmix, keys: u64) -> (u16, u16) {
    let lo = random.below(keys);
    let hi = match random.below(5) {
        0 => lo,
        1 => lo + random.below(70),
        2 => keys - 1,
        _ => random.below(keys),
    };
    (lo as u16, hi.min(keys - 1) as u16)
}

fn every_bitmap_answers(name: &str, words: usize, summary: bool) {
    let mut random = Splitmix::of(name);
    let sets: Vec<_> = (0..GROUPS).map(|_| some_bitmaps(&mut random, words)).collect();
    let rows: Vec<Vec<u64>> = sets
        .iter()
        .map(|bitmaps| {
            let mut rows = vec![0; words * SLOTS];
            sliced::build(Kernel::best(), &mut rows, &sources(bitmaps));
            if summary {
                rows.resize(BITMAP_ROWS + SUMMARY_ROWS, 0);
                sliced::summarise(&mut rows);
            }
            rows
        })
        .collect();
    for _ in 0..1_500 {
        let (lo, hi) = some_ends(&mut random, words as u64 * 64);
        let ask = some_masks(&mut random);
        let count = 1 + random.below(8) as usize;
        let mut groups: Vec<_> = rows[..count].iter().map(|rows| Some(&rows[..])).collect();
        if random.below(3) == 0 {
            groups[random.below(count as u64) as usize] = None;
        }
        let expected: Masks = std::array::from_fn(|g| {
            let asked = |slot: &usize| ask[g] >> slot & 1 == 1;
            let holds = |slot: &usize| {
                groups.get(g).is_none_or(|group| group.is_none())
                    || scalar::bitmap::any(&sets[g][*slot], lo, hi)
            };
            (0..SLOTS).filter(asked).filter(holds).fold(0, |mask, slot| mask | 1 << slot)
        });
        for kernel in Kernel::all() {
            let found = sliced::exact_any(kernel, &groups, &ask, lo, hi);
            assert_eq!(found, expected, "{kernel}: {lo}..={hi}");
        }
    }
}

#[test]
fn bitmaps_of_one_byte_keys_answer_as_the_plain_ones() {
    every_bitmap_answers("bitmaps_of_one_byte_keys_answer_as_the_plain_ones", 4, false);
}

#[test]
fn bitmaps_of_two_byte_keys_answer_as_the_plain_ones() {
    every_bitmap_answers("bitmaps_of_two_byte_keys_answer_as_the_plain_ones", 1_024, false);
}

#[test]
fn bitmaps_with_a_summary_answer_as_the_plain_ones() {
    every_bitmap_answers("bitmaps_with_a_summary_answer_as_the_plain_ones", 1_024, true);
}

#[test]
fn keys_past_the_end_of_the_rows_read_as_found() {
    let rows = &[0; 256][..];
    for kernel in Kernel::all() {
        for (lo, hi) in [(256, 256), (3, 256), (0, u16::MAX)] {
            let found = sliced::exact_any(kernel, &[Some(rows); GROUPS], &[6; GROUPS], lo, hi);
            assert_eq!(found, [6; GROUPS]);
        }
        let none = sliced::exact_any(kernel, &[Some(rows); GROUPS], &[6; GROUPS], 9, 8);
        assert_eq!(none, [0; GROUPS]);
    }
}

#[test]
fn blocked_filters_answer_as_the_plain_ones() {
    let mut random = Splitmix::of("blocked_filters_answer_as_the_plain_ones");
    let k = 4 + random.below(5) as u32;
    for _ in 0..6 {
        let (mut hashes, mut sets) = (vec![], vec![]);
        for g in 0..GROUPS {
            let blocks = [1, 2, 3, 5, 8, 30, 60, 64][(g + random.below(8) as usize) % 8];
            let mut filters = vec![vec![0; blocks * 8]; SLOTS];
            for filter in filters.iter_mut().skip(1) {
                for _ in 0..random.below(blocks as u64 * 50) {
                    let hash = random.next();
                    scalar::blocked::insert(k, filter, hash);
                    hashes.push(hash);
                }
            }
            let mut rows = vec![0; blocks * 8 * SLOTS];
            sliced::build(Kernel::best(), &mut rows, &sources(&filters));
            sets.push((filters, rows));
        }
        for _ in 0..500 {
            let known = hashes[random.below(hashes.len() as u64) as usize];
            let hash = if random.below(2) == 0 { known } else { random.next() };
            let ask: Masks = std::array::from_fn(|_| some_slots(&mut random));
            let groups: Vec<_> = sets.iter().map(|(_, rows)| Some(&rows[..])).collect();
            let expected: Masks = std::array::from_fn(|g| {
                let holds = |&slot: &usize| scalar::blocked::contains(k, &sets[g].0[slot], hash);
                let held = (0..SLOTS).filter(holds).fold(0, |mask, slot| mask | 1 << slot);
                held & ask[g]
            });
            for kernel in Kernel::all() {
                let found = sliced::blocked_contains(kernel, k, &groups, &ask, hash);
                assert_eq!(found, expected, "{kernel}");
                let found = sliced::blocked_contains(kernel, k, &[None, Some(&[])], &ask, hash);
                assert_eq!(found, ask);
            }
        }
    }
}
