//! A machine as its files tell it: `/proc`, `/sys` and the like, below a root folder.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The machine whose files lie below a folder.
pub(super) struct Host {
    root: PathBuf,
}

/// No file that is looked at is longer, except for the list of a machine's many CPUs, of which
/// the first says enough.
const TEXT_BYTES_MAX: u64 = 1 << 20;

impl Host {
    /// This one.
    pub(super) fn of_this_machine() -> Self {
        Host::below("/")
    }

    /// One that is described by a tree of files.
    pub(super) fn below(root: impl Into<PathBuf>) -> Self {
        Host { root: root.into() }
    }

    /// Where `path`, absolute on that machine, lies on this one.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text of a file, without blanks around it; `None` where it cannot be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(path)).ok()?.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// A file that holds one number.
    pub(super) fn number(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok()
    }

    /// Names in a folder, sorted; none where there is no such folder.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else { return Vec::new() };
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.filter_map(Result::ok).map(name).collect();
        names.sort();
        names
    }

    /// Last part of what a symbolic link points at.
    pub(super) fn link(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// Whether there is such a file or folder.
    pub(super) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// What stands behind `name` and a colon in a file of such lines.
    pub(super) fn field(&self, path: &str, name: &str) -> Option<String> {
        let text = self.text(path)?;
        let value = |line: &str| {
            let (key, value) = line.split_once(':')?;
            (key.trim_end() == name).then(|| value.trim().to_owned())
        };
        text.lines().find_map(value)
    }

    /// Process ids of threads and processes whose name begins with `name`.
    pub(super) fn processes(&self, name: &str) -> Vec<(u32, String)> {
        let process = |pid: u32| Some((pid, self.text(&format!("/proc/{pid}/comm"))?));
        let pids = self.names("/proc").into_iter().filter_map(|entry| entry.parse().ok());
        pids.filter_map(process).filter(|(_, comm)| comm.starts_with(name)).collect()
    }
}
