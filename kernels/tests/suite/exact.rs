//! Exact bitmaps and zone maps against one-line oracles.

use bloomrf_kernels::Zone;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::zone::ZoneAnswer;

use crate::seeded::Splitmix;

#[test]
fn bitmap_of_one_byte_agrees_with_a_scan_for_all_ranges() {
    let mut random = Splitmix::of("bitmap_of_one_byte_agrees_with_a_scan_for_all_ranges");
    for count in [0, 1, 2, 9, 100, 600] {
        let mut words = vec![0; bitmap::WORDS_8];
        let keys: Vec<u16> = (0..count).map(|_| random.below(256) as u16).collect();
        for &key in &keys {
            bitmap::insert(&mut words, key);
        }
        let mut list = keys.clone();
        list.sort_unstable();
        list.dedup();
        assert_eq!(bitmap::keys(&words).collect::<Vec<_>>(), list);
        for lo in 0..256 {
            for hi in 0..256 {
                let truth = keys.iter().any(|&key| lo <= key && key <= hi);
                assert_eq!(bitmap::any(&words, lo, hi), truth, "{lo}..={hi}");
                assert_eq!(bitmap::list_any(&list, lo, hi), truth, "{lo}..={hi}");
            }
        }
    }
}

#[test]
fn bitmap_of_two_bytes_agrees_with_a_scan() {
    let mut random = Splitmix::of("bitmap_of_two_bytes_agrees_with_a_scan");
    let mut words = vec![0; bitmap::WORDS_16];
    let mut keys: Vec<u16> = (0..40).map(|_| random.next() as u16).collect();
    keys.extend([0, 63, 64, u16::MAX]);
    for &key in &keys {
        bitmap::insert(&mut words, key);
    }
    for _ in 0..200_000 {
        let span = random.next() as u16 >> random.below(16);
        let lo = random.next() as u16;
        let hi = lo.saturating_add(span);
        let truth = keys.iter().any(|&key| lo <= key && key <= hi);
        assert_eq!(bitmap::any(&words, lo, hi), truth, "{lo}..={hi}");
    }
}

#[test]
fn keys_past_a_bitmap_are_doubt() {
    assert!(bitmap::any(&[0; bitmap::WORDS_8], 250, 256));
    assert!(bitmap::any(&[], 0, 0));
    assert!(!bitmap::any(&[0; bitmap::WORDS_8], 250, 255));
}

#[test]
fn zone_map_agrees_with_its_keys_for_all_ranges() {
    for keys in [&[][..], &[0], &[255], &[7, 9], &[0, 255], &[3, 3, 100, 50]] {
        let mut zone = Zone::default();
        let mut halves = [Zone::default(), Zone::default()];
        for (i, &key) in keys.iter().enumerate() {
            zone.insert(key);
            halves[i % 2].insert(key);
        }
        let [mut merged, other] = halves;
        merged.merge(&other);
        assert_eq!(merged, zone);
        for lo in 0..=255u64 {
            for hi in 0..=255 {
                let holds = |key: &u64| lo <= *key && *key <= hi;
                match zone.ask(lo, hi) {
                    ZoneAnswer::Absent => assert!(!keys.iter().any(holds), "{lo}..={hi}"),
                    ZoneAnswer::Present => assert!(keys.iter().any(holds), "{lo}..={hi}"),
                    ZoneAnswer::Between => {
                        let (min, max) = zone.bounds().unwrap();
                        assert!(min < lo && lo <= hi && hi < max, "{lo}..={hi}");
                    }
                }
            }
        }
    }
}
