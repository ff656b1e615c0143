//! Live filters: files that change while they are used, and survive any crash.
//!
//! One process writes, any number read. [`Live`] holds the filter in memory; [`Live::flush`]
//! makes all changes so far durable, or none of them: the blocks of the file that change go to a
//! log beside it (`NAME.log`), the log is synced, only then is the file touched. At rest the file
//! is an ordinary filter file (`docs/FORMAT.md`); its generation counts flushes. Whoever opens it
//! finishes what a committed log asks for, so after any crash, at any step, the filter is that of
//! the last flush that returned, or of the one that was at work: never something in between.
//! Damage is refused, never guessed at: rebuild from the source position that the file had.
//!
//! [`LiveReader`] reads the same file in another process: state of a whole flush, never older
//! than the last one that had returned when it looked, never torn.
//!
//! [`MappedFilter`] asks it where it lies: a map that all readers share, without a copy. While the
//! writer changes the file, its header says so (sequence numbers), and answers are *maybe*.
//!
//! The writer does not write through a map, on purpose: a map's pages reach the disk in any order
//! at any time, so that a crash leaves pages of no flush at all, and a disk's error is a signal
//! instead of an error.
//!
//! Cost: a flush compares the whole filter with the file's image (memory bandwidth) and writes
//! what changed twice; memory is three times the file while it flushes, twice otherwise.
//! Invariants: the file is written only under a committed log; after an error of a write or sync
//! the writer is of no more use and must be opened again.

#[cfg(target_os = "linux")]
mod guard;
mod log;
#[cfg(target_os = "linux")]
mod map;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod map_tests;
mod read;
mod storage;
#[cfg(test)]
mod tests;
mod write;

#[cfg(target_os = "linux")]
pub use map::{MapError, MappedFilter};
pub use read::LiveReader;
pub use storage::{Files, Part, Storage};
pub use write::{FlushError, Live, OpenError};

use bloomrf_engine::format::container::HEADER_BYTES;

/// Where the uuid of a filter file lies.
const UUID: std::ops::Range<usize> = 40..56;
/// Where its generation lies.
const GENERATION: std::ops::Range<usize> = 56..64;

/// Uuid and generation that the header of `file` says, unchecked; `None` where there is no header.
fn identity(file: &[u8]) -> Option<([u8; 16], u64)> {
    let header: &[u8; HEADER_BYTES] = file.first_chunk()?;
    let uuid = header.get(UUID)?.try_into().ok()?;
    let generation = u64::from_le_bytes(header.get(GENERATION)?.try_into().ok()?);
    Some((uuid, generation))
}

/// The log that `bytes` hold, where it was committed and is not older than `file`.
fn pending<'a>(file: &[u8], bytes: &'a [u8]) -> Result<Option<log::Log<'a>>, ForeignLog> {
    let Some(log) = log::Log::parse(bytes) else { return Ok(None) };
    match identity(file) {
        Some((uuid, _)) if uuid != log.uuid => Err(ForeignLog),
        Some((_, generation)) if generation > log.generation => Ok(None),
        _ => Ok(Some(log)),
    }
}

/// A committed log that belongs to another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the log beside it belongs to another filter: one of both was put there by hand; put the \
     right one back, or move the log away if this filter was saved whole"
)]
pub struct ForeignLog;
