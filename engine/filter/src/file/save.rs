//! Files on disk: written whole or not at all, and read within a limit.
//!
//! After a crash at any step of a save the name holds the file that it held before, or the new
//! one. What may be left over begins with `tmp-`. Does I/O; blocks.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, process};

use super::{Asked, EncodeError, FileRefusal, Info, StoredFilter, decode, encode};

/// Why a filter was not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// It cannot be written at all.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A step of writing failed. Before [`Step::SyncFolder`] the file is as it was.
    #[error("{}: cannot {step}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What failed.
        step: Step,
        /// Why.
        source: io::Error,
    },
}

/// A step of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file in the same folder.
    Create,
    /// Its bytes.
    Write,
    /// Its bytes to the disk.
    Sync,
    /// In place of the file that was there.
    Rename,
    /// The folder to the disk. The new file is there, and may not be after a loss of power.
    SyncFolder,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "make a temporary file beside it",
            Self::Write => "write the temporary file",
            Self::Sync => "sync the temporary file",
            Self::Rename => "rename the temporary file",
            Self::SyncFolder => "sync the folder, though the file is in place",
        })
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no filter, or not the one that was asked for.
    #[error("{}: {refusal}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        refusal: FileRefusal,
    },
}

/// Writes a filter to `path`, durably, in place of what was there.
///
/// # Errors
/// Where it cannot be encoded, or a step of writing fails.
pub fn save(path: &Path, stored: &StoredFilter) -> Result<(), SaveError> {
    write_file(path, &encode(stored)?)
}

/// Writes bytes to `path`, durably, in place of what was there.
///
/// # Errors
/// Where a step of writing fails.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), SaveError> {
    let failed = |step| move |source| SaveError::Io { path: path.to_owned(), step, source };
    let (temporary, mut file) = create_beside(path).map_err(failed(Step::Create))?;
    let written = file
        .write_all(bytes)
        .map_err(failed(Step::Write))
        .and_then(|()| file.sync_all().map_err(failed(Step::Sync)))
        .and_then(|()| fs::rename(&temporary, path).map_err(failed(Step::Rename)));
    if written.is_err() {
        // A failed sync is never tried again on the same file: nobody knows what is on the disk.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    File::open(folder_of(path)).and_then(|f| f.sync_all()).map_err(failed(Step::SyncFolder))
}

/// Reads the file `path`. Its length is looked at before memory is taken for it.
///
/// # Errors
/// Where it cannot be read, is longer than asked for, or [`decode`] refuses it.
pub fn load(path: &Path, asked: &Asked) -> Result<StoredFilter, LoadError> {
    let refused = |refusal| LoadError::Refused { path: path.to_owned(), refusal };
    let (file, length) = open(path)?;
    asked.check_bytes(length).map_err(refused)?;
    let bytes = read_at_most(file, length, path)?;
    decode(&bytes, asked).map_err(refused)
}

impl Info {
    /// What the file `path` says of itself; its pages are not read.
    ///
    /// # Errors
    /// Where it cannot be read, or [`Info::read`] refuses it.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let (file, length) = open(path)?;
        let head = read_at_most(file, length.min(Info::HEAD_BYTES as u64), path)?;
        let refused = |refusal| LoadError::Refused { path: path.to_owned(), refusal };
        Info::read(&head, length).map_err(refused)
    }
}

/// A file and its length. A pipe in its place would hold the opener up.
fn open(path: &Path) -> Result<(File, u64), LoadError> {
    let failed = |source| LoadError::Io { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a file")));
    }
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    Ok((file, length))
}

fn read_at_most(file: File, length: u64, path: &Path) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    let failed = |source| LoadError::Io { path: path.to_owned(), source };
    // It may grow meanwhile: no more than was checked is read.
    file.take(length).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// A new file in the folder of `path`, under a name that no other call uses.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "the path names no file");
    let name = path.file_name().ok_or_else(no_name)?;
    let mut tries = 0;
    loop {
        let mut temporary = OsString::from("tmp-");
        temporary.push(name);
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        temporary.push(format!("-{}-{call}", process::id()));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Left over from a process of the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
