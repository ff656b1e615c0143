//! Who and what a frame, a lookup or a file speaks of.

use std::fmt;

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

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
