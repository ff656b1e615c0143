//! Hot path: one call per column of a chunk.
//!
//! The calls through the token into the kernels of column work.
#![allow(unsafe_code)]

use super::columns_bounds as bounds;
use super::columns_valid as valid;
use crate::token::Avx512;

/// Defines `name(token, ...)`, which calls the kernel of that name.
macro_rules! through_token {
    ($($module:ident::$name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        pub(crate) fn $name(_: Avx512, $($argument: $type),*) -> $result {
            // SAFETY: the token proves the features.
            unsafe { $module::$name($($argument),*) }
        }
    )*};
}

through_token! {
    bounds::bounds_u8(keys: &[u8]) -> Option<(u8, u8)>;
    bounds::bounds_u16(keys: &[u16]) -> Option<(u16, u16)>;
    bounds::bounds_u32(keys: &[u32]) -> Option<(u32, u32)>;
    bounds::bounds_u64(keys: &[u64]) -> Option<(u64, u64)>;
    valid::keep_valid_u8(keys: &[u8], nulls: &[u64], out: &mut [u8]) -> usize;
    valid::keep_valid_u16(keys: &[u16], nulls: &[u64], out: &mut [u16]) -> usize;
    valid::keep_valid_u32(keys: &[u32], nulls: &[u64], out: &mut [u32]) -> usize;
    valid::keep_valid_u64(keys: &[u64], nulls: &[u64], out: &mut [u64]) -> usize;
    valid::keep_between_u32(keys: &[u32], low: u32, high: u32, out: &mut [u32]) -> usize;
    valid::keep_between_u64(keys: &[u64], low: u64, high: u64, out: &mut [u64]) -> usize;
}
