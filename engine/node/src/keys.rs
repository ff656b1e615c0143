//! Key files: 16-byte secrets with their ids, readable by their owner alone.
//!
//! A file is read at start and again when it changes, so that a key can be added, moved to the
//! front and removed while the node runs. A changed file that cannot be used leaves the keys as
//! they were, and the log says why.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bloomrf_engine::limits::KEY_TEXT_BYTES_MAX;
use bloomrf_engine::wire::mac::{KeyBook, KeyRing, KeyRingError};

use crate::Config;

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// It cannot be read.
    #[error("key file {}: {source}", path.display())]
    Read {
        /// File.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Others than its owner may read or write it.
    #[error(
        "key file {} has mode {mode:03o}: others may read or write it, so its keys are no \
         secrets; draw new ones and keep the file at mode 600 (chmod 600)",
        path.display()
    )]
    Open {
        /// File.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// Its content is no list of keys.
    #[error("key file {}: {source}", path.display())]
    Content {
        /// File.
        path: PathBuf,
        /// What is wrong.
        source: KeyRingError,
    },
}

/// Reads a key file.
pub fn load(path: &Path) -> Result<KeyRing, KeyFileError> {
    load_with_stamp(path).map(|(ring, _)| ring)
}

/// Tells one content of a file from the next: device, inode, size, time of change.
type Stamp = (u64, u64, u64, i64, i64);

fn load_with_stamp(path: &Path) -> Result<(KeyRing, Stamp), KeyFileError> {
    let refuse = |source| KeyFileError::Read { path: path.to_owned(), source };
    // A pipe or device would keep the node waiting.
    if !std::fs::metadata(path).map_err(refuse)?.is_file() {
        return Err(refuse(io::Error::other("not a file")));
    }
    let mut file = File::open(path).map_err(refuse)?;
    let (mode, stamp) = stat(&file).map_err(refuse)?;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Open { path: path.to_owned(), mode: mode & 0o777 });
    }
    let mut text = String::new();
    let bytes_max = KEY_TEXT_BYTES_MAX as u64;
    Read::take(&mut file, bytes_max + 1).read_to_string(&mut text).map_err(refuse)?;
    if text.len() > KEY_TEXT_BYTES_MAX {
        return Err(refuse(io::Error::other(format!("longer than {bytes_max} bytes"))));
    }
    let content = |source| KeyFileError::Content { path: path.to_owned(), source };
    Ok((KeyRing::parse(&text).map_err(content)?, stamp))
}

/// Permission bits and stamp of the file that is really open.
fn stat(file: &File) -> io::Result<(u32, Stamp)> {
    let stat = rustix::fs::fstat(file)?;
    Ok((stat.st_mode, stamp_of(&stat)))
}

fn stamp_of(stat: &rustix::fs::Stat) -> Stamp {
    #[allow(clippy::unnecessary_cast, reason = "the fields' types differ from system to system")]
    (
        stat.st_dev as u64,
        stat.st_ino as u64,
        stat.st_size as u64,
        stat.st_ctime as i64,
        stat.st_ctime_nsec as i64,
    )
}

/// A file and the keys that were last read from it.
#[derive(Debug)]
pub(crate) struct KeyFile {
    path: PathBuf,
    what: &'static str,
    book: Arc<KeyBook>,
    seen: Mutex<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    stamp: Stamp,
    /// The last attempt failed, and the log says so already.
    failing: bool,
}

impl KeyFile {
    fn open(path: &Path, what: &'static str) -> Result<Self, KeyFileError> {
        let (ring, stamp) = load_with_stamp(path)?;
        tracing::info!(what, ids = ?ring.ids().collect::<Vec<_>>(), "keys in use");
        Ok(KeyFile {
            path: path.to_owned(),
            what,
            book: Arc::new(KeyBook::new(ring)),
            seen: Mutex::new(Seen { stamp, failing: false }),
        })
    }

    /// Reads the file again where it has changed.
    fn refresh(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = rustix::fs::stat(&self.path).map(|stat| stamp_of(&stat));
        if stamp == Ok(seen.stamp) {
            return;
        }
        match load_with_stamp(&self.path) {
            Ok((ring, stamp)) => {
                let ids: Vec<_> = ring.ids().collect();
                tracing::info!(what = self.what, ?ids, "keys changed");
                self.book.replace(ring);
                *seen = Seen { stamp, failing: false };
            }
            Err(error) if !seen.failing => {
                tracing::error!(what = self.what, %error, "the keys stay as they were");
                seen.failing = true;
            }
            Err(_) => {}
        }
    }
}

/// The key files of a node.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    lookup: Option<KeyFile>,
    ingest: Option<KeyFile>,
}

impl Keys {
    /// Reads the files that the configuration names.
    pub(crate) fn load(config: &Config) -> Result<Self, KeyFileError> {
        let open = |path: &Option<PathBuf>, what| {
            path.as_deref().map(|path| KeyFile::open(path, what)).transpose()
        };
        Ok(Keys {
            lookup: open(&config.lookup_keys, "lookup")?,
            ingest: open(&config.ingest_keys, "ingest")?,
        })
    }

    /// Keys that lookups must be sealed with, if they must.
    pub(crate) fn lookup(&self) -> Option<&Arc<KeyBook>> {
        self.lookup.as_ref().map(|file| &file.book)
    }

    /// Keys that ingest frames must be sealed with, if they must.
    pub(crate) fn ingest(&self) -> Option<&Arc<KeyBook>> {
        self.ingest.as_ref().map(|file| &file.book)
    }

    /// Takes changed files into use. Reads files: for the control thread.
    pub(crate) fn refresh(&self) {
        self.lookup.iter().chain(&self.ingest).for_each(KeyFile::refresh);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn write(path: &Path, text: &str, mode: u32) {
        // A new inode, as an editor or a secret store would make it.
        let aside = path.with_extension("new");
        std::fs::write(&aside, text).unwrap();
        std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(mode)).unwrap();
        std::fs::rename(&aside, path).unwrap();
    }

    fn line(id: u32) -> String {
        format!("{id} {:032x}\n", u128::from(id) + 1)
    }

    #[test]
    fn a_file_that_others_may_read_or_write_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        for mode in [0o600, 0o400, 0o700] {
            write(&path, &line(1), mode);
            assert_eq!(load(&path).unwrap().signer().id(), 1);
        }
        for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o601] {
            write(&path, &line(1), mode);
            let error = load(&path).unwrap_err().to_string();
            assert!(error.contains("chmod 600") && error.contains(&format!("{mode:o}")), "{error}");
        }
    }

    #[test]
    fn what_is_no_key_file_is_refused_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        assert!(load(&path).unwrap_err().to_string().contains("keys"));
        write(&path, "1 nonsense", 0o600);
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains("line 1") && !error.contains("nonsense"), "{error}");
        write(&path, &"#".repeat(KEY_TEXT_BYTES_MAX + 1), 0o600);
        assert!(load(&path).unwrap_err().to_string().contains("longer than"));
        write(&path, &format!("{}{}", line(1), "#".repeat(KEY_TEXT_BYTES_MAX - 35)), 0o600);
        assert!(load(&path).is_ok());
        for odd in [folder.path(), Path::new("/dev/zero")] {
            assert!(load(odd).unwrap_err().to_string().contains("not a file"));
        }
    }

    #[test]
    fn a_changed_file_is_taken_into_use_and_a_broken_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        write(&path, &line(1), 0o600);
        let config = Config { lookup_keys: Some(path.clone()), ..Config::default() };
        let keys = Keys::load(&config).unwrap();
        assert!(keys.ingest().is_none());
        let ids = || keys.lookup().unwrap().load().ids().collect::<Vec<_>>();
        keys.refresh();
        assert_eq!(ids(), [1]);
        write(&path, &(line(2) + &line(1)), 0o600);
        keys.refresh();
        assert_eq!(ids(), [2, 1]);
        for (text, mode) in [("nonsense".to_owned(), 0o600), (line(3), 0o644)] {
            write(&path, &text, mode);
            keys.refresh();
            assert_eq!(ids(), [2, 1]);
        }
        std::fs::remove_file(&path).unwrap();
        keys.refresh();
        assert_eq!(ids(), [2, 1]);
        write(&path, &line(2), 0o600);
        keys.refresh();
        assert_eq!(ids(), [2]);
    }
}
