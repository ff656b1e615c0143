//! Parts that were stored: those of real sets pass, everything else is refused or answers rightly.

use super::*;

struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        crate::hash::mix(self.0, 3)
    }
}

fn owned(parts: EliasFanoParts<&[u64]>) -> EliasFanoParts<Box<[u64]>> {
    EliasFanoParts {
        base: parts.base,
        bucket_max: parts.bucket_max,
        len: parts.len,
        low_bits: parts.low_bits,
        lows: parts.lows.into(),
        highs: parts.highs.into(),
    }
}

fn key_sets(random: &mut Random) -> Vec<Vec<u64>> {
    let mut sets = vec![vec![5], vec![0, u64::MAX], vec![u64::MAX], (0..700).collect()];
    for count in [1, 2, 9, 63, 64, 65, 257, 600] {
        for shift in [0, 1, 20, 44, 57] {
            let mut keys: Vec<u64> = (0..count).map(|_| random.draw() >> shift).collect();
            keys.sort_unstable();
            keys.dedup();
            sets.push(keys);
        }
    }
    sets
}

#[test]
fn sets_come_back_equal_from_their_parts() {
    for keys in key_sets(&mut Random(1)) {
        let set = EliasFano::new(&keys);
        let bounds = Some((keys[0], keys[keys.len() - 1]));
        assert_eq!(set.parts().words(), Some((set.parts().lows.len(), set.parts().highs.len())));
        assert_eq!(EliasFano::from_parts(owned(set.parts())).as_ref(), Ok(&set));
        assert_eq!(Exact::EliasFano(set).bounds(), bounds);
        if super::super::near::bytes_of(&keys) < 1 << 20 {
            let near = Near::new(&keys);
            assert_eq!(Near::from_parts(near.base(), near.words().into()).as_ref(), Ok(&near));
            assert_eq!(Exact::Near(near).bounds(), bounds);
        }
        if keys.len() <= LIST_MAX {
            let list = Exact::list(keys.as_slice().into());
            assert_eq!(list.as_ref().map(Exact::keys), Ok(keys));
            assert_eq!(list.map(|list| list.bounds()), Ok(bounds));
        }
    }
}

#[test]
fn every_flipped_bit_is_refused_or_another_whole_set() {
    let (mut refused, mut others) = (0, 0);
    for keys in key_sets(&mut Random(2)) {
        let parts = owned(EliasFano::new(&keys).parts());
        for bit in 0..(parts.lows.len() + parts.highs.len()) * 64 {
            let mut broken = parts.clone();
            match bit / 64 {
                word if word < parts.lows.len() => broken.lows[word] ^= 1 << (bit % 64),
                word => broken.highs[word - parts.lows.len()] ^= 1 << (bit % 64),
            }
            match EliasFano::from_parts(broken) {
                Err(_) => refused += 1,
                Ok(set) => {
                    // Low bits of a key changed: it is what building it from those keys makes.
                    let keys: Vec<u64> = set.keys().collect();
                    assert_eq!(EliasFano::new(&keys), set);
                    others += 1;
                }
            }
        }
    }
    assert!(refused > 1_000 && others > 1_000, "{refused} refused, {others} others");
}

#[test]
fn counts_that_do_not_fit_the_words_are_refused() {
    let keys: Vec<u64> = (0..300).map(|i| i * 1_000_003).collect();
    let parts = owned(EliasFano::new(&keys).parts());
    let refused = |parts: EliasFanoParts<Box<[u64]>>| EliasFano::from_parts(parts).unwrap_err();
    for len in [0, 299, 301, 1 << 32, u64::MAX] {
        refused(EliasFanoParts { len, ..parts.clone() });
    }
    for bucket_max in [0, parts.bucket_max - 1, parts.bucket_max + 1, u64::MAX] {
        refused(EliasFanoParts { bucket_max, ..parts.clone() });
    }
    for low_bits in [0, parts.low_bits - 1, parts.low_bits + 1, 63, 64, u32::MAX] {
        refused(EliasFanoParts { low_bits, ..parts.clone() });
    }
    let past = EliasFanoParts { base: u64::MAX - 5, ..parts.clone() };
    assert_eq!(refused(past), PartsError::Overflow);
    refused(EliasFanoParts { lows: Box::default(), ..parts.clone() });
    refused(EliasFanoParts { highs: Box::default(), ..parts });
}

#[test]
fn bitmaps_and_lists_that_no_keys_make_are_refused() {
    let near = |base, words: &[u64]| Near::from_parts(base, words.into());
    assert_eq!(near(1, &[]), Err(PartsError::Length));
    assert_eq!(near(1, &[2, 1]), Err(PartsError::Bits));
    assert_eq!(near(1, &[1, 0]), Err(PartsError::Bits));
    assert_eq!(near(u64::MAX - 1, &[0b101]), Err(PartsError::Overflow));
    assert!(near(u64::MAX - 2, &[0b101]).is_ok());
    assert_eq!(Exact::list([3, 3].into()), Err(PartsError::Order));
    assert_eq!(Exact::list([4, 3].into()), Err(PartsError::Order));
    assert_eq!(Exact::list((0..9).collect()), Err(PartsError::Length));
    assert_eq!(Exact::list(Box::default()).map(|list| list.bounds()), Ok(None));
}
