//! A reader that asks a filter file where it lies, through a map that all its readers share.
//!
//! For files too large, or readers too many, for a copy each. Flushes of the writer are seen
//! without a refresh. A map shows the file while it is being changed, so an answer counts only
//! where the header says the same before and after (see [`super::guard`]); else it is *maybe*. So
//! while a flush writes (milliseconds) answers are *maybe*, and after a writer that died in the
//! midst of one they stay so until the file is opened for writing again.
//!
//! Cost: [`MappedFilter::open`] reads the file once and checks it; a question costs two loads of
//! the header and those of its words, a miss of the page cache a read of the disk. No memory but
//! the page cache. Invariant: the map's file never becomes shorter under it: it is locked (shared),
//! and a writer of ours shortens no file that is. Who cuts it by other means ends the process
//! (`SIGBUS`). Chains and shards have no map: take [`LiveReader`](super::LiveReader).

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use bloomrf_engine::format::container::{ContainerRefusal, HEADER_BYTES};
use bloomrf_kernels::hash::Hash128;
use bloomrf_kernels::mapped::{MappedFile, MappedWords};

use super::guard::{Guard, Load, Look};
use super::read::patiently;
use crate::file::{Asked, CheckError, FileRefusal, InPlace, Info};

/// A filter file, asked where it lies.
#[derive(Debug)]
pub struct MappedFilter {
    path: PathBuf,
    asked: Asked,
    /// Holds the lock.
    file: File,
    info: Info,
    place: InPlace,
    map: MappedFile,
    guard: Guard,
}

/// Why a file was not mapped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is damaged, in the midst of a flush, or not what was asked for.
    #[error(transparent)]
    Refused(#[from] FileRefusal),
    /// It was changed all the time while it was read.
    #[error("it was changed each time that it was read: try again, or read a copy of it")]
    Busy,
    /// Several filters in one file.
    #[error("a chain or shards, which cannot be mapped: read a copy of it")]
    Several,
}

impl From<CheckError> for MapError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Io(error) => MapError::Io(error),
            CheckError::Refused(refusal) => MapError::Refused(refusal),
        }
    }
}

impl MappedFilter {
    /// Checks the filter file `path` whole, and maps it.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, holds a chain or shards, or is not what was asked for.
    pub fn open(path: &Path, asked: &Asked) -> Result<Self, MapError> {
        let is_passing = |why: &MapError| matches!(why, MapError::Refused(_) | MapError::Busy);
        patiently(|| Self::open_once(path, asked), is_passing)
    }

    fn open_once(path: &Path, asked: &Asked) -> Result<Self, MapError> {
        let file = File::open(path)?;
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(MapError::Busy),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let bytes = file.metadata()?.len();
        let mut head = vec![0; bytes.min(Info::HEAD_BYTES as u64) as usize];
        file.read_exact_at(&mut head, 0)?;
        let (info, place) = InPlace::read(&head, bytes, asked)?;
        let place = place.ok_or(MapError::Several)?;
        place.check(&head, |piece, offset| file.read_exact_at(piece, offset))?;
        let mut again = [0; HEADER_BYTES];
        file.read_exact_at(&mut again, 0)?;
        if head.first_chunk() != Some(&again) {
            return Err(MapError::Busy);
        }
        let map = MappedFile::map(&file, bytes)?;
        let guard = Guard::new(info.stamp.generation);
        let (path, asked) = (path.to_owned(), *asked);
        Ok(MappedFilter { path, asked, file, info, place, map, guard })
    }

    /// What the file said of itself when it was opened.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Whether an item may be there.
    #[must_use]
    pub fn contains(&self, item: Hash128) -> bool {
        let words = self.map.words();
        self.ask(words, || self.place.contains(words, item)).unwrap_or(true)
    }

    /// Asks for many: bit `i % 64` of `found[i / 64]` answers for `items[i]`; bits past the last
    /// are 0.
    ///
    /// # Panics
    /// Unless `found` has a bit for every item.
    pub fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
        found.fill(0);
        let words = self.map.words();
        for (items, found) in items.chunks(64).zip(found) {
            let bits = |items: &[Hash128]| {
                let bit = |item: &Hash128| u64::from(self.place.contains(words, *item));
                items.iter().rev().fold(0, |all, item| all << 1 | bit(item))
            };
            let maybe = u64::MAX >> (64 - items.len());
            *found = self.ask(words, || bits(items)).unwrap_or(maybe);
        }
    }

    /// Whether a *no* can be had now: no flush is at work, none was cut short, and the filter lies
    /// where it lay. Where it stays false, see [`MappedFilter::refresh`].
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let words = self.map.words();
        self.ask(words, || ()).is_some()
    }

    /// Opens it again if another file was put in its place, or a flush gave it another shape;
    /// whether it did.
    ///
    /// # Errors
    /// As [`MappedFilter::open`]; the map stays what it was.
    pub fn refresh(&mut self) -> Result<bool, MapError> {
        let (here, there) = (self.file.metadata()?, fs::metadata(&self.path)?);
        let is_same = (here.dev(), here.ino()) == (there.dev(), there.ino());
        if is_same && self.is_settled() {
            return Ok(false);
        }
        *self = Self::open(&self.path, &self.asked)?;
        Ok(true)
    }

    #[inline]
    fn ask<T>(&self, words: MappedWords<'_>, asked: impl Fn() -> T) -> Option<T> {
        self.guard.ask(&words, |generation| self.look(words, generation), asked)
    }

    /// Looks at the tables of a generation that was not seen before.
    #[cold]
    fn look(&self, words: MappedWords<'_>, generation: u64) -> Look {
        let load = |at: usize| words.load(at).unwrap_or_default().to_le_bytes();
        let head: Vec<u8> = (0..self.place.head_bytes() / 8).flat_map(load).collect();
        match InPlace::read(&head, self.info.file_bytes, &self.asked) {
            Ok((info, place)) if info.stamp.generation == generation => {
                let is_like = place.is_some_and(|place| place.is_like(&self.place));
                let is_same = is_like && info.stamp.uuid == self.info.stamp.uuid;
                if is_same { Look::Same } else { Look::Other }
            }
            Ok(_)
            | Err(FileRefusal::Container(
                ContainerRefusal::Checksum { .. } | ContainerRefusal::BeingWritten { .. },
            )) => Look::Torn,
            Err(_) => Look::Other,
        }
    }
}

impl Load for MappedWords<'_> {
    #[inline]
    fn load(&self, at: usize) -> Option<u64> {
        MappedWords::load(*self, at)
    }
}
