//! The reader of a live filter, in another process than its writer's.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bloomrf_engine::format::container::HEADER_BYTES;

use super::storage::{log_path, read_whole};
use super::write::log_bytes_max;
use super::{OpenError, identity, pending};
use crate::AnyFilter;
use crate::file::{Asked, StoredFilter, decode};

/// A copy of a live filter as of one flush.
#[derive(Debug)]
pub struct LiveReader {
    path: PathBuf,
    asked: Asked,
    stored: StoredFilter,
}

impl LiveReader {
    /// Reads the filter file `path`, whatever its writer is at.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, or is not what was asked for.
    pub fn open(path: &Path, asked: &Asked) -> Result<Self, OpenError> {
        let stored = read(path, asked)?;
        Ok(LiveReader { path: path.to_owned(), asked: *asked, stored })
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &AnyFilter {
        &self.stored.filter
    }

    /// All that the file says.
    #[must_use]
    pub fn stored(&self) -> &StoredFilter {
        &self.stored
    }

    /// Reads it again if there was a flush since; whether there was. A look costs one read of 256
    /// bytes.
    ///
    /// # Errors
    /// As [`LiveReader::open`]; the copy stays what it was.
    pub fn refresh(&mut self) -> Result<bool, OpenError> {
        let mut header = [0; HEADER_BYTES];
        File::open(&self.path)?.read_exact_at(&mut header, 0)?;
        let stamp = self.stored.stamp;
        if identity(&header) == Some((stamp.uuid.to_le_bytes(), stamp.generation)) {
            return Ok(false);
        }
        self.stored = read(&self.path, &self.asked)?;
        Ok(true)
    }
}

/// A state of one flush. A file that is being written reads as no flush's; the log that says what
/// is being written makes it whole.
fn read(path: &Path, asked: &Asked) -> Result<StoredFilter, OpenError> {
    patiently(|| read_once(path, asked), |why| matches!(why, OpenError::Refused(_)))
}

/// Does it again, after longer and longer pauses, where it failed for a reason that may pass: a
/// flush that began between two reads. A file that is damaged is refused in the end.
pub(super) fn patiently<T, E>(
    once: impl Fn() -> Result<T, E>,
    is_passing: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for tries in 1..=TRIES {
        match once() {
            Err(why) if is_passing(&why) => std::thread::sleep(PAUSE * tries),
            other => return other,
        }
    }
    once()
}

fn read_once(path: &Path, asked: &Asked) -> Result<StoredFilter, OpenError> {
    // The log first: one that is emptied later has been done by then.
    let log = match File::open(log_path(path)) {
        Ok(log) => read_whole(&log, log_bytes_max(asked.bytes_max))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let mut file = read_whole(&File::open(path)?, asked.bytes_max)?;
    if let Some(log) = pending(&file, &log)? {
        log.apply(&mut file);
    }
    Ok(decode(&file, asked)?)
}

/// How often a reader looks again at a file that is being written.
const TRIES: u32 = 20;
/// The first pause between two looks; each is longer by it.
const PAUSE: Duration = Duration::from_millis(1);
