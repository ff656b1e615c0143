//! Hot path: no allocation, no lock, no syscall; one pass over the keys.
//!
//! Keys without the nulls, keys without the NaNs; the order is kept.

#[cfg(target_arch = "x86_64")]
use crate::avx512;
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
            assert!(nulls.len() >= keys.len().div_ceil(64), "fewer null bits than keys");
            let out = &mut out[..keys.len()];
            match kernel {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(token) => avx512::columns::$name(token, keys, nulls, out),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512Vbmi(token) => {
                    avx512::columns::$name(token.avx512(), keys, nulls, out)
                }
                _ => scalar::columns::keep_valid(keys, nulls, out),
            }
        }
    };
}

keep_valid!(keep_valid_u8, u8);
keep_valid!(keep_valid_u16, u16);
keep_valid!(keep_valid_u32, u32);
keep_valid!(keep_valid_u64, u64);

macro_rules! drop_nan {
    ($name:ident, $key:ty, $infinity:expr, $between:ident) => {
        /// Copies the keys of a float column that are numbers to the start of `out`; returns how
        /// many, and whether any was a NaN: a key below that of -inf or above that of +inf. What
        /// lies behind them in `out` is undefined.
        ///
        /// # Panics
        /// If `out` is shorter than `keys`.
        pub fn $name(kernel: Kernel, keys: &[$key], out: &mut [$key]) -> (usize, bool) {
            // The keys of the infinities: the sign flipped, all bits flipped.
            const HIGH: $key = $infinity | 1 << (<$key>::BITS - 1);
            const LOW: $key = !HIGH;
            let out = &mut out[..keys.len()];
            let kept = match kernel {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(token) => avx512::columns::$between(token, keys, LOW, HIGH, out),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512Vbmi(token) => {
                    avx512::columns::$between(token.avx512(), keys, LOW, HIGH, out)
                }
                _ => scalar::columns::keep_between(keys, LOW, HIGH, out),
            };
            (kept, kept < keys.len())
        }
    };
}

drop_nan!(drop_nan_u32, u32, f32::INFINITY.to_bits(), keep_between_u32);
drop_nan!(drop_nan_u64, u64, f64::INFINITY.to_bits(), keep_between_u64);
