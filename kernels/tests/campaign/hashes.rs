//! Hashes of many byte strings, frame digests, zone maps of 64 slots.

use bloomrf_kernels::zone::{self, ZoneMasks};
use bloomrf_kernels::{digest as door, hash};
use xxhash_rust::xxh3;

use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

/// The same code on every set, so its cases count once, on the first.
pub(crate) fn bytes(case: &mut Case<'_>) {
    let words = inputs::words(case, 2 * case.length);
    let values: Vec<[u8; 16]> = words
        .chunks_exact(2)
        .map(|pair| (u128::from(pair[0]) << 64 | u128::from(pair[1])).to_le_bytes())
        .collect();
    let seed = case.next();
    let expected: Vec<u64> =
        values.iter().map(|value| xxh3::xxh3_64_with_seed(value, seed)).collect();
    let values = Placed::new(case, &values, [0; 16]);
    let mut hashes = Placed::zeros(case, case.length);
    hash::bytes_many(values.get(), seed, hashes.get_mut());
    case.same(0, "hashes", hashes.get(), &expected);
    hashes.assert_guarded("hashes");
    case.count(0, case.length);
}

/// Frames of `length` bytes, and of a few more blocks; a case is a byte.
pub(crate) fn digest(case: &mut Case<'_>) {
    let blocks = if case.once_in(4) { 1_024 * case.below(20) } else { 0 };
    let length = case.length + blocks;
    let words = inputs::words(case, length / 8 + 1);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
    let expected = xxh3::xxh3_128(&bytes);
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let bytes = Placed::new(case, &bytes, 0xA5);
        case.same(set, "digest", &[door::xxh3_128(kernel, bytes.get())], &[expected]);
        // A word is the unit of the others.
        case.count(set, length / 8);
    }
}

/// A case is a slot.
pub(crate) fn zones(case: &mut Case<'_>) {
    for _ in 0..=case.length / 16 {
        let bits = 1 + case.below(64) as u32;
        let mut min: [u64; 64] = std::array::from_fn(|_| inputs::extreme(case, bits));
        let mut max: [u64; 64] = std::array::from_fn(|_| case.next() >> (64 - bits));
        for slot in 0..64 {
            (min[slot], max[slot]) = (min[slot].min(max[slot]), min[slot].max(max[slot]));
            if case.once_in(16) {
                (min[slot], max[slot]) = (u64::MAX, 0);
            }
        }
        let (lo, hi) = inputs::range(case, &[min, max].concat(), bits);
        let (lo, hi) = (lo.min(hi), lo.max(hi));
        let mut expected = ZoneMasks::default();
        let mut means = 0;
        for slot in (0..64).filter(|&slot| min[slot] <= max[slot]) {
            let is_inside = |bound: u64| (lo..=hi).contains(&bound);
            means |= 1 << slot;
            expected.absent |= u64::from(max[slot] < lo || hi < min[slot]) << slot;
            let present = is_inside(min[slot]) || is_inside(max[slot]);
            expected.present |= u64::from(present) << slot;
        }
        let sets = case.sets;
        for (set, &kernel) in sets.iter().enumerate() {
            let mut masks = zone::masks(kernel, &min, &max, lo, hi);
            masks.absent &= means;
            masks.present &= means;
            case.same(set, "zone masks", &[masks], &[expected]);
            case.count(set, 64);
        }
    }
}
