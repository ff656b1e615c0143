//! Who and what a frame, a lookup or a file speaks of.

use std::fmt;
use std::str::FromStr;

/// A batch of records. Never reused within a cluster.
pub type BatchId = u64;

/// One storage cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterId(pub u128);

/// Hash of a canonical schema: any difference in version, column names, types, offsets, byte
/// order, padding and null rules, or key-map version gives another one, and means "no filter".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u64);

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text that is no cluster id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a cluster id of up to 32 hex digits (a uuid will do)")]
pub struct ClusterIdError;

impl FromStr for ClusterId {
    type Err = ClusterIdError;

    /// Up to 32 hex digits; dashes, as in a uuid, do not count.
    fn from_str(text: &str) -> Result<Self, ClusterIdError> {
        let digits: String = text.chars().filter(|&c| c != '-').collect();
        // A sign would pass for a number's.
        let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
        match u128::from_str_radix(&digits, 16) {
            Ok(id) if plain => Ok(ClusterId(id)),
            _ => Err(ClusterIdError),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_id_reads_back_as_shown_and_from_a_uuid() {
        for id in [0, 255, u128::MAX] {
            assert_eq!(ClusterId(id).to_string().parse(), Ok(ClusterId(id)));
        }
        assert_eq!("00000000-0000-0000-0000-0000000000ff".parse(), Ok(ClusterId(255)));
        for wrong in ["", "-", "xyz", "+ff", " ff", &"f".repeat(33)] {
            assert_eq!(wrong.parse::<ClusterId>(), Err(ClusterIdError), "{wrong:?}");
        }
    }
}
