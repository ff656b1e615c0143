//! Hot path: no allocation, no lock, no syscall; one pass over the keys.
//!
//! Smallest and largest key of an array, for the zone map.

use crate::kernel::Kernel;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

macro_rules! bounds {
    ($name:ident, $key:ty) => {
        /// Smallest and largest of `keys`; `None` where there are none.
        #[must_use]
        pub fn $name(kernel: Kernel, keys: &[$key]) -> Option<($key, $key)> {
            match kernel {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2(token) => avx2::columns::$name(token, keys),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(token) => avx512::columns::$name(token, keys),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512Vbmi(token) => avx512::columns::$name(token.avx512(), keys),
                _ => scalar::columns::bounds(keys),
            }
        }
    };
}

bounds!(bounds_u8, u8);
bounds!(bounds_u16, u16);
bounds!(bounds_u32, u32);
bounds!(bounds_u64, u64);

/// Smallest and largest of the 16-byte cells at `offset` of each record of `rows`, read as
/// big-endian numbers; cells whose `null_bit` is set (as in [`Field`](super::Field)) are left
/// out. `None` where no cell is left.
///
/// # Panics
/// If `rows` is not a whole number of records, or the cell or the null bit lies outside a record.
#[must_use]
pub fn bounds_wide(
    kernel: Kernel,
    rows: &[u8],
    record_bytes: usize,
    offset: usize,
    null_bit: Option<u16>,
) -> Option<(u128, u128)> {
    let _ = kernel;
    assert!(offset <= record_bytes && record_bytes - offset >= 16, "a cell past its record");
    assert!(null_bit.is_none_or(|bit| usize::from(bit / 8) < record_bytes), "a null bit past it");
    assert!(rows.len().is_multiple_of(record_bytes), "{} bytes are not whole records", rows.len());
    scalar::columns::bounds_wide(rows, record_bytes, offset, null_bit)
}
