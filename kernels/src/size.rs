//! Called when a batch opens or closes, not per record.
//!
//! Sizes of filters: an open size W0 = 2^a * 15 words and all its divisors (folds by 2, 3, 5).

#[cfg(doc)]
use crate::scalar::blocked::BLOCK_WORDS;

/// Largest filter: bit addresses (`words * 64`) fit 32 bits.
pub const WORDS_MAX: u64 = (1 << 26) - 1;

/// The sizes that a filter may have, largest (W0) first: each divides the first, so that a filter
/// opened large can be folded to any of them.
///
/// ```
/// use bloomrf_kernels::{Kernel, SizeClasses, words};
///
/// let sizes = SizeClasses::new(64); // at most 64 KiB
/// let open = sizes.at_least(3_000, 1) as usize;
/// assert_eq!(open, 3_840);
///
/// // Fewer keys came than the filter was opened for: fold it to a fill of a fifth.
/// let mut filter = vec![0b11; open]; // 2 of 64 bits set
/// let ones = words::ones(Kernel::best(), &filter);
/// let factor = sizes.fold_factor(open, 1, ones, 0.2);
/// assert_eq!(factor, 6); // 1 - (62 / 64)^6 = 0.17
/// words::fold(Kernel::best(), &mut filter, factor);
/// assert_eq!(filter.len(), 640);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeClasses {
    words: Vec<u32>,
}

impl SizeClasses {
    /// Classes below `max_kib` KiB per column: W0 is the largest `2^a * 15` words that fit
    /// (1,024 KiB: 122,880 words, 960 KiB). `max_kib >= 1`.
    #[must_use]
    pub fn new(max_kib: u32) -> Self {
        let words_max = (u64::from(max_kib.max(1)) * 128).min(WORDS_MAX);
        let mut open = 15u64;
        let mut power = 0u32;
        while open * 2 <= words_max {
            open *= 2;
            power += 1;
        }
        let mut words: Vec<u32> =
            (0..=power).flat_map(|p| [1u32, 3, 5, 15].map(|odd| odd << p)).collect();
        words.sort_unstable_by(|a, b| b.cmp(a));
        SizeClasses { words }
    }

    /// All classes, largest first; every one divides the first.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The smallest class of at least `words` words that is a whole number of granules, or W0 where
    /// none is that large. A granule is the words that stay together when a filter is folded: a
    /// block ([`BLOCK_WORDS`]) of a blocked filter, else 1.
    #[must_use]
    pub fn at_least(&self, words: u64, granule: usize) -> u32 {
        let fits =
            |&&class: &&u32| u64::from(class) >= words && (class as usize).is_multiple_of(granule);
        self.words.iter().rev().find(fits).or(self.words.first()).copied().unwrap_or(1)
    }

    /// The largest factor to fold a filter of `words` words with `ones` set bits by, so that whole
    /// granules remain and the predicted fill `1 - (1 - fill)^f` stays within `fill_target`.
    /// 1: do not fold.
    #[must_use]
    pub fn fold_factor(&self, words: usize, granule: usize, ones: u64, fill_target: f64) -> usize {
        if words == 0 {
            return 1;
        }
        let clear = 1.0 - ones as f64 / (64.0 * words as f64);
        let within = |factor: usize| 1.0 - clear.powf(factor as f64) <= fill_target;
        // The divisors of a class are classes too, so no factor is missed.
        self.words
            .iter()
            .rev()
            .map(|&class| class as usize)
            .filter(|&class| words.is_multiple_of(class) && class.is_multiple_of(granule))
            .map(|class| words / class)
            .find(|&factor| within(factor))
            .unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_ceiling_is_960_kib_and_every_class_divides_it() {
        let classes = SizeClasses::new(1_024);
        assert_eq!(classes.words()[0], 122_880);
        assert_eq!(classes.words().last(), Some(&1));
        assert!(classes.words().iter().all(|class| 122_880 % class == 0));
        assert_eq!(classes.words().len(), 14 * 4);
        // The first step is 2x, the others at most 5:3 until the odd part is used up.
        for pair in classes.words().windows(2) {
            assert!(pair[0] > pair[1] && pair[0] <= 2 * pair[1], "{pair:?}");
        }
    }

    #[test]
    fn small_and_huge_ceilings_stay_within_their_limits() {
        for max_kib in [0, 1, 2, 3, 15, 16, 100, 4_096, u32::MAX] {
            let open = u64::from(SizeClasses::new(max_kib).words()[0]);
            assert!(open <= u64::from(max_kib.max(1)) * 128 && open <= WORDS_MAX);
            assert!(open >= 120 && open % (15 * 8) == 0, "{max_kib} KiB: {open}");
        }
        assert_eq!(SizeClasses::new(1).words()[0], 120);
    }

    #[test]
    fn at_least_is_the_smallest_class_that_suffices() {
        let classes = SizeClasses::new(1_024);
        let mut last = 0;
        for words in (0..200_000).step_by(7).chain([u64::MAX]) {
            let expected =
                classes.words().iter().rev().find(|&&c| u64::from(c) >= words).unwrap_or(&122_880);
            assert_eq!(classes.at_least(words, 1), *expected);
            let blocked = classes.at_least(words, 8);
            assert!(blocked >= *expected && blocked.is_multiple_of(8) && blocked >= last);
            last = blocked;
        }
    }

    #[test]
    fn an_empty_filter_folds_to_one_word_or_one_block() {
        let classes = SizeClasses::new(1_024);
        for &words in classes.words() {
            let words = words as usize;
            assert_eq!(classes.fold_factor(words, 1, 0, 0.2), words);
            if words.is_multiple_of(8) {
                assert_eq!(classes.fold_factor(words, 8, 0, 0.2), words / 8);
            }
        }
    }

    #[test]
    fn the_factor_is_the_largest_that_keeps_to_the_target() {
        let classes = SizeClasses::new(1_024);
        for words in [120usize, 1_920, 122_880] {
            for ones in [1, 64, words as u64, 9 * words as u64, 64 * words as u64] {
                let predicted = |factor: usize| {
                    1.0 - (1.0 - ones as f64 / (64.0 * words as f64)).powf(factor as f64)
                };
                for granule in [1, 8] {
                    let factor = classes.fold_factor(words, granule, ones, 0.25);
                    let naive = (1..=words / granule)
                        .filter(|f| words.is_multiple_of(f * granule) && predicted(*f) <= 0.25)
                        .max();
                    assert_eq!(factor, naive.unwrap_or(1), "{words} words, {ones} ones");
                }
            }
        }
    }
}
