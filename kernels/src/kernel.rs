//! Called once, when a filter or a node is built: which kernel set runs.
//!
//! The doors (`blocked`, `bloomrf`, `words`, `sliced`, `columns` ...) take a [`Kernel`] and match
//! on it once per call of many keys, never per key. Every set gives the same bits and answers as
//! [`Kernel::Scalar`].

use std::fmt;

use crate::token::{Avx2, Avx512, Avx512Vbmi};

/// A kernel set, with the proof that this CPU can run it. Zero-size tokens: a `Kernel` is a byte.
///
/// ```
/// use bloomrf_kernels::Kernel;
///
/// let kernel = Kernel::best(); // or `from_env`, which lets BLOOMRF_KERNEL decide
/// assert_eq!(Kernel::named(kernel.name()), Ok(kernel));
/// assert_eq!(Kernel::all()[0], Kernel::Scalar); // runs everywhere
/// assert!(Kernel::named("sse9").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Portable code; the reference.
    Scalar,
    /// AVX2.
    Avx2(Avx2),
    /// AVX-512 without VBMI.
    Avx512(Avx512),
    /// AVX-512 with VBMI and GFNI.
    Avx512Vbmi(Avx512Vbmi),
}

/// Why a named kernel set was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelError {
    /// No set has that name.
    Unknown(String),
    /// This CPU lacks what the set needs.
    Missing(&'static str),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "{name:?} is no kernel set: expected {}", Kernel::NAMES)
            }
            Self::Missing(name) => write!(
                f,
                "this CPU cannot run the kernel set {name}; the best it has is {}",
                Kernel::best()
            ),
        }
    }
}

impl std::error::Error for KernelError {}

impl Kernel {
    /// The names that [`Kernel::named`] takes, for messages.
    pub const NAMES: &'static str = "auto, scalar, avx2, avx512 or avx512-no-vbmi";

    /// Environment variable that overrides the choice.
    pub const VARIABLE: &'static str = "BLOOMRF_KERNEL";

    /// The best set that this CPU can run.
    #[must_use]
    pub fn best() -> Self {
        if let Some(token) = Avx512Vbmi::detect() {
            Kernel::Avx512Vbmi(token)
        } else if let Some(token) = Avx512::detect() {
            Kernel::Avx512(token)
        } else if let Some(token) = Avx2::detect() {
            Kernel::Avx2(token)
        } else {
            Kernel::Scalar
        }
    }

    /// The set of that name: `auto` is the best, `avx512` the better of the two AVX-512 sets.
    ///
    /// # Errors
    /// Where there is no such set, or this CPU cannot run it.
    pub fn named(name: &str) -> Result<Self, KernelError> {
        match name {
            "auto" => Ok(Self::best()),
            "scalar" => Ok(Kernel::Scalar),
            "avx2" => Avx2::detect().map(Kernel::Avx2).ok_or(KernelError::Missing("avx2")),
            "avx512" => match Avx512Vbmi::detect() {
                Some(token) => Ok(Kernel::Avx512Vbmi(token)),
                None => Avx512::detect().map(Kernel::Avx512).ok_or(KernelError::Missing("avx512")),
            },
            "avx512-no-vbmi" => {
                Avx512::detect().map(Kernel::Avx512).ok_or(KernelError::Missing("avx512-no-vbmi"))
            }
            _ => Err(KernelError::Unknown(name.to_owned())),
        }
    }

    /// The set that `BLOOMRF_KERNEL` names, or the best one where it is not set.
    ///
    /// # Errors
    /// As [`Kernel::named`].
    pub fn from_env() -> Result<Self, KernelError> {
        match std::env::var_os(Self::VARIABLE) {
            None => Ok(Self::best()),
            Some(name) => Self::named(&name.to_string_lossy()),
        }
    }

    /// Every set that this CPU can run, the reference first: what tests and benches run.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Kernel::Scalar];
        all.extend(Avx2::detect().map(Kernel::Avx2));
        all.extend(Avx512::detect().map(Kernel::Avx512));
        all.extend(Avx512Vbmi::detect().map(Kernel::Avx512Vbmi));
        all
    }

    /// The proof of AVX2, where the set stands for at least that.
    #[must_use]
    pub fn avx2(self) -> Option<Avx2> {
        match self {
            Kernel::Scalar => None,
            Kernel::Avx2(token) => Some(token),
            Kernel::Avx512(token) => Some(token.avx2()),
            Kernel::Avx512Vbmi(token) => Some(token.avx512().avx2()),
        }
    }

    /// The proof of AVX-512, where the set stands for at least that.
    #[must_use]
    pub fn avx512(self) -> Option<Avx512> {
        match self {
            Kernel::Avx512(token) => Some(token),
            Kernel::Avx512Vbmi(token) => Some(token.avx512()),
            Kernel::Scalar | Kernel::Avx2(_) => None,
        }
    }

    /// Name, as [`Kernel::named`] takes it (the set with VBMI is `avx512`).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Scalar => "scalar",
            Kernel::Avx2(_) => "avx2",
            Kernel::Avx512(_) => "avx512-no-vbmi",
            Kernel::Avx512Vbmi(_) => "avx512",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_available_set_is_found_by_its_name() {
        for kernel in Kernel::all() {
            assert_eq!(Kernel::named(kernel.name()), Ok(kernel));
        }
        assert_eq!(Kernel::named("auto"), Ok(Kernel::best()));
        assert_eq!(Kernel::all().last(), Some(&Kernel::best()));
    }

    #[test]
    fn unknown_name_is_refused_with_the_names_there_are() {
        let error = Kernel::named("sse9").unwrap_err().to_string();
        assert!(error.contains("sse9") && error.contains(Kernel::NAMES), "{error}");
    }
}
