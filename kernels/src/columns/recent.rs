//! Hot path: no allocation after `new`, no lock, no syscall; one slot read and written per key.
//!
//! Recent keys: a direct-mapped cache that leaves out keys that were inserted a moment ago.
//!
//! Sound for one filter only: reset it whenever the keys go to another filter (another batch,
//! another partial). Every slot holds a key, an empty one a key that lives in another slot. The
//! loop is scalar on every set: gathers and scatters measured no faster.

use crate::kernel::Kernel;

/// Slots by default: 2^12, which keeps a column's cache in the first or second level.
const BITS_DEFAULT: u32 = 12;

macro_rules! recent {
    ($name:ident, $key:ty, $factor:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Debug)]
        pub struct $name {
            slots: Box<[$key]>,
        }

        impl $name {
            /// An empty cache of `2^bits` slots.
            ///
            /// # Panics
            /// If `bits` is not in 1..=24.
            #[must_use]
            pub fn new(bits: u32) -> Self {
                assert!((1..=24).contains(&bits), "a cache of 2^{bits} slots");
                let mut cache = Self { slots: vec![0; 1 << bits].into_boxed_slice() };
                cache.reset();
                cache
            }

            /// Forgets all keys: before keys of another batch or for another partial.
            pub fn reset(&mut self) {
                self.slots.fill(0); // slot of 0 is 0, so 0 lives in no other
                let shift = self.shift();
                let other = (1..).find(|&key| Self::slot(key, shift) != 0);
                self.slots[0] = other.unwrap_or(1);
            }

            /// Copies the keys that are not in the cache to the start of `out`, remembers them,
            /// and returns how many; the order is kept. A key is left out only if it came since
            /// the last reset. What lies behind them in `out` is undefined.
            ///
            /// # Panics
            /// If `out` is shorter than `keys`.
            pub fn keep_new(&mut self, kernel: Kernel, keys: &[$key], out: &mut [$key]) -> usize {
                let _ = kernel;
                let out = &mut out[..keys.len()];
                let shift = self.shift();
                let mut kept = 0;
                for &key in keys {
                    let slot = &mut self.slots[Self::slot(key, shift)];
                    out[kept] = key;
                    kept += usize::from(*slot != key);
                    *slot = key;
                }
                kept
            }

            fn shift(&self) -> u32 {
                <$key>::BITS - self.slots.len().trailing_zeros()
            }

            #[inline]
            fn slot(key: $key, shift: u32) -> usize {
                (key.wrapping_mul($factor) >> shift) as usize
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(BITS_DEFAULT)
            }
        }
    };
}

recent!(RecentKeys, u32, 0x9E37_79B1, "Recent 4-byte keys: 4 bytes a slot.");
recent!(RecentWideKeys, u64, 0x9E37_79B1_85EB_CA87, "Recent 6- and 8-byte keys: 8 bytes a slot.");
