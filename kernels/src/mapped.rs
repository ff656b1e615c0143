//! Called once per file: its words, mapped to be read while another process may write them.
//!
//! Words are atomic: what another process writes appears in them at any time, a word at a time,
//! on x86-64 in the order that it was written. What makes an answer of several words is the
//! caller's matter (a sequence number before and after).
//!
//! Cost: address space, and the page cache that all readers share; no memory of the process.
//! A page that is read for the first time waits for the disk. Invariant: the file must not become
//! shorter than the mapping: the system answers reads beyond its end with `SIGBUS`, which ends the
//! process. Whoever can cut the file can end its readers, and no more than that.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

/// The words of a file, read-only, shared with whoever changes it.
#[derive(Debug)]
pub struct MappedFile {
    start: NonNull<AtomicU64>,
    bytes: usize,
}

// SAFETY: the mapping is memory of the process, not of a thread, and nothing but atomic loads of
//         it is possible through the fields, which never change.
unsafe impl Send for MappedFile {}
// SAFETY: as above.
unsafe impl Sync for MappedFile {}

impl MappedFile {
    /// Maps the first `bytes` bytes of a file that is open for reading.
    ///
    /// # Errors
    /// Where the file is shorter, `bytes` are 0 or more than can be mapped, or the system refuses.
    pub fn map(file: &File, bytes: u64) -> io::Result<Self> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let have = file.metadata()?.len();
        if bytes == 0 || bytes > have {
            return Err(invalid(format!("{bytes} bytes of a file of {have} cannot be mapped")));
        }
        let length = usize::try_from(bytes).ok().filter(|length| *length < isize::MAX as usize);
        let length = length.ok_or_else(|| invalid(format!("{bytes} bytes are too many to map")))?;
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing of ours.
        let start =
            unsafe { libc::mmap(null_mut(), length, protection, flags, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(MappedFile { start, bytes: length })
    }

    /// Its whole words, in the order of the file and of this machine (little-endian). To be
    /// loaded, relaxed or acquiring, and nothing else: the memory cannot be written.
    #[must_use]
    pub fn words(&self) -> MappedWords<'_> {
        // SAFETY: the mapping begins at a page, is as long as `bytes`, and lives as long as
        //         `self`; whoever else changes its words does so outside of this process, and
        //         in it they can be looked at by atomic loads only, which need no right to write.
        let words = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes / 8) };
        MappedWords(words)
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length; `words` borrow `self`.
        let _ = unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Words that can be loaded, and not written.
#[derive(Clone, Copy, Debug)]
pub struct MappedWords<'a>(&'a [AtomicU64]);

impl<'a> MappedWords<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// `count` of them from `first` on; `None` where they are not all there.
    #[must_use]
    pub fn part(self, first: usize, count: usize) -> Option<MappedWords<'a>> {
        self.0.get(first..first.checked_add(count)?).map(MappedWords)
    }

    /// The word at `at`; no later load is done before it.
    #[must_use]
    #[inline]
    pub fn load(self, at: usize) -> Option<u64> {
        self.0.get(at).map(|word| word.load(Acquire))
    }

    /// `N` words from `first` on, each as it was at some time during the call.
    #[must_use]
    #[inline]
    pub fn load_many<const N: usize>(self, first: usize) -> Option<[u64; N]> {
        let words: &[AtomicU64; N] = self.0.get(first..)?.first_chunk()?;
        Some(std::array::from_fn(|i| words[i].load(Acquire)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let name = format!("bloomrf-mapped-{}-{}", std::process::id(), bytes.len());
        let path = std::env::temp_dir().join(name);
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path);
        let mut file = file.unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn words_of_a_file_are_seen_and_what_is_written_later_too() {
        let bytes: Vec<u8> = (0..20_004u32).map(|i| i as u8).collect();
        let file = file(&bytes);
        let mapped = MappedFile::map(&file, 20_004).unwrap();
        let words = mapped.words();
        assert_eq!(words.len(), 2_500, "four bytes at the end are no word");
        assert_eq!(words.load(0), Some(0x0706_0504_0302_0100));
        assert_eq!(words.load_many::<2>(2_498), Some([2_498, 2_499].map(word_of)));
        assert_eq!(words.load_many::<3>(2_498), None);
        assert_eq!(words.load(2_500), None);
        file.write_all_at(&77u64.to_le_bytes(), 8 * 2_000).unwrap();
        assert_eq!(words.load(2_000), Some(77));
        let part = words.part(2_000, 500).unwrap();
        assert_eq!((part.load(0), part.len(), part.load(500)), (Some(77), 500, None));
        assert!(words.part(2_001, 500).is_none() && words.part(1, usize::MAX).is_none());
    }

    fn word_of(at: u64) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| (8 * at as u32 + i as u32) as u8))
    }

    #[test]
    fn more_than_there_is_and_nothing_at_all_are_refused() {
        let file = file(&[1; 100]);
        for bytes in [0, 101, u64::MAX] {
            let why = MappedFile::map(&file, bytes).unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::InvalidInput, "{bytes}");
        }
    }
}
