//! Where a live filter lies: the file and its log, behind a trait, so that tests can lose what
//! was not synced.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The filter.
    Filter,
    /// Its log.
    Log,
}

/// The two files of a live filter. What was written is sure to be there after a loss of power only
/// once it was synced; until then any of it may be, in any order.
pub trait Storage {
    /// The bytes of a file, at most `most` of them; `InvalidData` where there are more.
    ///
    /// # Errors
    /// As the system says.
    fn read(&mut self, part: Part, most: u64) -> io::Result<Vec<u8>>;

    /// Writes all of `bytes`; the file grows as needed.
    ///
    /// # Errors
    /// As the system says; then nobody knows how much was written.
    fn write(&mut self, part: Part, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes sure that nobody has the filter mapped until it was resized: called before a flush
    /// that makes it shorter.
    ///
    /// # Errors
    /// Where somebody has.
    fn hold_alone(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Makes a file longer (by zeros) or shorter.
    ///
    /// # Errors
    /// As the system says.
    fn resize(&mut self, part: Part, bytes: u64) -> io::Result<()>;

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// As the system says; then nobody knows what is on the disk, and trying again tells nothing.
    fn sync(&mut self, part: Part) -> io::Result<()>;
}

/// Two files of a real disk, locked against other writers until it is dropped.
#[derive(Debug)]
pub struct Files {
    path: PathBuf,
    filter: File,
    log: File,
}

impl Files {
    /// Opens the file `path` and its log, which is made where it is missing.
    ///
    /// # Errors
    /// As the system says; `ResourceBusy` where another writer has it.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let log_path = log_path(path);
        let mut options = OpenOptions::new();
        let log = options.read(true).write(true).create(true).truncate(false).open(&log_path)?;
        match log.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "another writer has it open; there can be one (and many readers)";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The log's name must outlive a loss of power that comes after its first commit.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        let filter = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Files { path: path.to_owned(), filter, log })
    }

    fn part(&self, part: Part) -> &File {
        match part {
            Part::Filter => &self.filter,
            Part::Log => &self.log,
        }
    }

    /// Refuses to go on where another file was put in place of the one that is open: what is
    /// written here would be lost with it.
    fn check_place(&self) -> io::Result<()> {
        let (here, there) = (self.filter.metadata()?, fs::metadata(&self.path)?);
        if (here.dev(), here.ino()) == (there.dev(), there.ino()) {
            return Ok(());
        }
        let message = "another file was put in its place while it was open";
        Err(io::Error::new(io::ErrorKind::NotFound, message))
    }
}

impl Storage for Files {
    fn read(&mut self, part: Part, most: u64) -> io::Result<Vec<u8>> {
        read_whole(self.part(part), most)
    }

    fn write(&mut self, part: Part, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if part == Part::Log {
            self.check_place()?;
        }
        self.part(part).write_all_at(bytes, offset)
    }

    fn hold_alone(&mut self) -> io::Result<()> {
        self.filter.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                io::Error::new(io::ErrorKind::ResourceBusy, "readers have it mapped")
            }
            TryLockError::Error(error) => error,
        })
    }

    fn resize(&mut self, part: Part, bytes: u64) -> io::Result<()> {
        if part == Part::Filter && bytes < self.filter.metadata()?.len() {
            self.hold_alone()?;
        }
        self.part(part).set_len(bytes)?;
        if part == Part::Filter { self.filter.unlock() } else { Ok(()) }
    }

    fn sync(&mut self, part: Part) -> io::Result<()> {
        self.part(part).sync_data()
    }
}

/// The log of the filter `path`.
pub(super) fn log_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".log");
    PathBuf::from(name)
}

/// A whole file; its length is looked at before memory is taken for it.
pub(super) fn read_whole(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    if length > most {
        let message = format!("{length} bytes long, at most {most} are read");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let mut have = 0;
    while have < bytes.len() {
        match file.read_at(&mut bytes[have..], have as u64) {
            // It was cut meanwhile, by a writer at work: what there is, checksums judge.
            Ok(0) => break,
            Ok(more) => have += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(have);
    Ok(bytes)
}
