//! Classic Bloom filters on every kernel set: the bits, the counts and the answers of the scalar
//! reference, one item at a time.

use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::{Kernel, classic, scalar};

use crate::seeded::Splitmix;

/// Every size up to three groups and a tail, about each chunk, and some of each remainder.
fn sizes() -> impl Iterator<Item = usize> {
    (0..100).chain(120..135).chain((135..2_000).step_by(67)).chain(505..=520).chain(1_020..=1_030)
}

/// Any items, among them extremes, repeated ones, and halves that are alike or 0.
fn items_of(random: &mut Splitmix, len: usize) -> Vec<Hash128> {
    const EXTREMES: [u64; 5] = [0, u64::MAX, 1 << 63, 1, 1 << 32];
    let mut items: Vec<Hash128> = Vec::new();
    for i in 0..len {
        let (lo, hi) = (random.next(), random.next());
        items.push(match i % 16 {
            3 => Hash128 { lo: EXTREMES[i / 16 % 5], hi: EXTREMES[i / 80 % 5] },
            5 => Hash128 { lo: i as u64, hi: 0 },
            7 => Hash128 { lo: 0, hi: i as u64 },
            11 => items[random.below(i as u64) as usize],
            _ => Hash128 { lo, hi },
        });
    }
    items
}

/// Bits: tiny, some thousands, now and then past what counts as L2; seldom whole words.
fn bits_of(random: &mut Splitmix, len: usize) -> u64 {
    match len % 8 {
        0 => 1 + random.below(70),
        1 if len % 64 == 1 => (1 << 23) + 1 + random.below(1 << 20),
        _ => 1 + random.below(64 + 16 * len as u64),
    }
}

fn bit(found: &[u64], i: usize) -> bool {
    found[i / 64] >> (i % 64) & 1 != 0
}

#[test]
fn every_kernel_sets_counts_and_finds_what_the_reference_does() {
    let mut random = Splitmix::of("every_kernel_sets_counts_and_finds_what_the_reference_does");
    for len in sizes() {
        let bits = bits_of(&mut random, len);
        let k =
            if len % 3 == 0 { 1 + random.below(64) as u32 } else { 1 + random.below(12) as u32 };
        let items = items_of(&mut random, len + 1);
        let asked: Vec<Hash128> = (0..len)
            .map(|i| match i % 3 {
                0 => items[i],
                _ => Hash128 { lo: random.next(), hi: random.next() },
            })
            .collect();
        let mut expected = vec![0; bits.div_ceil(64) as usize];
        let is_new = |item: &&Hash128| classic::insert(k, bits, &mut expected, **item);
        let count = items[1..].iter().filter(is_new).count() as u64;
        for kernel in Kernel::all() {
            // One word off the start of an allocation.
            let mut words = vec![0; expected.len() + 1];
            let new = classic::insert_many(kernel, k, bits, &mut words[1..], &items[1..]);
            assert!(words[1..] == expected, "{kernel}, k {k}, {bits} bits, {len} items");
            assert_eq!(new, count, "{kernel}, k {k}, {bits} bits, {len} items: new ones");

            let mut found = vec![u64::MAX; len.div_ceil(64) + 1];
            classic::contains_many(kernel, k, bits, &words[1..], &asked, &mut found);
            for (i, &item) in asked.iter().enumerate() {
                let holds = classic::contains(k, bits, &expected, item);
                assert_eq!(bit(&found, i), holds, "{kernel}, k {k}, {bits} bits, {len}, {item:?}");
            }
            assert!((len..found.len() * 64).all(|i| !bit(&found, i)), "{kernel}, {len} items");
        }
    }
}

/// Mapped as it is touched, a few pages of it.
fn sparse(bits: u64) -> Vec<u64> {
    vec![0; bits.div_ceil(64) as usize]
}

#[test]
fn filters_past_two_to_the_32_bits_are_the_same_on_every_kernel() {
    let mut random = Splitmix::of("filters_past_two_to_the_32_bits_are_the_same_on_every_kernel");
    const ROOM: u64 = 1 << 37;
    for bits in [(1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 33) + 77, (1 << 36) - 5, ROOM] {
        let items: Vec<Hash128> =
            (0..150).map(|_| Hash128 { lo: random.next(), hi: random.next() }).collect();
        let others: Vec<Hash128> =
            (0..150).map(|_| Hash128 { lo: random.next(), hi: random.next() }).collect();
        let mut places: Vec<u64> =
            items.iter().flat_map(|&item| classic::probes(7, bits, item)).collect();
        assert!(places.iter().all(|&place| place < bits));
        let halves = places.iter().filter(|&&place| place >= bits / 2).count();
        assert!((400..650).contains(&halves), "{halves} of 1050 in the upper half");
        places.sort_unstable();
        places.dedup();
        for kernel in Kernel::all() {
            let mut words = sparse(bits);
            let new = classic::insert_many(kernel, 7, bits, &mut words, &items);
            assert_eq!(new, 150, "{kernel}, {bits} bits");
            let is_set = |place: &&u64| words[(**place / 64) as usize] >> (**place % 64) & 1 == 1;
            assert_eq!(places.iter().filter(is_set).count(), places.len(), "{kernel}, {bits}");
            let (mut found, mut others_found) = ([0; 3], [0; 3]);
            classic::contains_many(kernel, 7, bits, &words, &items, &mut found);
            classic::contains_many(kernel, 7, bits, &words, &others, &mut others_found);
            assert_eq!(found, [u64::MAX, u64::MAX, (1 << 22) - 1], "{kernel}, {bits} bits");
            assert_eq!(others_found, [0; 3], "{kernel}, {bits} bits");
        }
    }
}

#[test]
fn a_probe_is_one_of_the_probes_and_the_same_for_ever() {
    // Part of the stored format: no change of code may change these.
    let item = Hash128 { lo: 0x0123_4567_89AB_CDEF, hi: 0xFEDC_BA98_7654_3210 };
    for bits in [1u64, 63, 64, 1_000, 958_505_838, 1 << 32, 1 << 40] {
        let probes: Vec<u64> = classic::probes(classic::K_MAX, bits, item).collect();
        assert_eq!(probes.len(), 64);
        for (i, &probe) in (0..).zip(&probes) {
            assert_eq!(probe, scalar::classic::probe(item, i, bits));
            assert!(probe < bits);
        }
    }
    let of = |bits| classic::probes(4, bits, item).collect::<Vec<u64>>();
    assert_eq!(of(1 << 40), GOLDEN_WIDE);
    assert_eq!(of(958_505_838), GOLDEN);
    let zero = classic::probes(4, 1 << 40, Hash128::default()).collect::<Vec<u64>>();
    assert_eq!(zero, GOLDEN_OF_ZERO);
}

const GOLDEN_WIDE: [u64; 4] = [481_294_319_131, 818_605_703_859, 52_921_987_573, 958_723_426_642];
const GOLDEN: [u64; 4] = [419_571_201, 713_624_418, 46_135_059, 835_772_881];
const GOLDEN_OF_ZERO: [u64; 4] = [0, 432_349_556_003, 971_415_982_662, 996_086_533_110];

#[test]
#[should_panic(expected = "do not hold 129 bits")]
fn words_of_another_size_are_refused() {
    classic::contains_many(Kernel::best(), 7, 129, &[0; 2], &[], &mut []);
}

#[test]
#[should_panic(expected = "expected 1 to 64")]
fn sixty_five_probes_are_refused() {
    classic::insert_many(Kernel::best(), 65, 64, &mut [0], &[]);
}

#[test]
#[should_panic(expected = "cannot answer for 65 keys")]
fn too_few_words_for_the_answers_are_refused() {
    classic::contains_many(Kernel::best(), 6, 64, &[0], &[Hash128::default(); 65], &mut [0]);
}
