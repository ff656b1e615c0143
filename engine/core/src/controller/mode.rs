//! How far the cluster trusts the filter node.

use std::fmt;
use std::str::FromStr;

/// `FERMIHDI_BLOOMRF_MODE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The node is not asked.
    Off,
    /// Asked, and its answer only recorded as `would_exclude`.
    #[default]
    Passive,
    /// Excluded batches are not read.
    Active,
}

/// A mode that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bloomrf mode {0:?} does not exist: use off, passive or active")]
pub struct ModeError(String);

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        match text {
            "off" => Ok(Self::Off),
            "passive" => Ok(Self::Passive),
            "active" => Ok(Self::Active),
            _ => Err(ModeError(text.to_owned())),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Passive => "passive",
            Self::Active => "active",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_reads_back_as_written_and_another_word_is_named() {
        for mode in [Mode::Off, Mode::Passive, Mode::Active] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        let error = "Active".parse::<Mode>().unwrap_err().to_string();
        assert_eq!(error, "bloomrf mode \"Active\" does not exist: use off, passive or active");
    }
}
