//! Hot path: no allocation, no lock, no syscall in any of these.
//!
//! The portable kernels, one file per kind of filter. The reference that every other is held to.

pub mod bitmap;
pub mod blocked;
pub mod bloomrf;
pub mod classic;
pub mod columns;
mod count;
pub mod counting;
pub mod cuckoo;
pub(crate) mod gather;
pub mod split_block;
pub mod words;
pub mod zone;
