//! False positives counted, and how many the model expects.

use std::fmt;

/// What was measured of a shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// Questions that nothing in the filter answers.
    pub(super) negatives: u64,
    /// Of which so many were found all the same.
    pub(super) found: u64,
    /// So many the model expects; 0 of exact kinds.
    pub(super) expected: f64,
}

impl Rate {
    /// Measured over expected; 1 where nothing is expected and nothing was found.
    pub(super) fn ratio(&self) -> f64 {
        if self.expected == 0.0 && self.found == 0 {
            1.0
        } else {
            self.found as f64 / self.expected
        }
    }

    /// Whether it is off the model by more than 5 % and more than 4 sigma; of an exact kind,
    /// whether anything was found. Nothing measured is off as well.
    pub(super) fn is_off(&self) -> bool {
        if self.negatives == 0 {
            return true;
        }
        let share = (self.expected / self.negatives as f64).min(1.0);
        let sigma = (self.expected * (1.0 - share)).sqrt();
        let off = (self.found as f64 - self.expected).abs();
        off > (0.05 * self.expected).max(4.0 * sigma)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rate { negatives, found, expected } = self;
        let (rate, model) = (*found as f64 / *negatives as f64, expected / *negatives as f64);
        write!(f, "{found} of {negatives} negatives found ({rate:.3e}), model {model:.3e}, ")?;
        write!(f, "measured / model {:.3}", self.ratio())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_per_cent_or_four_sigma_are_kept_to() {
        let rate = |found, expected| Rate { negatives: 10_000_000, found, expected };
        assert!(!rate(104_900, 100_000.0).is_off());
        assert!(rate(105_100, 100_000.0).is_off());
        assert!(rate(94_900, 100_000.0).is_off());
        assert!(!rate(139, 100.0).is_off());
        assert!(rate(141, 100.0).is_off());
        assert!(!rate(0, 0.0).is_off());
        assert!(rate(1, 0.0).is_off());
        assert!(Rate::default().is_off());
    }
}
