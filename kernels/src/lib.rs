//! Pure computation of the filter node: words and hashes in, bits out.
//!
//! No I/O, no threads, no clock, no crate of this workspace. The functions of [`scalar`] are the
//! reference for ever: every faster kernel is compared with them bit for bit.
//!
//! A filter is a slice of `u64` words that somebody else owns (an arena, a file, a `Vec`) plus a
//! small `Copy` description of its shape. Keys are unsigned integers that keep the order of the
//! values they stand for; how values become keys is the business of the engine's schema.
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
pub mod columns;
mod descent;
pub mod digest;
pub mod exact;
pub mod hash;
pub mod kernel;
pub mod layers;
mod model;
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
pub use plan::{RangePlan, Step};
pub use size::SizeClasses;
pub use zone::Zone;
