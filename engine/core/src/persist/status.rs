//! What persistence counts.

use std::io;

use super::{DiskError, Place};

/// Numbers of this moment and since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersistStatus {
    /// Files of batches in the folder.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Verified batches that have no file yet.
    pub waiting: u64,
    /// Files that are still to be removed.
    pub removing: u64,
    /// Files written.
    pub written: u64,
    /// Their bytes.
    pub bytes_written: u64,
    /// Times that a file or the folder was made durable.
    pub syncs: u64,
    /// Files removed because their batches left.
    pub removed: u64,
    /// Batches that cannot be stored as a file.
    pub unstorable: u64,
    /// Batches loaded at start.
    pub recovered: u64,
    /// Filters that loaded files had lost: those columns have none.
    pub sections_lost: u64,
    /// Files of a newer format, left alone.
    pub newer: u64,
    /// Files looked at by the scrubber.
    pub scrubbed: u64,
    /// Files that it found missing, damaged or unreadable.
    pub scrub_corrupt: u64,
    /// Files refused, by reason.
    pub refused: Vec<ReasonCount>,
    /// Failures of the disk, by place and kind.
    pub errors: Vec<ErrorCount>,
    /// When the disk began to fail, monotonic nanoseconds; `None` while it works.
    pub failing_since_ns: Option<u64>,
    /// The last failure.
    pub last_error: Option<LastError>,
}

/// Files refused for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReasonCount {
    /// Label of the reason.
    pub reason: &'static str,
    /// Files.
    pub count: u64,
}

/// Failures of one kind at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCount {
    /// Where.
    pub place: Place,
    /// What the system said.
    pub kind: io::ErrorKind,
    /// How often.
    pub count: u64,
}

/// A failure, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastError {
    /// Where.
    pub place: Place,
    /// What the system said.
    pub text: String,
}

impl PersistStatus {
    /// Label of a file that is longer than any may be.
    pub const TOO_LARGE: &'static str = "too_large";
    /// Label of a file that the disk did not give.
    pub const UNREADABLE: &'static str = "unreadable";

    /// Failures at one place.
    #[must_use]
    pub fn errors_at(&self, place: Place) -> u64 {
        self.errors.iter().filter(|e| e.place == place).map(|e| e.count).sum()
    }

    /// All failures.
    #[must_use]
    pub fn errors_sum(&self) -> u64 {
        self.errors.iter().map(|e| e.count).sum()
    }

    /// Files refused for one reason.
    #[must_use]
    pub fn refused_for(&self, reason: &str) -> u64 {
        self.refused.iter().filter(|r| r.reason == reason).map(|r| r.count).sum()
    }

    /// Files refused.
    #[must_use]
    pub fn refused_sum(&self) -> u64 {
        self.refused.iter().map(|r| r.count).sum()
    }

    pub(super) fn count_error(&mut self, error: &DiskError) {
        let (place, kind) = (error.place, error.source.kind());
        match self.errors.iter_mut().find(|e| e.place == place && e.kind == kind) {
            Some(known) => known.count += 1,
            None => self.errors.push(ErrorCount { place, kind, count: 1 }),
        }
        self.last_error = Some(LastError { place, text: error.source.to_string() });
    }

    pub(super) fn count_refused(&mut self, reason: &'static str) {
        match self.refused.iter_mut().find(|r| r.reason == reason) {
            Some(known) => known.count += 1,
            None => self.refused.push(ReasonCount { reason, count: 1 }),
        }
    }
}
