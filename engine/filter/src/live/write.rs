//! The writer of a live filter.

use std::io;
use std::path::Path;

use super::log::{BLOCK_BYTES, Log};
use super::storage::{Files, Part, Storage};
use super::{ForeignLog, identity, pending};
use crate::file::{Asked, EncodeError, FileRefusal, SourcePosition, StoredFilter, decode, encode};
use crate::{AnyFilter, Inserted, Presence};
use bloomrf_engine::format::container::{HEADER_BYTES, Sequence};
use bloomrf_kernels::hash::Hash128;

/// A filter in memory that a file follows, flush by flush.
#[derive(Debug)]
pub struct Live<S = Files> {
    storage: S,
    stored: StoredFilter,
    /// The file as it is on the disk.
    pub(super) image: Vec<u8>,
    is_changed: bool,
    is_broken: bool,
}

/// Why a live filter was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is damaged, or not what was asked for.
    #[error(transparent)]
    Refused(#[from] FileRefusal),
    /// Its log is not its own.
    #[error(transparent)]
    ForeignLog(#[from] ForeignLog),
}

/// Why a flush failed. What was durable before still is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlushError {
    /// It cannot be written as a file; nothing was tried.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The file would become shorter under readers that have it mapped; nothing was tried.
    #[error("{0}: the file would become shorter; flush again when they have closed it")]
    Held(io::Error),
    /// Writing failed: nobody knows whether the changes since the last flush are durable.
    #[error("{0}; the changes since the last flush may be lost: open the filter again")]
    Io(#[from] io::Error),
    /// An earlier flush failed.
    #[error("an earlier flush failed: open the filter again")]
    Broken,
}

impl Live<Files> {
    /// Opens the filter file `path` for writing, and finishes what a crash left in its log.
    ///
    /// # Errors
    /// Where another writer has it, it cannot be read or written, is damaged, or is not what was
    /// asked for.
    pub fn open(path: &Path, asked: &Asked) -> Result<Self, OpenError> {
        Self::open_in(Files::open(path)?, asked)
    }
}

impl<S: Storage> Live<S> {
    /// Opens the filter in `storage`.
    ///
    /// # Errors
    /// As [`Live::open`].
    pub fn open_in(mut storage: S, asked: &Asked) -> Result<Self, OpenError> {
        let mut image = storage.read(Part::Filter, asked.bytes_max)?;
        let bytes = storage.read(Part::Log, log_bytes_max(asked.bytes_max))?;
        if let Some(log) = pending(&image, &bytes)? {
            log.apply(&mut image);
            // Before the disk is touched: a log of a file that is not to be had is left alone.
            decode(&image, asked)?;
            // It may have been seen by us alone, and its file must not come before it.
            storage.sync(Part::Log)?;
            put(&mut storage, &log)?;
        }
        let stored = decode(&image, asked)?;
        Ok(Live { storage, stored, image, is_changed: false, is_broken: false })
    }

    /// The filter, with the changes that are not durable yet.
    pub fn filter(&self) -> &AnyFilter {
        &self.stored.filter
    }

    /// The filter, to be changed in any way that its kind can.
    pub fn filter_mut(&mut self) -> &mut AnyFilter {
        self.is_changed = true;
        &mut self.stored.filter
    }

    /// All that the file says beside the filter.
    pub fn stored(&self) -> &StoredFilter {
        &self.stored
    }

    /// Inserts an item; durable with the next flush.
    pub fn insert(&mut self, item: Hash128) -> Inserted {
        self.filter_mut().insert(item)
    }

    /// Whether there are changes that no flush has made durable.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// The generation of the last flush that returned.
    pub fn durable_generation(&self) -> u64 {
        identity(&self.image).map_or(0, |(_, generation)| generation)
    }

    /// Makes all changes so far durable, and `source` with them: how far the items' source was
    /// read. Returns the generation. Without changes and with the same source nothing is written.
    ///
    /// # Errors
    /// Where it cannot be written. What was durable before still is.
    pub fn flush(&mut self, source: Option<SourcePosition>) -> Result<u64, FlushError> {
        if self.is_broken {
            return Err(FlushError::Broken);
        }
        if !self.is_changed && source == self.stored.source {
            return Ok(self.durable_generation());
        }
        let before = std::mem::replace(&mut self.stored.source, source);
        self.stored.stamp.generation += 1;
        let new = match encode(&self.stored) {
            Ok(new) => new,
            Err(error) => {
                self.stored.source = before;
                self.stored.stamp.generation -= 1;
                return Err(error.into());
            }
        };
        let generation = self.stored.stamp.generation;
        let uuid = self.stored.stamp.uuid.to_le_bytes();
        let log = Log::between(&self.image, &new, uuid, generation);
        if new.len() < self.image.len()
            && let Err(error) = self.storage.hold_alone()
        {
            self.stored.source = before;
            self.stored.stamp.generation -= 1;
            return Err(FlushError::Held(error));
        }
        self.is_broken = true;
        self.storage.write(Part::Log, 0, &log.encode())?;
        self.storage.sync(Part::Log)?;
        put(&mut self.storage, &log)?;
        (self.is_broken, self.is_changed) = (false, false);
        self.image = new;
        Ok(generation)
    }
}

/// Does what a committed log asks for, and empties it. The header comes first, marked with the
/// generation that is being written, and last, at rest: who looks meanwhile knows.
fn put(storage: &mut impl Storage, log: &Log<'_>) -> io::Result<()> {
    let head = log.blocks.first().filter(|(offset, _)| *offset == 0);
    let header = head.and_then(|(_, bytes)| bytes.first_chunk::<HEADER_BYTES>());
    if let Some(header) = header {
        let mut marked = *header;
        let whole = log.generation.saturating_sub(1);
        Sequence { writing: log.generation, whole }.mark(&mut marked);
        storage.write(Part::Filter, 0, &marked)?;
    }
    storage.resize(Part::Filter, log.file_bytes)?;
    for (offset, bytes) in &log.blocks {
        match bytes.get(HEADER_BYTES..).filter(|_| *offset == 0 && header.is_some()) {
            Some(rest) => storage.write(Part::Filter, HEADER_BYTES as u64, rest)?,
            None => storage.write(Part::Filter, *offset, bytes)?,
        }
    }
    if let Some(header) = header {
        storage.write(Part::Filter, 0, header)?;
    }
    storage.sync(Part::Filter)?;
    // Not synced: whoever finds it again does the same once more.
    storage.resize(Part::Log, 0)
}

/// The longest log of a file of `bytes`.
pub(super) fn log_bytes_max(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / BLOCK_BYTES as u64 * 8 + BLOCK_BYTES as u64)
}
