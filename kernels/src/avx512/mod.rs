//! Hot path: kernels of the two AVX-512 sets; registers in `lanes`, one file per operation.
//!
//! Only code that holds an [`Avx512`](crate::token::Avx512) or
//! [`Avx512Vbmi`](crate::token::Avx512Vbmi) token gets in here. What needs a pointer lies in
//! `lanes` and `columns_lanes`, and in the rings of `blocked` and `split_block`; all other kernels
//! are safe functions with `#[target_feature]`.

pub(crate) mod blocked;
pub(crate) mod bloomrf;
pub(crate) mod classic;
pub(crate) mod columns;
mod columns_bounds;
pub(crate) mod columns_lanes;
mod columns_valid;
pub(crate) mod counting;
pub(crate) mod digest;
pub(crate) mod gather;
mod gather_fields;
mod gather_transpose;
mod hash;
pub(crate) mod lanes;
pub(crate) mod sliced;
pub(crate) mod sliced_rows;
pub(crate) mod split_block;
pub(crate) mod words;
pub(crate) mod zone;
