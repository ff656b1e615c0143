//! Every form of a set against its keys, on sets of every character.

use super::*;

/// Every form of the same keys, whatever is the smallest.
fn forms(keys: &[u64]) -> Vec<Exact> {
    let mut forms = vec![Exact::EliasFano(EliasFano::new(keys))];
    if near::bytes_of(keys) < 1 << 20 {
        forms.push(Exact::Near(Near::new(keys)));
    }
    forms.extend(Exact::smallest(keys, usize::MAX));
    forms
}

fn any(keys: &[u64], lo: u64, hi: u64) -> bool {
    keys.iter().any(|&key| lo <= key && key <= hi)
}

struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        crate::hash::mix(self.0, 3)
    }
}

fn sorted(mut keys: Vec<u64>) -> Vec<u64> {
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Key sets of every character: empty, one, the ends of the domain, dense, spread, in clusters.
fn sets(random: &mut Random) -> Vec<Vec<u64>> {
    let mut sets = vec![
        vec![],
        vec![0],
        vec![u64::MAX],
        vec![0, u64::MAX],
        (0..9).collect(),
        (0..2_000).collect(),
        (u64::MAX - 2_000..=u64::MAX).collect(),
        (0..1_000).map(|i| i * 1_000_003).collect(),
    ];
    for count in [1usize, 2, 9, 63, 64, 65, 257, 1_000, 5_000] {
        for shift in [0, 1, 20, 32, 44, 57] {
            sets.push(sorted((0..count).map(|_| random.draw() >> shift).collect()));
        }
        let centres: Vec<u64> = (0..4).map(|_| random.draw()).collect();
        let clustered = (0..count).map(|i| centres[i % 4].saturating_add(random.draw() % 5_000));
        sets.push(sorted(clustered.collect()));
    }
    sets
}

#[test]
fn every_form_gives_its_keys_back() {
    for keys in sets(&mut Random(1)) {
        for form in forms(&keys) {
            assert_eq!(form.keys(), keys, "{}", form.name());
            assert_eq!(form.len(), keys.len());
            assert_eq!(form.is_empty(), keys.is_empty());
        }
    }
}

#[test]
fn every_form_answers_as_the_keys_do() {
    let seed = std::env::var("SEED").map_or(2, |s| s.parse().unwrap());
    println!("SEED={seed}");
    let mut random = Random(seed);
    for keys in sets(&mut random) {
        let forms = forms(&keys);
        let mut ends = vec![0, 1, u64::MAX - 1, u64::MAX];
        for _ in 0..60 {
            if let Some(&key) = keys.get(random.draw() as usize % keys.len().max(1)) {
                let off = random.draw() % (1 << (random.draw() % 24));
                ends.extend([key, key.saturating_sub(off), key.saturating_add(off)]);
            }
            ends.push(random.draw());
        }
        for &lo in &ends {
            for _ in 0..4 {
                let hi = ends[random.draw() as usize % ends.len()];
                for (lo, hi) in [(lo, hi), (lo, lo), (hi, lo)] {
                    let expected = any(&keys, lo, hi);
                    for form in &forms {
                        let name = form.name();
                        let count = keys.len();
                        assert_eq!(form.any(lo, hi), expected, "{name} {count} {lo}..={hi}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_range_of_a_small_window_is_right() {
    let mut random = Random(3);
    for base in [0, 1 << 40, u64::MAX - 199] {
        for count in [1, 5, 40] {
            let keys = sorted((0..count).map(|_| base + random.draw() % 200).collect());
            for form in forms(&keys) {
                for lo in 0..200 {
                    for hi in lo..200 {
                        let (lo, hi) = (base + lo, base + hi);
                        assert_eq!(form.any(lo, hi), any(&keys, lo, hi), "{}", form.name());
                    }
                }
            }
        }
    }
}

#[test]
fn smallest_form_is_the_smallest_and_keeps_to_its_limit() {
    for keys in sets(&mut Random(4)) {
        let Some(smallest) = Exact::smallest(&keys, usize::MAX) else { panic!("some form") };
        if keys.len() > LIST_MAX {
            for form in forms(&keys) {
                assert!(smallest.bytes() <= form.bytes(), "{}", form.name());
            }
        }
        let bytes = smallest.bytes();
        assert_eq!(Exact::smallest(&keys, bytes).as_ref(), Some(&smallest));
        if bytes > 0 {
            assert_eq!(Exact::smallest(&keys, bytes - 1), None);
        }
    }
}

#[test]
fn elias_fano_takes_two_bits_and_the_logarithm_of_the_mean_gap() {
    let mut random = Random(5);
    for gap_bits in [4u32, 10, 14, 30] {
        let keys = sorted((0..65_536u64).map(|_| random.draw() >> (48 - gap_bits)).collect());
        let set = Exact::smallest(&keys, usize::MAX).unwrap();
        let bits = 8.0 * set.bytes() as f64 / keys.len() as f64;
        assert!(bits <= f64::from(gap_bits) + 2.6, "{gap_bits}: {bits} bits a key");
    }
}

#[test]
#[should_panic(expected = "sorted and distinct")]
fn unsorted_keys_are_our_own_mistake() {
    let _ = Exact::smallest(&[3, 3], 100);
}
