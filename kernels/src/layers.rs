//! Layer sets of a bloomRF: which dyadic levels are hashed, and how wide each layer is.

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
    /// The widths reach beyond the key's domain.
    PastDomain {
        /// Where the widths end.
        ceiling: u32,
        /// Bits of the key.
        domain_bits: u8,
    },
    /// An exact top layer needs a 32-bit domain and widths that sum to 16.
    ExactTop {
        /// Where the widths end instead of at level 16.
        ceiling: u32,
    },
}

impl Layers {
    /// A layer set for keys of `domain_bits` bits; with `exact_top`, a plain bitmap of the top
    /// 16 bits lies on top of the hashed layers (32-bit keys; widths must sum to 16).
    pub fn new(
        domain_bits: u8,
        widths: &[u8],
        exact_top: bool,
        seed: u64,
    ) -> Result<Self, LayersError> {
        let _ = (domain_bits, widths, exact_top, seed);
        todo!("kernels")
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
}
