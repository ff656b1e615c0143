//! Zone maps: smallest and largest key of a column of a batch.

/// Min and max of the keys seen; empty until the first one. `K` is `u64` for keys of up to eight
/// bytes, `u128` for 16-byte columns and for the first 16 bytes of longer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone<K> {
    bounds: Option<(K, K)>,
}

impl<K> Default for Zone<K> {
    fn default() -> Self {
        Zone { bounds: None }
    }
}

/// What a zone map alone says about an inclusive range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneAnswer {
    /// No key can lie in the range.
    Absent,
    /// A key lies in it for certain: the range holds the minimum or the maximum.
    Present,
    /// The range lies strictly between them: ask the filter.
    Between,
}

impl<K: Copy + Ord> Zone<K> {
    /// Widens the zone to hold `key`.
    #[inline]
    pub fn insert(&mut self, key: K) {
        self.bounds = Some(match self.bounds {
            None => (key, key),
            Some((lo, hi)) => (lo.min(key), hi.max(key)),
        });
    }

    /// Widens the zone to hold everything `other` holds.
    pub fn merge(&mut self, other: &Self) {
        if let Some((lo, hi)) = other.bounds {
            self.insert(lo);
            self.insert(hi);
        }
    }

    /// Smallest and largest key, or `None` where no key was seen.
    #[must_use]
    pub fn bounds(&self) -> Option<(K, K)> {
        self.bounds
    }

    /// What the zone says about `lo..=hi`; an empty range (`lo > hi`) is absent.
    #[must_use]
    pub fn ask(&self, lo: K, hi: K) -> ZoneAnswer {
        match self.bounds {
            None => ZoneAnswer::Absent,
            Some(_) if lo > hi => ZoneAnswer::Absent,
            Some((min, max)) if hi < min || lo > max => ZoneAnswer::Absent,
            Some((min, max)) if (lo <= min && min <= hi) || (lo <= max && max <= hi) => {
                ZoneAnswer::Present
            }
            Some(_) => ZoneAnswer::Between,
        }
    }
}
