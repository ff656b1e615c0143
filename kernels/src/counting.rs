//! Hot path: no allocation, no lock, no syscall; one cache line per item.
//!
//! Doors of the blocked counting filter, from which items can be taken back: many at once, on any
//! kernel set.
//!
//! A filter is a slice of words, eight to a block (one cache line, best aligned to one) of 128
//! counters of 4 bits. An item has one counter in each of `k` of the eight lanes of one block. A
//! counter at 15 stands for 15 or more and is never counted down: a removal cannot hide an item
//! that is still owed, at the price of some items that are found for ever.
//!
//! # The rate
//!
//! The items of a block are binomial among the blocks, and each of them takes one of eight
//! windows and a counter of sixteen in each lane of it: [`fpr`] is the exact mean of that, by
//! inclusion and exclusion over the lanes that are asked. A block holds few items, so their number
//! varies, which costs more space the lower the rate is:
//!
//! | bits per item | 32 | 40 | 48 | 64 | 80 | 96 |
//! | --- | ---: | ---: | ---: | ---: | ---: | ---: |
//! | here, best k | 2.88 % | 1.39 % | 0.71 % | 0.22 % | 0.087 % | 0.039 % |
//! | counters anywhere | 2.16 % | 0.82 % | 0.31 % | 0.046 % | 0.007 % | 0.001 % |

use std::ops::AddAssign;

use crate::blocked::{BLOCK_WORDS, BLOCKS_MAX, K_MAX, K_MIN, answers};
use crate::hash::Hash128;
use crate::{Kernel, SizeError, scalar};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

pub use crate::scalar::counting::{contains, insert, remove};

/// Counters of a block.
pub const BLOCK_COUNTERS: u64 = 128;

/// What inserts did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Items that were provably not there before.
    pub new: u64,
    /// Counts that were not made, since the counter was at 15.
    pub lost: u64,
}

/// What removals did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Items that were counted down; the others were provably not there.
    pub done: u64,
    /// Of these, items that are not found any more.
    pub gone: u64,
    /// Of these, items with a counter at 15, which stays.
    pub stuck: u64,
}

impl AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.new += other.new;
        self.lost += other.lost;
    }
}

impl AddAssign for Taken {
    fn add_assign(&mut self, other: Self) {
        self.done += other.done;
        self.gone += other.gone;
        self.stuck += other.stuck;
    }
}

/// Counts items up, each in order.
///
/// # Panics
/// Unless `k` is 4..=8 and `blocks` a positive whole number of blocks, at most [`BLOCKS_MAX`].
///
/// ```
/// use bloomrf_kernels::hash::Hash128;
/// use bloomrf_kernels::{Kernel, counting};
///
/// let mut blocks = vec![0; 8 * 16];
/// let items = [Hash128 { lo: 1 << 60, hi: 7 }, Hash128 { lo: 3 << 60, hi: 9 }];
/// let added = counting::insert_many(Kernel::best(), 6, &mut blocks, &items);
/// assert_eq!(added.new, 2);
/// let mut refused = [0];
/// let twice = [items[0]; 2];
/// let taken = counting::remove_many(Kernel::best(), 6, &mut blocks, &twice, &mut refused);
/// assert_eq!((taken.done, refused), (1, [0b10]), "the second time it was provably not there");
/// assert!(counting::contains(6, &blocks, items[1]));
/// ```
pub fn insert_many(kernel: Kernel, k: u32, blocks: &mut [u64], items: &[Hash128]) -> Added {
    assert_shape(k, blocks);
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::counting::insert_many(token, k, blocks, items),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::counting::insert_many(token, k, blocks, items),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::counting::insert_many(token.avx512(), k, blocks, items)
        }
        _ => scalar::counting::insert_many(k, blocks, items),
    }
}

/// Asks for items: bit `i % 64` of `found[i / 64]` says whether `items[i]` may be there. Bits past
/// the last item are 0.
///
/// # Panics
/// As [`insert_many`], and unless `found` has a bit for every item.
pub fn contains_many(kernel: Kernel, k: u32, blocks: &[u64], items: &[Hash128], found: &mut [u64]) {
    assert_shape(k, blocks);
    let found = answers(found, items.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::counting::contains_many(token, k, blocks, items, found),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::counting::contains_many(token, k, blocks, items, found),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::counting::contains_many(token.avx512(), k, blocks, items, found)
        }
        _ => scalar::counting::contains_many(k, blocks, items, found),
    }
}

/// Counts items down, each in order; bit `i % 64` of `refused[i / 64]` says that `items[i]` was
/// provably not there when its turn came, so that nothing changed. Bits past the last are 0.
///
/// # Panics
/// As [`insert_many`], and unless `refused` has a bit for every item.
pub fn remove_many(
    kernel: Kernel,
    k: u32,
    blocks: &mut [u64],
    items: &[Hash128],
    refused: &mut [u64],
) -> Taken {
    assert_shape(k, blocks);
    let refused = answers(refused, items.len());
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::counting::remove_many(token, k, blocks, items, refused),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::counting::remove_many(token, k, blocks, items, refused),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => {
            avx512::counting::remove_many(token.avx512(), k, blocks, items, refused)
        }
        _ => scalar::counting::remove_many(k, blocks, items, refused),
    }
}

/// Adds the counters of `others`; sums past 15 stick at 15.
///
/// # Panics
/// Unless both have the same length.
pub fn merge(blocks: &mut [u64], others: &[u64]) {
    assert_eq!(blocks.len(), others.len(), "filters of one size");
    scalar::counting::merge(blocks, others);
}

/// How many counters are not 0.
#[must_use]
pub fn nonzero(blocks: &[u64]) -> u64 {
    scalar::counting::nonzero(blocks)
}

/// False-positive rate of this very filter for random items: the mean over blocks and windows of
/// the product of the fills of their lanes. Reads every word. No block: 1.
#[must_use]
pub fn fpr_now(k: u32, blocks: &[u64]) -> f64 {
    let blocks = blocks.as_chunks::<BLOCK_WORDS>().0;
    let of_block = |block: &[u64; BLOCK_WORDS]| {
        let fills = block.map(|word| f64::from(scalar::counting::marks(word).count_ones()) / 16.0);
        let of_window = |first| (first..first + k as usize).map(|i| fills[i % 8]).product::<f64>();
        (0..BLOCK_WORDS).map(of_window).sum::<f64>() / BLOCK_WORDS as f64
    };
    if blocks.is_empty() {
        return 1.0;
    }
    blocks.iter().map(of_block).sum::<f64>() / blocks.len() as f64
}

/// Blocks, and counters of each item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Blocks of 64 bytes.
    pub blocks: u64,
    /// Counters of each item.
    pub k: u32,
}

/// The smallest shape that holds `items` distinct items, at least one, at a rate of at most `fpr`.
///
/// # Errors
/// Where the rate is no probability, or out of reach with a kilobyte an item, or the blocks are
/// more than [`BLOCKS_MAX`].
///
/// ```
/// use bloomrf_kernels::counting;
///
/// let shape = counting::shape_for(1_000_000, 0.01)?;
/// assert_eq!(shape.blocks * 512 / 1_000_000, 43, "bits for each item");
/// assert!(counting::shape_for(1_000_000, 1e-15).is_err());
/// # Ok::<(), bloomrf_kernels::SizeError>(())
/// ```
pub fn shape_for(items: u64, fpr: f64) -> Result<Shape, SizeError> {
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(SizeError::NoRate { fpr });
    }
    let items = items.max(1);
    let most = items.saturating_mul(BLOCKS_PER_ITEM_MAX).min(BLOCKS_MAX);
    let mut best = None;
    for k in K_MIN..=K_MAX {
        let model = Model::of(k);
        if model.rate(most, items) > fpr {
            continue;
        }
        // Enough at the upper end, not below the lower one.
        let (mut low, mut high) = (1, most);
        while low < high {
            let middle = low + (high - low) / 2;
            let is_enough = model.rate(middle, items) <= fpr;
            (low, high) = if is_enough { (low, middle) } else { (middle + 1, high) };
        }
        best = best.into_iter().chain([Shape { blocks: high, k }]).min();
    }
    best.ok_or(if most == BLOCKS_MAX {
        SizeError::TooLarge { keys: items, blocks: items as f64 * BLOCKS_PER_ITEM_MAX as f64 }
    } else {
        SizeError::OutOfReach { fpr, k: K_MAX }
    })
}

/// The mean rate of filters of a shape that hold `items` distinct items, none taken back; `k` is
/// taken as the nearest of 4..=8. Below 1e-13 it is not exact.
#[must_use]
pub fn fpr(k: u32, blocks: u64, items: u64) -> f64 {
    Model::of(k.clamp(K_MIN, K_MAX)).rate(blocks.max(1), items)
}

/// A kilobyte an item: what would need more has asked for the wrong filter.
const BLOCKS_PER_ITEM_MAX: u64 = 16;

/// For each set of lanes that are asked: its sign, and the chance that an item of the block leaves
/// alone the counters that are asked in them.
struct Model(Vec<(f64, f64)>);

impl Model {
    fn of(k: u32) -> Self {
        let window = (1u32 << k) - 1;
        let of_lanes = |lanes: u32| {
            let shared = |first: u32| {
                let turned = (window << first | window << first >> 8) & 0xFF;
                (15.0f64 / 16.0).powi((lanes & turned).count_ones() as i32)
            };
            let sign = if lanes.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            (sign, (0..8).map(shared).sum::<f64>() / 8.0)
        };
        Model((0..=window).map(of_lanes).collect())
    }

    fn rate(&self, blocks: u64, items: u64) -> f64 {
        let alone = |spared: f64| {
            let of_one = ((spared - 1.0) / blocks as f64).ln_1p();
            (items as f64 * of_one).exp()
        };
        let sum: f64 = self.0.iter().map(|&(sign, spared)| sign * alone(spared)).sum();
        sum.clamp(0.0, 1.0)
    }
}

fn assert_shape(k: u32, blocks: &[u64]) {
    assert!((K_MIN..=K_MAX).contains(&k), "{k} counters per item: expected 4 to 8");
    assert!(
        !blocks.is_empty()
            && blocks.len().is_multiple_of(BLOCK_WORDS)
            && (blocks.len() / BLOCK_WORDS) as u64 <= BLOCKS_MAX,
        "{} words are no whole number of blocks (1 to 2^32 - 1 of 8 words)",
        blocks.len()
    );
}
