//! The data folder on a real disk, behind the engine's trait.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloomrf_engine::env::Disk;
use bloomrf_engine::persist::Place;
use rustix::fs::{FileType, OFlags};

/// A folder. Names come from a safe set, so that none can leave the folder or hide in it.
///
/// It is locked against other processes (and other openings in this one) until it and all its
/// clones are dropped.
#[derive(Clone, Debug)]
pub struct FolderDisk {
    folder: PathBuf,
    _lock: Arc<File>,
}

impl FolderDisk {
    /// Creates the folder where it is missing, locks it, and lists it. `ResourceBusy` where another
    /// one holds it. Whether it can be written is not asked: a full disk is no reason not to start.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let lock = File::open(folder)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message =
                    "another process (or another node of this one) uses it: set another data_dir";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
            }
            // Some network file systems have no locks. Two nodes on one folder lose filters, and
            // no answer.
            Err(TryLockError::Error(error)) => tracing::warn!(%error, "data folder not locked"),
        }
        let disk = FolderDisk { folder: folder.to_owned(), _lock: Arc::new(lock) };
        disk.list()?;
        Ok(disk)
    }

    /// Whether a name stands for a file, by what the folder says of it or else by itself.
    fn is_file(&self, name: &str, told: FileType) -> io::Result<bool> {
        match told {
            FileType::RegularFile => Ok(true),
            FileType::Unknown => match fs::symlink_metadata(self.folder.join(name)) {
                Ok(file) => Ok(file.is_file()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            },
            _ => Ok(false),
        }
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        if is_safe_name(name) {
            return Ok(self.folder.join(name));
        }
        let message = format!(
            "file name {name:?}: expected 1 to {NAME_BYTES_MAX} of a-z, 0-9, '-', '_', '.', \
             and no '.' first"
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

impl Disk for FolderDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        // Not `fs::read_dir`: that one panics where the system reports an error of the close.
        for entry in rustix::fs::Dir::new(File::open(&self.folder)?)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().to_str()
                && is_safe_name(name)
                && self.is_file(name, entry.file_type())?
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        // A pipe in a file's place would hold the opener up until somebody writes to it.
        let at_once = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(at_once).open(self.path(name)?)?;
        let told = file.metadata()?;
        if !told.is_file() {
            let message = format!("{name}: not a file; remove it");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let length = told.len();
        if length > bytes_max {
            let message = format!("{name}: {length} B, and at most {bytes_max} B are expected");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        // It may grow meanwhile: no more than is allowed is read.
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name)?;
        let opened = OpenOptions::new().write(true).create_new(true).open(path);
        let mut file = opened.map_err(|e| Place::Create.mark(e))?;
        file.write_all(bytes).map_err(|e| Place::Write.mark(e))?;
        file.sync_all().map_err(|e| Place::Sync.mark(e))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from)?, self.path(to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path(name)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

fn is_safe_name(name: &str) -> bool {
    let safe = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(safe)
}

/// Longest file name.
const NAME_BYTES_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use bloomrf_engine::persist::publish;

    use super::*;

    #[test]
    fn disk_replaces_lists_and_removes_whole_files() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(&folder.path().join("a/b")).unwrap();
        assert_eq!(disk.list().unwrap(), Vec::<String>::new());
        publish(&disk, "one.txt", b"1").unwrap();
        publish(&disk, "one.txt", b"22").unwrap();
        assert_eq!(disk.read("one.txt", 2).unwrap(), b"22");
        assert_eq!(disk.list().unwrap(), ["one.txt"]);
        disk.remove("one.txt").unwrap();
        disk.remove("one.txt").unwrap();
        assert_eq!(disk.read("one.txt", 2).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_longer_than_expected_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        publish(&disk, "long", &[1; 100]).unwrap();
        assert_eq!(disk.read("long", 99).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(disk.read("long", 100).unwrap(), [1; 100]);
    }

    #[test]
    fn a_pipe_in_a_files_place_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: no mkfifo");
            return;
        }
        assert_eq!(disk.read("pipe", 99).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(disk.list().unwrap().is_empty());
    }

    #[test]
    fn names_outside_the_safe_set_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        let long = "a".repeat(129);
        for name in ["", ".", "..", "../x", "a/b", "a b", "A", ".hidden", "ä", "a\0", &long] {
            let error = disk.write_new(name, b"x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name:?}");
            assert!(disk.read(name, 9).is_err() && disk.remove(name).is_err());
        }
    }

    #[test]
    fn a_folder_is_used_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        let clone = disk.clone();
        drop(disk);
        let error = FolderDisk::open(folder.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        drop(clone);
        FolderDisk::open(folder.path()).unwrap();
    }

    #[test]
    fn a_folder_that_went_away_and_came_back_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let disk = FolderDisk::open(&path).unwrap();
        publish(&disk, "one", b"1").unwrap();
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(publish(&disk, "two", b"2").unwrap_err().place, Place::Create);
        fs::create_dir(&path).unwrap();
        publish(&disk, "two", b"2").unwrap();
        assert_eq!(disk.list().unwrap(), ["two"]);
    }
}
