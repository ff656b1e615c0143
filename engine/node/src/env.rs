//! The real clock, disk and chance, behind the engine's traits.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bloomrf_engine::env::{Clock, Disk, Rng};

/// Monotonic time since the node started, and the wall clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic origin is now.
    pub(crate) fn new() -> Self {
        SystemClock { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn unix_us(&self) -> i64 {
        // Before 1970 the wall clock is wrong anyway; it never decides anything.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }
}

/// The data folder. Files in it are replaced whole or not at all; names come from a safe set, so
/// that none can leave the folder or hide in it.
#[derive(Debug)]
pub(crate) struct FolderDisk {
    folder: PathBuf,
}

impl FolderDisk {
    /// Creates the folder where it is missing, removes what an interrupted write left behind, and
    /// proves that files can be written.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let disk = FolderDisk { folder: folder.to_owned() };
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX) {
                fs::remove_file(entry.path())?;
            }
        }
        disk.write(PROBE_NAME, b"writable\n")?;
        disk.remove(PROBE_NAME)?;
        Ok(disk)
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

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

impl Disk for FolderDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(name) = name.to_str().filter(|n| is_safe_name(n))
                && entry.file_type()?.is_file()
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path(name)?)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let target = self.path(name)?;
        let temporary = self.folder.join(format!("{TEMPORARY_PREFIX}{name}"));
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        // A failed fsync is never retried on the same file: what reached the disk is unknown.
        let renamed = written.and_then(|()| fs::rename(&temporary, &target));
        if let Err(error) = renamed {
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        self.sync_folder()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path(name)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync_folder(),
        }
    }
}

/// Chance from the system.
#[derive(Debug)]
pub(crate) struct SystemRng {
    source: File,
}

impl SystemRng {
    /// Opens the system's source of randomness.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(SystemRng { source: File::open("/dev/urandom")? })
    }
}

impl Rng for SystemRng {
    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.source.read_exact(&mut bytes).expect("an open /dev/urandom does not fail");
        u64::from_le_bytes(bytes)
    }
}

fn is_safe_name(name: &str) -> bool {
    let safe = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(safe)
}

/// Longest file name.
const NAME_BYTES_MAX: usize = 128;
/// Files being written; never listed, removed at start.
const TEMPORARY_PREFIX: &str = ".tmp-";
/// File that proves at start that the folder can be written.
const PROBE_NAME: &str = "write-probe";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_replaces_lists_and_removes_whole_files() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(&folder.path().join("a/b")).unwrap();
        assert_eq!(disk.list().unwrap(), Vec::<String>::new());
        disk.write("one.txt", b"1").unwrap();
        disk.write("one.txt", b"22").unwrap();
        assert_eq!(disk.read("one.txt").unwrap(), b"22");
        assert_eq!(disk.list().unwrap(), ["one.txt"]);
        disk.remove("one.txt").unwrap();
        disk.remove("one.txt").unwrap();
        assert_eq!(disk.read("one.txt").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn names_outside_the_safe_set_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        let long = "a".repeat(129);
        for name in ["", ".", "..", "../x", "a/b", "a b", "A", ".hidden", "ä", "a\0", &long] {
            let error = disk.write(name, b"x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name:?}");
            assert!(disk.read(name).is_err() && disk.remove(name).is_err());
        }
    }

    #[test]
    fn an_interrupted_write_is_cleared_at_start() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".tmp-seed");
        fs::write(&left, b"half").unwrap();
        let disk = FolderDisk::open(folder.path()).unwrap();
        assert!(!left.exists() && disk.list().unwrap().is_empty());
    }

    #[test]
    fn clock_goes_forward_and_chance_varies() {
        let clock = SystemClock::new();
        let first = clock.now_ns();
        assert!(clock.now_ns() >= first && clock.unix_us() > 0);
        let mut rng = SystemRng::open().unwrap();
        assert_ne!(rng.next_u64(), rng.next_u64());
    }
}
