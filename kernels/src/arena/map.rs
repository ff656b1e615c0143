//! Called once per arena: the mapping of its region, and the guards in it.
#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

use super::{PageMode, PagesWanted};

/// A private, anonymous mapping, writable, zeroed when it was made.
#[derive(Debug)]
pub(super) struct Mapping {
    /// What was mapped; the region may begin later, at a huge page.
    mapped: NonNull<u8>,
    mapped_bytes: usize,
    region: NonNull<u8>,
    bytes: usize,
    pages: PageMode,
}

// SAFETY: the mapping is memory of the process, not of a thread; its fields never change.
unsafe impl Send for Mapping {}
// SAFETY: as above; `protect` and `unprotect` are system calls that may run at the same time.
unsafe impl Sync for Mapping {}

/// Bytes of a huge page.
const HUGE_BYTES: usize = 2 << 20;

impl Mapping {
    /// Maps at least `bytes` bytes.
    pub(super) fn new(
        bytes: usize,
        wanted: PagesWanted,
        numa_node: Option<u32>,
    ) -> io::Result<Self> {
        let bytes = bytes
            .checked_next_multiple_of(HUGE_BYTES)
            .filter(|&bytes| bytes > 0 && bytes < isize::MAX as usize - HUGE_BYTES)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let mut mapping = match wanted {
            PagesWanted::Auto => Self::reserved(bytes).or_else(|_| Self::plain(bytes))?,
            PagesWanted::Transparent | PagesWanted::Small => Self::plain(bytes)?,
        };
        if mapping.pages != PageMode::Huge2M {
            let huge = wanted != PagesWanted::Small;
            mapping.advise(if huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE });
        }
        if let Some(node) = numa_node {
            mapping.bind(node)?;
        }
        if mapping.pages != PageMode::Huge2M && mapping.first_page_is_huge() {
            mapping.pages = PageMode::Transparent;
        }
        Ok(mapping)
    }

    /// Which pages it is made of.
    pub(super) fn pages(&self) -> PageMode {
        self.pages
    }

    /// Bytes of the region.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The words at `offset`.
    ///
    /// # Panics
    /// Where `bytes` bytes from there are not within the region, or not aligned.
    pub(super) fn at(&self, offset: usize, bytes: usize) -> NonNull<u64> {
        let end = offset.checked_add(bytes);
        assert!(offset.is_multiple_of(8) && end.is_some_and(|end| end <= self.bytes));
        // SAFETY: within one mapping, asserted above.
        unsafe { self.region.add(offset) }.cast()
    }

    /// Makes a part of the region unreadable.
    pub(super) fn protect(&self, part: Range<usize>) -> io::Result<()> {
        self.set_protection(part, libc::PROT_NONE)
    }

    /// Makes it readable and writable again.
    pub(super) fn unprotect(&self, part: Range<usize>) -> io::Result<()> {
        self.set_protection(part, libc::PROT_READ | libc::PROT_WRITE)
    }

    fn set_protection(&self, part: Range<usize>, protection: libc::c_int) -> io::Result<()> {
        let first = self.at(part.start, part.len());
        // SAFETY: the range lies within our own mapping, and belongs to one block that nobody
        //         else holds: guards lie outside of what `Words` shows.
        check(unsafe { libc::mprotect(first.as_ptr().cast(), part.len(), protection) })
    }

    /// Reserved 2 MiB pages, or an error where there are too few of them.
    fn reserved(bytes: usize) -> io::Result<Self> {
        let mapped = map(bytes, libc::MAP_HUGETLB | libc::MAP_HUGE_2MB)?;
        let pages = PageMode::Huge2M;
        Ok(Mapping { mapped, mapped_bytes: bytes, region: mapped, bytes, pages })
    }

    /// Plain pages, the region aligned to huge ones.
    fn plain(bytes: usize) -> io::Result<Self> {
        let mapped_bytes = bytes + HUGE_BYTES;
        let mapped = map(mapped_bytes, libc::MAP_NORESERVE)?;
        let skip = mapped.addr().get().wrapping_neg() % HUGE_BYTES;
        // SAFETY: `skip` is below HUGE_BYTES, which was mapped on top.
        let region = unsafe { mapped.add(skip) };
        Ok(Mapping { mapped, mapped_bytes, region, bytes, pages: PageMode::Small })
    }

    fn advise(&self, advice: libc::c_int) {
        // SAFETY: the region is our own mapping; the advice changes no content.
        // A kernel without huge pages refuses: then the pages are small, and reported as such.
        let _ = unsafe { libc::madvise(self.region.as_ptr().cast(), self.bytes, advice) };
    }

    /// Binds the region to one NUMA node.
    fn bind(&self, node: u32) -> io::Result<()> {
        const MPOL_BIND: libc::c_int = 2;
        let mut nodes = [0u64; 16];
        let word = nodes.get_mut(node as usize / 64).ok_or(io::ErrorKind::InvalidInput)?;
        *word = 1 << (node % 64);
        let bits = nodes.len() * 64;
        // SAFETY: the region is our own mapping and `nodes` outlives the call.
        let status = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.region.as_ptr(),
                self.bytes,
                MPOL_BIND,
                nodes.as_ptr(),
                bits,
                0,
            )
        };
        check(status as libc::c_int)
    }

    /// Touches the first page and asks the kernel what it put there.
    fn first_page_is_huge(&self) -> bool {
        // SAFETY: the region is mapped, writable and not handed out yet.
        unsafe { self.region.as_ptr().write_volatile(0) };
        let at = self.region.addr().get();
        let Ok(text) = fs::read_to_string("/proc/self/smaps") else { return false };
        let holds_region = |line: &str| {
            let (from, to) = line.split_once(' ')?.0.split_once('-')?;
            let from = usize::from_str_radix(from, 16).ok()?;
            let to = usize::from_str_radix(to, 16).ok()?;
            Some(from <= at && at < to)
        };
        let mut lines = text.lines().skip_while(|line| holds_region(line) != Some(true));
        lines.next();
        let huge = lines.find_map(|line| line.strip_prefix("AnonHugePages:"));
        let kib = huge.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.is_some_and(|kib| kib > 0)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length; every block holds the arena alive, so nobody
        //         looks into it any more.
        let _ = unsafe { libc::munmap(self.mapped.as_ptr().cast(), self.mapped_bytes) };
    }
}

fn map(bytes: usize, flags: libc::c_int) -> io::Result<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing of ours.
    let mapped = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(mapped.cast()).ok_or_else(io::Error::last_os_error)
}

fn check(status: libc::c_int) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
