//! Called when a batch opens or closes, not per record.
//!
//! Sizes of filters: an open size W0 = 2^a * 15 words and all its divisors (folds by 2, 3, 5).

use crate::scalar::blocked::BLOCK_WORDS;

/// Largest filter: bit addresses (`words * 64`) fit 32 bits.
pub const WORDS_MAX: u64 = (1 << 26) - 1;

/// The sizes that a filter may have, largest (W0) first.
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

    /// The smallest class of at least `words` words, or W0 where none is that large.
    #[must_use]
    pub fn at_least(&self, words: u64) -> u32 {
        self.smallest(words, 1)
    }

    /// The factor to fold a filter of `words` words with `ones` set bits by, so that the predicted
    /// fill `1 - (1 - fill)^f` stays within `fill_target`. 1: do not fold.
    #[must_use]
    pub fn fold_factor(&self, words: usize, ones: u64, fill_target: f64) -> usize {
        self.factor(words, 1, ones, fill_target)
    }

    /// [`SizeClasses::at_least`] for a blocked filter: a whole number of blocks.
    #[must_use]
    pub fn at_least_blocked(&self, words: u64) -> u32 {
        self.smallest(words, BLOCK_WORDS)
    }

    /// [`SizeClasses::fold_factor`] for a blocked filter, which folds by whole blocks and keeps
    /// at least one.
    #[must_use]
    pub fn fold_factor_blocked(&self, words: usize, ones: u64, fill_target: f64) -> usize {
        self.factor(words, BLOCK_WORDS, ones, fill_target)
    }

    /// The smallest class of at least `words` that is a multiple of `unit`. W0 always is one.
    fn smallest(&self, words: u64, unit: usize) -> u32 {
        let fits =
            |&&class: &&u32| u64::from(class) >= words && (class as usize).is_multiple_of(unit);
        self.words.iter().rev().find(fits).or(self.words.first()).copied().unwrap_or(1)
    }

    /// The largest factor to a class that divides `words`, is a multiple of `unit` and keeps to
    /// the target. The divisors of a class are classes too, so no factor is missed.
    fn factor(&self, words: usize, unit: usize, ones: u64, fill_target: f64) -> usize {
        if words == 0 {
            return 1;
        }
        let clear = 1.0 - ones as f64 / (64.0 * words as f64);
        let within = |factor: usize| 1.0 - clear.powf(factor as f64) <= fill_target;
        self.words
            .iter()
            .rev()
            .map(|&class| class as usize)
            .filter(|&class| words.is_multiple_of(class) && class.is_multiple_of(unit))
            .map(|class| words / class)
            .find(|&factor| within(factor))
            .unwrap_or(1)
    }
}
