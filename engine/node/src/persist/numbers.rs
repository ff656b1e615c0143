//! The data folder in numbers, for benches and tests.

use bloomrf_engine::persist::PersistStatus;

/// The data folder in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersistNumbers {
    /// Files of batches.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Verified batches without a file.
    pub waiting: u64,
    /// Files written since the start.
    pub written: u64,
    /// Their bytes.
    pub bytes_written: u64,
    /// Files and folders made durable.
    pub syncs: u64,
    /// Batches loaded at the start.
    pub recovered: u64,
    /// Files refused.
    pub refused: u64,
    /// Failures of the disk.
    pub errors: u64,
    /// Files looked at by the scrubber.
    pub scrubbed: u64,
    /// Files that it found damaged, missing or unreadable.
    pub scrub_corrupt: u64,
    /// The last thing that the disk was asked failed.
    pub is_failing: bool,
}

impl PersistNumbers {
    pub(crate) fn of(status: &PersistStatus) -> Self {
        PersistNumbers {
            files: status.files,
            bytes: status.bytes,
            waiting: status.waiting,
            written: status.written,
            bytes_written: status.bytes_written,
            syncs: status.syncs,
            recovered: status.recovered,
            refused: status.refused_sum(),
            errors: status.errors_sum(),
            scrubbed: status.scrubbed,
            scrub_corrupt: status.scrub_corrupt,
            is_failing: status.failing_since_ns.is_some(),
        }
    }
}
