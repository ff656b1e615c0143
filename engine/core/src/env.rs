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

/// The data folder: a flat set of named files, by the steps of which durable writing is made
/// ([`persist::publish`](crate::persist::publish)). A simulated one may crash between any two.
///
/// Until [`Disk::sync_folder`] has returned, a crash may undo or keep each change of a name.
pub trait Disk: Send {
    /// Names of all files, those of unfinished writes included, in no order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// A whole file of at most `bytes_max` bytes; `NotFound` where there is none, `FileTooLarge`
    /// where it is longer: a length is looked at before memory is taken for it.
    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>>;
    /// Makes a new file (`AlreadyExists` where there is one), writes and syncs it. After an error
    /// the file may be there, with anything in it.
    fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Gives a file another name, in place of the file that had it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file; absent is not an error.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes every change of names durable.
    fn sync_folder(&self) -> io::Result<()>;
}

/// Chance.
pub trait Rng: Send {
    /// The next 64 random bits.
    fn next_u64(&mut self) -> u64;
}
