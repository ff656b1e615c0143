//! Exact sets from parts that were stored: checked, never trusted.
//!
//! What passes here equals what building the set from its keys would have made, bit for bit, so no
//! later question can read past an end, loop or overflow. Cost: one pass over the parts; only what
//! the set itself holds is allocated.

use super::{EliasFano, Exact, LIST_MAX, Near};

/// Parts that no set of keys would have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartsError {
    /// Words or keys are missing, or there are more than the counts say or the form allows.
    Length,
    /// Keys are not ascending, or one is there twice.
    Order,
    /// Bits are set that no key would set, or the form is not the one that the keys get.
    Bits,
    /// A key past 64 bits.
    Overflow,
}

impl std::fmt::Display for PartsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Length => "the parts are not as long as their counts say",
            Self::Order => "the keys are not ascending and distinct",
            Self::Bits => "bits are set that no key sets",
            Self::Overflow => "a key is past 64 bits",
        })
    }
}

impl std::error::Error for PartsError {}

/// What an [`EliasFano`] is made of, without its samples, which follow from `highs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EliasFanoParts<W> {
    /// The smallest key.
    pub base: u64,
    /// High part of the largest key's offset.
    pub bucket_max: u64,
    /// Number of keys.
    pub len: u64,
    /// Bits of the low parts.
    pub low_bits: u32,
    /// Low parts, packed.
    pub lows: W,
    /// High parts in unary.
    pub highs: W,
}

impl<W> EliasFanoParts<W> {
    /// Words of `lows` and `highs` by the counts; `None` where no set has such counts. To be
    /// asked before memory is taken for them.
    ///
    /// ```
    /// use bloomrf_kernels::exact::EliasFanoParts;
    ///
    /// let parts = EliasFanoParts {
    ///     base: 7, bucket_max: 150, len: 100, low_bits: 10, lows: (), highs: (),
    /// };
    /// assert_eq!(parts.words(), Some((16, 4)));
    /// assert_eq!(EliasFanoParts { len: u64::MAX, ..parts }.words(), None);
    /// ```
    #[must_use]
    pub fn words(&self) -> Option<(usize, usize)> {
        // A set has at most 2 (n + 1) buckets; positions in `highs` are 32 bits wide.
        let bits = self.len.checked_add(self.bucket_max)?.checked_add(1)?;
        let highs = bits.div_ceil(64);
        let is_set = self.len > 0 && highs < 1 << 26 && self.low_bits < 64;
        let lows = (u128::from(self.len) * u128::from(self.low_bits)).div_ceil(64);
        is_set.then_some((usize::try_from(lows).ok()?, highs as usize))
    }
}

impl Exact {
    /// A list of stored keys.
    ///
    /// # Errors
    /// Unless they are ascending, distinct and at most [`LIST_MAX`].
    pub fn list(keys: Box<[u64]>) -> Result<Self, PartsError> {
        if keys.len() > LIST_MAX {
            return Err(PartsError::Length);
        }
        let is_sorted = keys.is_sorted_by(|a, b| a < b);
        if is_sorted { Ok(Exact::List(keys)) } else { Err(PartsError::Order) }
    }

    /// The smallest and the largest key.
    #[must_use]
    pub fn bounds(&self) -> Option<(u64, u64)> {
        match self {
            Exact::List(keys) => Some((*keys.first()?, *keys.last()?)),
            Exact::Near(near) => near.bounds(),
            Exact::EliasFano(keys) => keys.bounds(),
        }
    }
}

impl Near {
    /// A stored set: bit i of `words` is the key `base + i`.
    ///
    /// # Errors
    /// Unless the first bit is set (`base` is a key), the last word holds a key, and every key is
    /// one of 64 bits.
    pub fn from_parts(base: u64, words: Box<[u64]>) -> Result<Self, PartsError> {
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return Err(PartsError::Length);
        };
        if first & 1 == 0 || *last == 0 {
            return Err(PartsError::Bits);
        }
        let offset = words.len() as u64 * 64 - 1 - u64::from(last.leading_zeros());
        base.checked_add(offset).ok_or(PartsError::Overflow)?;
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        Ok(Near { base, len, words })
    }

    /// The smallest key: that of the first bit.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The bits.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The smallest and the largest key.
    fn bounds(&self) -> Option<(u64, u64)> {
        let zeros = u64::from(self.words.last()?.leading_zeros());
        let offset = (self.words.len() as u64 * 64 - 1).checked_sub(zeros)?;
        Some((self.base, self.base.checked_add(offset)?))
    }
}

impl EliasFano {
    /// A stored set.
    ///
    /// # Errors
    /// Unless the parts are those that the keys they tell would be split into.
    pub fn from_parts(parts: EliasFanoParts<Box<[u64]>>) -> Result<Self, PartsError> {
        let (lows, highs) = parts.words().ok_or(PartsError::Length)?;
        if (lows, highs) != (parts.lows.len(), parts.highs.len()) {
            return Err(PartsError::Length);
        }
        let EliasFanoParts { base, bucket_max, len, low_bits, lows, highs } = parts;
        let (ones_bits, low_count) = (len + bucket_max + 1, len * u64::from(low_bits));
        let ones: u64 = highs.iter().map(|word| u64::from(word.count_ones())).sum();
        if ones != len || has_bit_from(&highs, ones_bits - 1) || has_bit_from(&lows, low_count) {
            return Err(PartsError::Bits);
        }
        if bucket_max > u64::MAX >> low_bits {
            return Err(PartsError::Overflow);
        }
        let set = EliasFano {
            base,
            bucket_max,
            len: len as usize,
            low_bits,
            lows,
            highs,
            samples: Box::default(),
        };
        let last = set.checked_last()?;
        let right_bits = (last / len).checked_ilog2().unwrap_or(0);
        if right_bits != low_bits || last >> low_bits != bucket_max {
            return Err(PartsError::Bits);
        }
        Ok(set.with_samples())
    }

    /// What the set is made of.
    #[must_use]
    pub fn parts(&self) -> EliasFanoParts<&[u64]> {
        EliasFanoParts {
            base: self.base,
            bucket_max: self.bucket_max,
            len: self.len as u64,
            low_bits: self.low_bits,
            lows: &self.lows,
            highs: &self.highs,
        }
    }

    /// The offset of the last key, where all keys ascend from offset 0 and fit 64 bits.
    fn checked_last(&self) -> Result<u64, PartsError> {
        let mut last = None;
        for offset in self.offsets() {
            match last {
                None if offset != 0 => return Err(PartsError::Bits),
                Some(last) if last >= offset => return Err(PartsError::Order),
                _ => last = Some(offset),
            }
        }
        let last = last.ok_or(PartsError::Length)?;
        self.base.checked_add(last).ok_or(PartsError::Overflow)?;
        Ok(last)
    }

    /// The smallest and the largest key.
    fn bounds(&self) -> Option<(u64, u64)> {
        let at = self.len.checked_sub(1)?;
        Some((self.base, self.base + (self.bucket_max << self.low_bits | self.low(at))))
    }
}

/// Whether a bit at `position` or behind it is set.
fn has_bit_from(words: &[u64], position: u64) -> bool {
    let (word, bit) = ((position / 64) as usize, position % 64);
    match words.get(word..) {
        Some([first, rest @ ..]) => first >> bit != 0 || rest.iter().any(|&word| word != 0),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
