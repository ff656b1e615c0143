//! Presence filters for sets of integers: "is this key in it?", "is any key of this range in
//! it?"
//!
//! A filter says *no* (certain) or *maybe* (right but for a small rate that you choose). It
//! takes 8 to 32 bits a key, is built key by key without sorting, merges by OR, folds to a
//! smaller size after the fact, and answers thousands of questions a call on AVX2, AVX-512 or
//! portable code, with the same bits on each. Pure computation: no I/O, no threads, no clock.
//!
//! # Which part do you want?
//!
//! | you want | use |
//! | --- | --- |
//! | a filter that owns its memory, with checked errors | [`PointFilter`], [`RangeFilter`] |
//! | points, fast (10 bits a key: 1 %) | [`blocked`]: one cache line a key |
//! | points, to be read by Parquet (10 bits a key: 1.3 %) | [`split_block`], bit exact |
//! | points that can be taken back (43 bits an item: 1 %) | [`counting`] |
//! | the same at 1.2e-4 in 17 bits an item; may be full | [`cuckoo`] |
//! | points *and* ranges (16 to 32 bits a key) | [`bloomrf`], its shape [`Layers`] |
//! | never a false positive, where all keys are known | [`exact`]: list, bitmap, Elias-Fano |
//! | one question to many filters | [`RangePlan`]: hashed once, run on each |
//! | one question to 64 filters at a time | [`sliced`]: their bits, transposed |
//! | merge, fold, count | [`words`], [`blocked::fold`], [`split_block::fold`] |
//! | the size for a rate | [`blocked::blocks_for`], [`params::words_for`] |
//! | the rate of a size | [`params::fpr`], [`params::fpr_blocked`] |
//! | the rate of this very filter | [`blocked::fpr`], [`split_block::fpr`] |
//! | sizes that fold well | [`SizeClasses`] |
//! | layers for the questions that you are asked | [`params::layers_for`], [`advisor`] |
//! | smallest and largest key, to ask first | [`Zone`], [`zone::masks`] |
//! | rows of records to columns of keys | [`columns`] |
//! | a digest of those rows | [`digest`]: xxh3-128 |
//! | huge pages, aligned blocks, a ceiling | [`arena`] |
//! | a filter in a file that another process changes | `mapped` |
//! | hashes | [`hash`] |
//! | the definition of all that, in plain code | [`scalar`] |
//!
//! # From keys to answers
//!
//! Most doors are functions over slices of `u64` words that *you* own (a `Vec`, an [`arena`], a
//! mapped file), so that a filter can lie wherever you like.
//!
//! ```
//! use bloomrf_kernels::{Kernel, Layers, RangePlan, bloomrf, params, words};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Once: which code runs, and the shape of the filter: keys of 64 bits, and a seed.
//! let kernel = Kernel::from_env()?;
//! let layers = params::layers_for(64, 42);
//!
//! // A size: 10,000 keys at 16 bits each, or the words that a rate takes (here 0.1 % for ranges
//! // of 1,000 keys). An even number of words can be folded by 2 later.
//! let by_budget = 10_000 * 16 / 64;
//! let by_rate = params::words_for(&layers, 10_000, 1_000, 0.001)?;
//! let w = by_budget.max(by_rate).next_multiple_of(2);
//!
//! // Insert, here in two shares, as two threads would.
//! let keys: Vec<u64> = (0..10_000).map(|i| i * 1_000_000_007).collect();
//! let (mut hashed, mut share) = (vec![0; w], vec![0; w]);
//! bloomrf::insert_many(kernel, &layers, &mut hashed, &mut [], &keys[..5_000]);
//! bloomrf::insert_many(kernel, &layers, &mut share, &mut [], &keys[5_000..]);
//! words::merge(kernel, &mut hashed, &share);
//!
//! // Ask: bit `i % 64` of word `i / 64` is the answer to question i.
//! let mut found = vec![0; keys.len().div_ceil(64)];
//! bloomrf::contains_many(kernel, &layers, &hashed, &[], &keys, &mut found);
//! assert_eq!(words::ones(kernel, &found), 10_000, "what was inserted is found");
//! let ranges = [(999_999_000, 1_000_000_100), (5, 1_000)]; // inclusive ends
//! let mut found = [0];
//! bloomrf::range_many(kernel, &layers, &hashed, &[], &ranges, 256, &mut found);
//! assert_eq!(found[0] & 1, 1); // bit 0: keys[1] lies in the first range
//!
//! // The same question to many filters of one shape: hash once.
//! let mut plan = RangePlan::default();
//! plan.build(&layers, 999_999_000, 1_000_000_100, 256);
//! assert!(plan.run(&hashed, bloomrf_kernels::plan::TopBits::None).may_hold());
//!
//! // What to expect, before (the model) and after (set bits); half the size, if that will do.
//! assert!(params::fpr(&layers, w, 10_000, 1_000) <= 0.001);
//! let fill = words::ones(kernel, &hashed) as f64 / (64 * w) as f64;
//! assert!(fill < 0.5, "a fuller filter answers little");
//! words::fold(kernel, &mut hashed, 2); // as if built with w / 2 words, bit for bit
//!
//! // Store: the words, little-endian, and beside them what made the shape.
//! let stored: Vec<u8> = hashed.iter().flat_map(|word| word.to_le_bytes()).collect();
//! let widths: Vec<u8> = layers.hashed().iter().map(|layer| layer.width).collect();
//! let (bits, top, seed) = (layers.domain_bits(), layers.has_exact_top(), layers.seed());
//!
//! // Load, on whatever machine.
//! let layers = Layers::new(bits, &widths, top, seed)?;
//! let hashed: Vec<u64> = stored.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
//! bloomrf::contains_many(kernel, &layers, &hashed, &[], &keys[..64], &mut found);
//! assert_eq!(found[0], u64::MAX);
//! # Ok(()) }
//! ```
//!
//! # Shapes and units
//!
//! - **Keys** are unsigned integers that keep the order of the values that they stand for:
//!   [`columns::Map`] says how signed numbers and floats become such keys.
//! - **Ranges** have inclusive ends; one with its ends swapped is empty and never found.
//! - **A filter** is words: any number from 1 to 2^26 - 1 for a bloomRF ([`size::WORDS_MAX`];
//!   more work, on portable code), a multiple of [`blocked::BLOCK_WORDS`] or
//!   [`split_block::BLOCK_WORDS`] for the others. Sizes in words unless a name says `bytes`.
//! - **The exact top**: a bloomRF of 32-bit keys may keep the top 16 bits exactly, in a second
//!   slice of 1,024 words (`top`); elsewhere that slice is empty. [`params::layers_for`] gives
//!   one to 32-bit keys: a /8 or /16 of IPv4 addresses is then answered without an error.
//! - **Answers** to many questions are bits, least significant first; bits past the last are 0.
//! - **Budgets**: `probes_max` is how many hashed words one range may read. A range that may
//!   take more is "maybe" everywhere, and costs nothing.
//! - **A filter is its bits and its shape**: kind, `k` or layers, seed, number of words. Keep
//!   them together: the bits alone mean nothing, and asked with another shape they answer
//!   nonsense, false negatives included.
//!
//! # Kernel sets
//!
//! Every door takes a [`Kernel`]: the set of code that runs, chosen once. [`Kernel::best`] asks
//! the CPU; [`Kernel::from_env`] lets the variable `BLOOMRF_KERNEL` decide (`auto`, `scalar`,
//! `avx2`, `avx512`, `avx512-no-vbmi`); [`Kernel::all`] is for tests. A set that the CPU lacks
//! cannot be made (its [`token`] comes from detection alone), so no call is unsafe. Off x86-64
//! there is `scalar`.
//!
//! # What is guaranteed
//!
//! - **No false negative**: a key that was inserted is found by every lookup that covers it,
//!   after any merges and folds, with the shape that it was inserted with. Every doubt (a word
//!   that is not there, a key outside the domain, a range over its budget) reads as "maybe".
//! - **The same bits on every set**: filters built by one are read by every other; the bits are
//!   little-endian words, and golden copies of them are part of the tests.
//! - **`fold(build(w), f) == build(w / f)`**, bit for bit, for any `f` that divides the words
//!   (the blocks, of blocked filters).
//! - **A panic is the caller's mistake**: slices of the wrong length, a `k` out of range. Each
//!   function names its own. What a question asks for, and what bits a filter holds, never
//!   panics. Sizes and shapes that come from outside are answered by errors ([`LayersError`],
//!   [`SizeError`], [`KernelError`], [`FilterError`], [`columns::GatherError`]).
//! - **Not guaranteed**: anything against somebody who knows the seed and picks keys on purpose
//!   (the hashes are fast, not cryptographic); a low rate where questions lie *next to* stored
//!   keys, the weak spot of bloomRF. [`exact`] has no such spot.
//!
//! # What things cost
//!
//! Figures, by machine, against other crates: `docs/PERFORMANCE.md` of the repository, made by
//! `cargo xtask bench kernels`. In words: a point in a blocked filter reads one line, whatever
//! `k`; that is computation while the filter fits the L2 cache and a memory access after that,
//! so ask in calls of hundreds of keys (lookups are interleaved and prefetched) and put large
//! filters on huge pages ([`arena`]). A bloomRF insert sets one word a layer; keys in order
//! share most of them and cost a fraction. A point that is not there ends at the first layer
//! that says so, mostly the first or second. A range reads a few words a layer. Nothing
//! allocates except what returns a `Vec`, a `Box` or a filter that owns its words.
//!
//! # Sources
//!
//! All code is written for this crate, from these texts; none is ported.
//!
//! - **bloomRF**: Mößner, Riegger, Bernhardt, Petrov, *bloomRF: On Performing Range-Queries in
//!   Bloom-Filters with Piecewise-Monotone Hash Functions and Prefix Hashing*, EDBT 2023,
//!   [arXiv 2207.04789][brf]. Taken: dyadic levels hashed by prefix, words that keep
//!   neighbouring intervals in order, the search along two paths, an exact bitmap on top,
//!   layers of different widths. Different: one address formula for every layer (word by
//!   `mulhi` of 32 hash bits, the bits in it rotated by six others), so that any number of
//!   words will do and folding is exact; the exact top is a slice of its own; no memory
//!   segments and no replicated hashes (narrower layers take their place); the model of the
//!   rates and the layer sets are ours ([`params`], [`advisor`]), tested against counted rates.
//! - **Split-block Bloom filter**: [Apache Parquet, *Bloom Filter* specification][sbbf].
//!   [`split_block`] is bit exact: salts, block choice, xxHash64 with seed 0 over plain bytes.
//!   Different: sizes need not be powers of two (the specification asks for none). [`blocked`]
//!   is our own relative of it: a block of 512 bits, 4 to 8 of its 64-bit lanes used, fewer
//!   false positives for one line either way.
//! - **XXH3**: Collet, [*XXH3 algorithm* in the xxHash specification][xxh]. [`digest`] is
//!   XXH3-128, seed 0, unchanged; only how many bytes are worked on at once is ours.
//! - **Elias-Fano**: Elias, *Efficient Storage and Retrieval by Content and Address of Static
//!   Files*, JACM 1974; Fano, *On the Number of Bits Required to Implement an Associative
//!   Memory*, MIT 1971. Taken: low bits packed, high bits in unary. Different: keys count from
//!   the smallest; zeros are found by samples 256 apart.
//!
//! [brf]: https://arxiv.org/abs/2207.04789
//! [sbbf]: https://github.com/apache/parquet-format/blob/master/BloomFilter.md
//! [xxh]: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
#![deny(unsafe_code)]

pub mod advisor;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod ahead;
pub mod answer;
pub mod arena;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod block_model;
pub mod blocked;
pub mod bloomrf;
pub mod classic;
pub mod columns;
pub mod counting;
pub mod cuckoo;
pub mod cycles;
mod descent;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub mod digest;
pub mod exact;
pub mod hash;
pub mod kernel;
pub mod layers;
#[cfg(target_os = "linux")]
pub mod mapped;
mod model;
pub mod owned;
pub mod params;
pub mod plan;
pub mod scalar;
pub mod size;
pub mod sliced;
pub mod split_block;
pub mod token;
pub mod words;
pub mod zone;

pub use answer::Answer;
pub use block_model::SizeError;
pub use kernel::{Kernel, KernelError};
pub use layers::{Layer, Layers, LayersError};
pub use owned::{FilterError, PointFilter, RangeFilter};
pub use plan::{RangePlan, Step};
pub use size::SizeClasses;
pub use zone::Zone;
