//! Hot path: no allocation, no lock, no syscall; work is linear in the rows that a question names.
//!
//! Bit-sliced groups: the same word of 64 filters transposed, so that one load answers one probe
//! for 64 batches.
//!
//! A *group* is 64 filters of one column and one shape. Its *rows* are u64s: row `word * 64 + bit`
//! holds, in bit b, the bit `bit` of word `word` of the filter in *slot* b. A group takes the
//! memory of its 64 filters. Up to eight groups are asked side by side; answers are [`Masks`].
//!
//! - [`build`] makes the rows (a memcpy's time), [`unbuild`] and [`extract`] make filters of them.
//! - [`run_plan`] asks bloomRF, [`exact_any`] exact bitmaps, [`blocked_contains`] blocked Bloom.
//!
//! Invariants: a slot that is not asked is never found, whatever stale bits its column holds; a
//! group or a row that is not there reads as all ones, "found". The answer of a slot is that of its
//! plain filter ([`RangePlan::run`](crate::RangePlan::run) and so on), bit for bit.
//!
//! ```
//! use bloomrf_kernels::{Kernel, RangePlan, bloomrf, params, sliced};
//!
//! let (kernel, layers) = (Kernel::best(), params::layers_for(64, 7));
//! let mut filters = vec![vec![0; 120]; 64];
//! for (slot, filter) in filters.iter_mut().enumerate() {
//!     bloomrf::insert_many(kernel, &layers, filter, &mut [], &[1_000 * slot as u64]);
//! }
//! let sources: [&[u64]; 64] = std::array::from_fn(|slot| &filters[slot][..]);
//! let mut rows = vec![0; 120 * 64];
//! sliced::build(kernel, &mut rows, &sources);
//!
//! let mut plan = RangePlan::default();
//! plan.build(&layers, 3_000, 3_000, 256);
//! let ask = [!0, 0, 0, 0, 0, 0, 0, 0];
//! let group = sliced::Group { hashed: &rows, top: &[] };
//! let found = sliced::run_plan(kernel, &plan, &[Some(group)], &ask);
//! assert_eq!(found[0], 1 << 3);
//! ```

mod blocked;
mod build;
mod exact;
mod transpose;
mod walk;

pub use blocked::blocked_contains;
#[cfg(target_arch = "x86_64")]
pub(crate) use blocked::contains_with;
#[cfg(target_arch = "x86_64")]
pub(crate) use build::{Source, TILE, TILE_WORDS, build_portable, store_line, unbuild_portable};
pub use build::{build, build_words, extract, unbuild, unbuild_words};
#[cfg(target_arch = "x86_64")]
pub(crate) use exact::{any_row, any_with};
pub use exact::{exact_any, summarise};
pub use walk::{Group, run_plan};
#[cfg(target_arch = "x86_64")]
pub(crate) use walk::{any_bit, run_with};

/// Filters in a group: one for each bit of a row.
pub const SLOTS: usize = 64;

/// Groups that one question asks at most.
pub const GROUPS: usize = 8;

/// Rows of a group of 2-byte bitmaps, and of the exact top of 4-byte columns.
pub const BITMAP_ROWS: usize = 65_536;

/// Rows of the summary that may follow the rows of such a bitmap: see [`summarise`].
pub const SUMMARY_ROWS: usize = 1_024;

/// Bit b of `masks[g]` stands for slot b of group g.
pub type Masks = [u64; GROUPS];
