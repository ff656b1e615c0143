//! Hot path: no allocation, no lock, no syscall; a set is `Copy` and at most 9 layers long.
//!
//! Layer sets of a bloomRF: which dyadic levels are hashed, and how wide each layer is.
//!
//! Invariants, held by construction: the layers start at level 0 and leave no gap, so the two-path
//! search never steps over a level; every shift by `start + width - 1` stays below 64; an exact
//! top begins where the hashed layers end.

use crate::hash::layer_salt;

/// Most layers of one filter: eight 64-bit lanes are one 512-bit register.
pub const LAYERS_MAX: usize = 8;

/// One layer: words of `2^(width-1)` adjacent intervals at level `start`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Level of this layer: an interval holds `2^start` keys.
    pub start: u8,
    /// Levels that the layer covers; `1..=7`. A word holds `2^(width-1)` of its intervals.
    pub width: u8,
    /// Salt of the layer's hash, from the seed and the layer's index.
    pub salt: u64,
}

/// A checked, ordered set of layers, bottom first, starting at level 0 without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layers {
    domain_bits: u8,
    count: u8,
    exact_top: bool,
    seed: u64,
    layers: [Layer; LAYERS_MAX],
}

/// Why a layer set was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayersError {
    /// No layer, or more than [`LAYERS_MAX`].
    Count(usize),
    /// A width outside `1..=7`.
    Width(u8),
    /// A domain of no bits, or of more than 64.
    Domain(u8),
    /// The widths reach beyond the key's domain.
    PastDomain {
        /// Where the widths end.
        ceiling: u32,
        /// Bits of the key.
        domain_bits: u8,
    },
    /// An exact top layer needs a 32-bit domain and widths that sum to 16.
    ExactTop {
        /// Where the widths end (16 is right).
        ceiling: u32,
        /// Bits of the key (32 is right).
        domain_bits: u8,
    },
}

impl std::fmt::Display for LayersError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Count(count) => {
                write!(f, "{count} layers where 1 to {LAYERS_MAX} were expected")
            }
            Self::Width(width) => write!(f, "layer width {width} is outside 1 to 7"),
            Self::Domain(bits) => write!(f, "a key of {bits} bits is outside 1 to 64"),
            Self::PastDomain { ceiling, domain_bits } => {
                write!(f, "the layers reach level {ceiling}, past a key of {domain_bits} bits")
            }
            Self::ExactTop { ceiling, domain_bits } => write!(
                f,
                "an exact top needs keys of 32 bits and layers that end at level {EXACT_LEVEL}; \
                 these are keys of {domain_bits} bits and layers that end at level {ceiling}"
            ),
        }
    }
}

impl std::error::Error for LayersError {}

impl Layers {
    /// A layer set for keys of `domain_bits` bits; with `exact_top`, a plain bitmap of the top
    /// 16 bits lies on top of the hashed layers (32-bit keys; widths must sum to 16).
    ///
    /// `widths` are levels (bits of the key), bottom layer first; [`crate::params::layers_for`]
    /// knows a good set for each domain.
    ///
    /// # Errors
    /// What cannot be searched without losing ranges: see [`LayersError`].
    ///
    /// ```
    /// use bloomrf_kernels::{Layers, LayersError};
    ///
    /// let layers = Layers::new(64, &[7, 7, 7, 7, 4, 4, 2, 2], false, 42)?;
    /// assert_eq!(layers.hashed()[1].start, 7); // an interval of the second layer is 2^7 keys
    /// let error = Layers::new(16, &[7, 7, 7], false, 42);
    /// assert_eq!(error, Err(LayersError::PastDomain { ceiling: 21, domain_bits: 16 }));
    /// # Ok::<(), LayersError>(())
    /// ```
    pub fn new(
        domain_bits: u8,
        widths: &[u8],
        exact_top: bool,
        seed: u64,
    ) -> Result<Self, LayersError> {
        if domain_bits == 0 || domain_bits > 64 {
            return Err(LayersError::Domain(domain_bits));
        }
        if widths.is_empty() || widths.len() > LAYERS_MAX {
            return Err(LayersError::Count(widths.len()));
        }
        let mut layers = [Layer::default(); LAYERS_MAX];
        let mut start = 0u8;
        for (index, (layer, &width)) in (0u32..).zip(layers.iter_mut().zip(widths)) {
            if !(1..=WIDTH_MAX).contains(&width) {
                return Err(LayersError::Width(width));
            }
            *layer = Layer { start, width, salt: layer_salt(seed, index) };
            start += width;
        }
        let ceiling = u32::from(start);
        if start > domain_bits {
            return Err(LayersError::PastDomain { ceiling, domain_bits });
        }
        // A gap between the hashed layers and the top would lose ranges that part inside it.
        if exact_top && (domain_bits != 32 || start != EXACT_LEVEL) {
            return Err(LayersError::ExactTop { ceiling, domain_bits });
        }
        // `widths.len()` is at most LAYERS_MAX.
        Ok(Layers { domain_bits, count: widths.len() as u8, exact_top, seed, layers })
    }

    /// The hashed layers, bottom (level 0) first.
    #[must_use]
    pub fn hashed(&self) -> &[Layer] {
        &self.layers[..usize::from(self.count)]
    }

    /// Bits of the keys.
    #[must_use]
    pub fn domain_bits(&self) -> u8 {
        self.domain_bits
    }

    /// Whether the top 16 bits are kept as an exact bitmap (1,024 words after the hashed ones).
    #[must_use]
    pub fn has_exact_top(&self) -> bool {
        self.exact_top
    }

    /// The seed that the salts come from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The largest key of the domain.
    #[inline]
    #[must_use]
    pub fn key_max(&self) -> u64 {
        u64::MAX >> (64 - u32::from(self.domain_bits))
    }
}

impl Layer {
    /// Levels below a whole word of this layer; `start + width - 1`.
    #[inline]
    #[must_use]
    pub fn word_level(&self) -> u32 {
        u32::from(self.start) + u32::from(self.width) - 1
    }

    /// The last interval of a word (`2^(width-1) - 1`): the mask of offsets.
    #[inline]
    #[must_use]
    pub fn offset_max(&self) -> u64 {
        (1 << (self.width - 1)) - 1
    }
}

/// The exact top as a layer: 65,536 intervals at level 16, 64 in a word; its words are not hashed.
pub(crate) const EXACT_TOP: Layer = Layer { start: EXACT_LEVEL, width: WIDTH_MAX, salt: 0 };

const EXACT_LEVEL: u8 = 16;
const WIDTH_MAX: u8 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_and_counts_outside_the_limits_are_refused() {
        assert_eq!(Layers::new(64, &[], false, 1), Err(LayersError::Count(0)));
        assert_eq!(Layers::new(64, &[1; 9], false, 1), Err(LayersError::Count(9)));
        assert_eq!(Layers::new(64, &[7, 0], false, 1), Err(LayersError::Width(0)));
        assert_eq!(Layers::new(64, &[8], false, 1), Err(LayersError::Width(8)));
        assert_eq!(Layers::new(0, &[1], false, 1), Err(LayersError::Domain(0)));
        assert_eq!(Layers::new(65, &[1], false, 1), Err(LayersError::Domain(65)));
    }

    #[test]
    fn layers_past_the_domain_are_refused() {
        assert!(Layers::new(14, &[7, 7], false, 1).is_ok());
        let error = LayersError::PastDomain { ceiling: 14, domain_bits: 13 };
        assert_eq!(Layers::new(13, &[7, 7], false, 1), Err(error));
    }

    #[test]
    fn an_exact_top_refuses_layers_that_leave_a_gap_below_it() {
        assert!(Layers::new(32, &[7, 4, 2, 2, 1], true, 1).is_ok());
        for widths in [&[7, 4, 2, 2][..], &[7, 4, 2, 2, 2], &[7, 7, 1]] {
            let ceiling = widths.iter().map(|&w| u32::from(w)).sum();
            let error = LayersError::ExactTop { ceiling, domain_bits: 32 };
            assert_eq!(Layers::new(32, widths, true, 1), Err(error), "{widths:?}");
        }
        let error = LayersError::ExactTop { ceiling: 16, domain_bits: 64 };
        assert_eq!(Layers::new(64, &[7, 4, 2, 2, 1], true, 1), Err(error));
    }

    #[test]
    fn layers_lie_on_each_other_without_gaps_and_have_salts_of_their_own() {
        let layers = Layers::new(64, &[7, 7, 7, 7, 4, 4, 2, 2], false, 9).unwrap();
        let starts: Vec<_> = layers.hashed().iter().map(|l| l.start).collect();
        assert_eq!(starts, [0, 7, 14, 21, 28, 32, 36, 38]);
        let mut salts: Vec<_> = layers.hashed().iter().map(|l| l.salt).collect();
        salts.sort_unstable();
        salts.dedup();
        assert_eq!(salts.len(), 8);
        assert!(layers.hashed().iter().all(|l| l.word_level() < 64));
    }
}
