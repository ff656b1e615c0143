//! Hot path: kernels of the AVX2 set; registers in `lanes`, one file per operation.
//!
//! Only code that holds an [`Avx2`](crate::token::Avx2) token gets in here. What needs a pointer
//! lies in `lanes` and `columns_lanes`, and in the rings of `blocked` and `split_block`; all other
//! kernels are safe functions with `#[target_feature]`.

pub(crate) mod blocked;
pub(crate) mod bloomrf;
pub(crate) mod classic;
pub(crate) mod columns;
pub(crate) mod columns_lanes;
pub(crate) mod counting;
pub(crate) mod digest;
pub(crate) mod gather;
mod gather_fields;
mod hash;
pub(crate) mod lanes;
pub(crate) mod sliced;
pub(crate) mod split_block;
pub(crate) mod words;
pub(crate) mod zone;
