//! Where a disk failed.

use std::io;

/// A call of the disk that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// Listing the folder.
    List,
    /// Reading a file.
    Read,
    /// Making a new file.
    Create,
    /// Writing it.
    Write,
    /// Making a file or the folder durable.
    Sync,
    /// Giving a file its name.
    Rename,
    /// Removing a file.
    Remove,
}

impl Place {
    /// All, in the order of [`Place::label`]s in metrics.
    pub const ALL: [Place; 7] = [
        Place::List,
        Place::Read,
        Place::Create,
        Place::Write,
        Place::Sync,
        Place::Rename,
        Place::Remove,
    ];

    /// For metrics and logs.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Place::List => "list",
            Place::Read => "read",
            Place::Create => "create",
            Place::Write => "write",
            Place::Sync => "sync",
            Place::Rename => "rename",
            Place::Remove => "remove",
        }
    }

    /// Marks an error of a disk whose calls take several steps; [`Place::of`] finds the mark.
    pub fn mark(self, source: io::Error) -> io::Error {
        io::Error::new(source.kind(), DiskError { place: self, source })
    }

    /// The place that a disk marked, or `assumed`.
    pub(super) fn of(error: &io::Error, assumed: Place) -> Place {
        let marked = error.get_ref().and_then(|inner| inner.downcast_ref::<DiskError>());
        marked.map_or(assumed, |marked| marked.place)
    }
}

/// A disk failed at a place.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", place.label())]
pub struct DiskError {
    /// Where.
    pub place: Place,
    /// The system's reason.
    pub source: io::Error,
}

impl DiskError {
    /// `source`, at the place that it is marked with, or else at `assumed`.
    pub(super) fn new(assumed: Place, source: io::Error) -> Self {
        DiskError { place: Place::of(&source, assumed), source }
    }
}

impl From<DiskError> for io::Error {
    fn from(error: DiskError) -> Self {
        error.source
    }
}
