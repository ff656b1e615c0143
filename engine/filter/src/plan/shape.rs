//! A structure of a certain size: what it costs, and its rate at any load.
//!
//! Rates are those of the model that fits the structure: blocks are unevenly full, and the
//! textbook's formula would promise too little for them, several times too little at low rates.

use bloomrf_kernels::{Layers, blocked, params, split_block};

use super::{Keys, Structure, table};

/// A structure of a certain size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Which.
    pub structure: Structure,
    /// Bits of it, all told.
    pub bits: u64,
    /// Bits or layers of each item; 0 where there is no such number.
    pub k: u32,
    /// Distinct items that it is meant for.
    pub items: u64,
    /// What the items are.
    pub keys: Keys,
}

impl Shape {
    /// Bytes, in whole words of 64 bits.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits.div_ceil(64).saturating_mul(8)
    }

    /// Bits for each item that it is meant for.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.bits as f64 / self.items.max(1) as f64
    }

    /// The expected false-positive rate when `items` distinct ones are in it; `None` where there
    /// is no room for so many.
    ///
    /// Keys of a bloomRF are taken as spread evenly. What scales is taken to have begun with a
    /// link of the items that it is meant for, and to have grown by 2.
    #[must_use]
    pub fn fpr(&self, items: u64) -> Option<f64> {
        let words = usize::try_from(self.bits / 64).unwrap_or(usize::MAX);
        match self.structure {
            Structure::Classic => Some(classic(self.bits, self.k, items)),
            Structure::Counting => Some(classic(self.bits / 4, self.k, items)),
            Structure::Scaling => Some(self.chain_fpr(items)),
            Structure::Blocked if self.overflows(items, 512) => Some(1.0),
            Structure::Blocked => Some(params::fpr_blocked(self.k, words, items)),
            Structure::SplitBlock if self.overflows(items, 256) => Some(1.0),
            Structure::SplitBlock => Some(params::fpr_split_block(words, items)),
            Structure::BloomrfPoints => Some(self.bloomrf_fpr(items, 1)),
            Structure::BloomrfRanges => Some(self.bloomrf_fpr(items, self.keys.range_width)),
            Structure::Cuckoo => {
                let load = items as f64 / (self.bits / FINGERPRINT_BITS) as f64;
                let same = -1.0 / FINGERPRINTS;
                (load <= CUCKOO_LOAD * 1.001)
                    .then(|| -(2.0 * BUCKET_SLOTS * load * same.ln_1p()).exp_m1())
            }
            Structure::Bitmap => (items as f64 <= self.bits as f64).then_some(0.0),
            Structure::HashSet => Some(0.0),
        }
    }

    /// The rate that it is expected to have with the items that it is meant for.
    #[must_use]
    pub fn fpr_expected(&self) -> f64 {
        self.fpr(self.items).unwrap_or(1.0)
    }

    /// Cache lines that a lookup reads: of an item that is there, and on average of one that is
    /// not.
    #[must_use]
    pub fn lines(&self) -> (f64, f64) {
        let k = f64::from(self.k);
        let fpr = self.fpr_expected();
        match self.structure {
            Structure::Classic | Structure::Counting | Structure::Scaling => {
                (k, until_absent(fpr.powf(1.0 / k), self.k))
            }
            Structure::Blocked | Structure::SplitBlock | Structure::Bitmap => (1.0, 1.0),
            Structure::BloomrfPoints | Structure::BloomrfRanges => {
                let fpr = self.bloomrf_fpr(self.items, 1);
                (k, until_absent(fpr.powf(1.0 / k), self.k))
            }
            Structure::Cuckoo => (1.5, 2.0),
            Structure::HashSet if self.keys.item_bytes.is_some() => (3.0, 1.0),
            Structure::HashSet => (2.0, 1.0),
        }
    }

    /// Times as many items as it is meant for that double its rate, or fill it; `None` for what
    /// keeps to its rate however many come.
    #[must_use]
    pub fn margin(&self) -> Option<f64> {
        if self.structure.grows() {
            return None;
        }
        let most = 2.0 * self.fpr_expected();
        let within = |items: u64| self.fpr(items).is_some_and(|fpr| fpr <= most);
        let largest = largest(self.items.saturating_mul(16).max(16), within);
        Some(largest as f64 / self.items.max(1) as f64)
    }

    /// Its rate at each of `loads`, which are shares of the items that it is meant for.
    #[must_use]
    pub fn fpr_at(&self, loads: &[f64]) -> Vec<(f64, Option<f64>)> {
        let at = |load: f64| (load, self.fpr((self.items as f64 * load).round() as u64));
        loads.iter().map(|load| at(*load)).collect()
    }

    fn overflows(&self, items: u64, block_bits: u64) -> bool {
        let blocks = (self.bits / block_bits).max(1);
        items / blocks > 16 * block_bits
    }

    fn bloomrf_fpr(&self, items: u64, width: u64) -> f64 {
        let layers = params::layers_for(self.keys.key_bits, 0);
        let words = (self.bits / 64).saturating_sub(top_words(&layers));
        params::fpr(&layers, usize::try_from(words).unwrap_or(usize::MAX), items, width)
    }

    fn chain_fpr(&self, items: u64) -> f64 {
        let first = classic(self.bits, self.k, self.items);
        let (mut left, mut capacity, mut rate) = (items, self.items.max(1), first);
        let mut clear = 1.0;
        while left > 0 && capacity < 1 << 60 {
            let held = left.min(capacity);
            let bits = -(capacity as f64) * rate.ln() / LN_2_SQUARED;
            let k = (-rate.log2()).round().max(1.0) as u32;
            let full = if capacity == self.items {
                classic(self.bits, self.k, held)
            } else {
                classic(bits as u64, k, held)
            };
            clear *= 1.0 - full;
            left -= held;
            capacity = capacity.saturating_mul(2);
            rate *= CHAIN_SHARE;
        }
        1.0 - clear
    }
}

/// The largest number that passes, of those up to `most`; passing ends somewhere and stays ended.
pub(super) fn largest(most: u64, passes: impl Fn(u64) -> bool) -> u64 {
    let (mut within, mut beyond) = (0, most.saturating_add(1));
    while beyond - within > 1 {
        let middle = within + (beyond - within) / 2;
        if passes(middle) { within = middle } else { beyond = middle }
    }
    within
}

/// The share of bits that are set when each of `items` has set `k` of `bits`, to the power of k.
fn classic(bits: u64, k: u32, items: u64) -> f64 {
    let k = f64::from(k);
    let clear = k * items as f64 * (-1.0 / bits.max(2) as f64).ln_1p();
    (-clear.exp_m1()).powf(k)
}

/// Mean number of reads until one says no, when each says maybe to a share of `fill`.
fn until_absent(fill: f64, k: u32) -> f64 {
    (0..k.min(64)).map(|read| fill.powi(read as i32)).sum()
}

/// Words of an exact top.
pub(super) fn top_words(layers: &Layers) -> u64 {
    if layers.has_exact_top() { 1_024 } else { 0 }
}

/// Bytes of what a structure is made of.
pub(super) fn granule_bits(structure: Structure) -> u64 {
    match structure {
        Structure::Classic | Structure::Scaling => 1,
        Structure::Counting => 4,
        Structure::Blocked => 64 * blocked::BLOCK_WORDS as u64,
        Structure::SplitBlock => 64 * split_block::BLOCK_WORDS as u64,
        Structure::Cuckoo | Structure::BloomrfPoints | Structure::BloomrfRanges => 64,
        Structure::Bitmap | Structure::HashSet => 8,
    }
}

pub(super) use table::bits as table_bits;

/// Bits of a cuckoo filter's fingerprint.
pub(super) const FINGERPRINT_BITS: u64 = 16;
/// Fingerprints that differ; 0 is an empty slot.
pub(super) const FINGERPRINTS: f64 = 65_535.0;
/// Fingerprints of a bucket.
pub(super) const BUCKET_SLOTS: f64 = 4.0;
/// The share of slots up to which inserts are expected to find room.
pub(super) const CUCKOO_LOAD: f64 = 0.95;
/// The share of what is left of a chain's rate that each link takes, and leaves.
pub(super) const CHAIN_SHARE: f64 = 0.5;

const LN_2_SQUARED: f64 = std::f64::consts::LN_2 * std::f64::consts::LN_2;
