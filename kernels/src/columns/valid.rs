//! Hot path: no allocation, no lock, no syscall; one pass over the keys.
//!
//! Keys without the nulls, keys without the NaNs; the order is kept.

use crate::kernel::Kernel;
use crate::scalar;

macro_rules! keep_valid {
    ($name:ident, $key:ty) => {
        /// Copies the keys whose bit of `nulls` (bit `i % 64` of word `i / 64` for key `i`) is
        /// clear to the start of `out`; returns how many. What lies behind them in `out` is
        /// undefined.
        ///
        /// # Panics
        /// If `out` is shorter than `keys`, or `nulls` has not a bit per key.
        pub fn $name(kernel: Kernel, keys: &[$key], nulls: &[u64], out: &mut [$key]) -> usize {
            let _ = kernel;
            assert!(nulls.len() >= keys.len().div_ceil(64), "fewer null bits than keys");
            scalar::columns::keep_valid(keys, nulls, &mut out[..keys.len()])
        }
    };
}

keep_valid!(keep_valid_u8, u8);
keep_valid!(keep_valid_u16, u16);
keep_valid!(keep_valid_u32, u32);
keep_valid!(keep_valid_u64, u64);

macro_rules! drop_nan {
    ($name:ident, $key:ty, $infinity:expr, $bits:literal) => {
        /// Copies the keys of a float column that are numbers to the start of `out`; returns how
        /// many, and whether any was a NaN: a key below that of -inf or above that of +inf. What
        /// lies behind them in `out` is undefined.
        ///
        /// # Panics
        /// If `out` is shorter than `keys`.
        pub fn $name(kernel: Kernel, keys: &[$key], out: &mut [$key]) -> (usize, bool) {
            let _ = kernel;
            const HIGH: $key = $infinity | 1 << ($bits - 1);
            let kept = scalar::columns::keep_between(keys, !HIGH, HIGH, &mut out[..keys.len()]);
            (kept, kept < keys.len())
        }
    };
}

drop_nan!(drop_nan_u32, u32, f32::INFINITY.to_bits(), 32);
drop_nan!(drop_nan_u64, u64, f64::INFINITY.to_bits(), 64);
