//! The world outside as traits: time, disk, chance. The real ones live in `engine/node`, the
//! seeded ones in tests and simulation.

use std::io;

/// Time.
pub trait Clock: Send + Sync {
    /// Monotonic nanoseconds from an arbitrary origin.
    fn now_ns(&self) -> u64;
    /// Wall clock, microseconds since 1970. May jump; never used for budgets.
    fn unix_us(&self) -> i64;
}

/// The data folder: a flat set of named files.
pub trait Disk: Send {
    /// Names of all files.
    fn list(&self) -> io::Result<Vec<String>>;
    /// A whole file; `NotFound` where there is none.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// Writes a file so that after a crash it is whole (old or new) or absent: temporary file,
    /// fsync, rename, fsync of the folder.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Removes a file; absent is not an error.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// Chance.
pub trait Rng: Send {
    /// The next 64 random bits.
    fn next_u64(&mut self) -> u64;
}
