//! Sizes of filters: an open size W0 = 2^a * 15 words and all its divisors (folds by 2, 3, 5).

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
        let _ = max_kib;
        todo!("kernels")
    }

    /// All classes, largest first; every one divides the first.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The smallest class of at least `words` words, or W0 where none is that large.
    #[must_use]
    pub fn at_least(&self, words: u64) -> u32 {
        let _ = words;
        todo!("kernels")
    }

    /// The factor to fold a filter of `words` words with `ones` set bits by, so that the predicted
    /// fill `1 - (1 - fill)^f` stays within `fill_target`. 1: do not fold.
    #[must_use]
    pub fn fold_factor(&self, words: usize, ones: u64, fill_target: f64) -> usize {
        let _ = (words, ones, fill_target);
        todo!("kernels")
    }
}
