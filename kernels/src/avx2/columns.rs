//! Hot path: one pass over the keys.
//!
//! Smallest and largest key: the portable loop, which the compiler turns into vectors as good as
//! hand-written ones when it may use this set.
#![allow(unsafe_code)]

use crate::scalar;
use crate::token::Avx2;

macro_rules! bounds {
    ($name:ident, $key:ty) => {
        pub(crate) fn $name(_: Avx2, keys: &[$key]) -> Option<($key, $key)> {
            #[target_feature(enable = "avx2,bmi1,bmi2")]
            fn inner(keys: &[$key]) -> Option<($key, $key)> {
                scalar::columns::bounds(keys)
            }
            // SAFETY: the token proves the features.
            unsafe { inner(keys) }
        }
    };
}

bounds!(bounds_u8, u8);
bounds!(bounds_u16, u16);
bounds!(bounds_u32, u32);
bounds!(bounds_u64, u64);
