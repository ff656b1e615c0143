//! Called once, when a filter or a node is built: zero-size proofs of what the CPU has.
//!
//! A token can only be had from its `detect`, so whoever holds one may call the kernels of that
//! instruction set. Invariant: no token is made in any other way, and the CPU does not change.

/// Proof of AVX2, BMI1, BMI2 and POPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Avx2(());

/// Proof of AVX-512 F, BW, CD, DQ and VL, and of everything in [`Avx2`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Avx512(());

/// Proof of AVX-512 VBMI and GFNI, and of everything in [`Avx512`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Avx512Vbmi(());

impl Avx2 {
    /// A token, where the CPU and the operating system have what it stands for.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            return Some(Avx2(()));
        }
        None
    }
}

impl Avx512 {
    /// A token, where the CPU and the operating system have what it stands for.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            return Some(Avx512(()));
        }
        None
    }

    /// What it has proved besides.
    #[must_use]
    pub fn avx2(self) -> Avx2 {
        Avx2(())
    }
}

impl Avx512Vbmi {
    /// A token, where the CPU and the operating system have what it stands for.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if Avx512::detect().is_some()
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni")
        {
            return Some(Avx512Vbmi(()));
        }
        None
    }

    /// What it has proved besides.
    #[must_use]
    pub fn avx512(self) -> Avx512 {
        Avx512(())
    }
}
