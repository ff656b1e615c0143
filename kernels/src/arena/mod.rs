//! Called when a batch opens or closes, not per record.
//!
//! Memory of filters: huge pages where they can be had, in size classes, under a ceiling.
//!
//! Why: a lookup reads random lines of hundreds of megabytes; with pages of 4 KiB every one of them
//! costs a page walk besides (2x the time at 256 MiB, more in a virtual machine). One region is
//! mapped at start, from reserved 2 MiB pages ([`PageMode::Huge2M`]), else aligned and given to the
//! kernel as a candidate for huge pages ([`PageMode::Transparent`]), else of plain pages; the arena
//! says which it got. Blocks of up to 64 KiB come from slabs of one size class, larger ones are
//! runs of 64 KiB granules, best fit, joined again when they are freed.
//!
//! Cost: one lock and a search in a small tree per block. Invariants: blocks are aligned to a cache
//! line and never overlap; the region is unmapped when the arena and every block are gone.

#[cfg(target_os = "linux")]
mod map;
#[cfg(not(target_os = "linux"))]
#[path = "map_heap.rs"]
mod map;
mod pool;
mod runs;
mod slabs;
mod words;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use map::Mapping;
use pool::{Block, Pool};

pub use words::Words;

/// How an arena is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaConfig {
    /// Bytes of blocks at most; rounded up to whole 2 MiB pages.
    pub bytes: usize,
    /// Which pages to try.
    pub pages: PagesWanted,
    /// NUMA node to bind the region to; `None`: where the first touch comes from.
    pub numa_node: Option<u32>,
    /// An unreadable page behind every block of 64 KiB and more (never with reserved huge pages).
    pub guards: bool,
}

impl ArenaConfig {
    /// An arena of `bytes` bytes on the best pages there are; guarded in debug builds.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let guards = cfg!(debug_assertions);
        ArenaConfig { bytes, pages: PagesWanted::Auto, numa_node: None, guards }
    }
}

/// Which pages an arena asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagesWanted {
    /// Reserved 2 MiB pages, else transparent ones, else 4 KiB.
    #[default]
    Auto,
    /// Transparent huge pages, else 4 KiB.
    Transparent,
    /// 4 KiB pages.
    Small,
}

/// Which pages an arena got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageMode {
    /// Reserved 2 MiB pages.
    Huge2M,
    /// Transparent huge pages: the kernel has backed the first page by one.
    Transparent,
    /// Pages of the machine's usual size.
    Small,
}

impl PageMode {
    /// Name, for logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PageMode::Huge2M => "huge-2m",
            PageMode::Transparent => "transparent",
            PageMode::Small => "small",
        }
    }
}

/// A region of filter memory; clones share it.
///
/// ```
/// use bloomrf_kernels::arena::{Arena, ArenaConfig};
///
/// let arena = Arena::new(ArenaConfig::new(4 << 20))?;
/// let mut words = arena.words(40_960).expect("fits the arena");
/// words[7] |= 1;
/// assert_eq!(arena.used_bytes(), 5 << 16);
/// drop(words);
/// assert_eq!(arena.used_bytes(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arena {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    mapping: Mapping,
    pool: Mutex<Pool>,
    guards: bool,
}

impl Arena {
    /// Maps a region.
    ///
    /// # Errors
    /// Where the system refuses even plain pages, the size is zero or past the address space, or
    /// the NUMA node cannot be bound to.
    pub fn new(config: ArenaConfig) -> io::Result<Self> {
        let mapping = Mapping::new(config.bytes, config.pages, config.numa_node)?;
        let guards = config.guards && mapping.pages() != PageMode::Huge2M;
        let pool = Mutex::new(Pool::new(mapping.bytes()));
        Ok(Arena { inner: Arc::new(Inner { mapping, pool, guards }) })
    }

    /// A zeroed block of `len` words, aligned to a cache line; `None` where it does not fit.
    #[must_use]
    pub fn words(&self, len: usize) -> Option<Words> {
        let mut words = self.words_unzeroed(len)?;
        words.fill(0);
        Some(words)
    }

    /// The same with whatever was in it before: for who writes every word anyway.
    #[must_use]
    pub fn words_unzeroed(&self, len: usize) -> Option<Words> {
        let block = self.lock().take(len, self.inner.guards)?;
        if self.inner.guards
            && let Some(guard) = block.guard()
        {
            // A process may hold only so many mappings: past that it goes without this guard.
            let _ = self.inner.mapping.protect(guard);
        }
        Some(Words::of_arena(Arc::clone(&self.inner), block, len))
    }

    /// Which pages the region is made of.
    #[must_use]
    pub fn pages(&self) -> PageMode {
        self.inner.mapping.pages()
    }

    /// Bytes that blocks may take in all.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.inner.mapping.bytes()
    }

    /// Bytes of the blocks in use, rounded up to their classes.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.lock().used_bytes()
    }

    /// Words of the largest block that could be had now.
    #[must_use]
    pub fn largest_words(&self) -> usize {
        self.lock().largest_words(self.inner.guards)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Pool> {
        self.inner.lock()
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, Pool> {
        // The pool is whole between its calls, whatever else a panicking thread was doing.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, block: Block) {
        if self.guards
            && let Some(guard) = block.guard()
            && self.mapping.unprotect(guard).is_err()
        {
            // Memory that cannot be written again is not handed out again.
            return;
        }
        self.lock().give(block);
    }
}

#[cfg(test)]
mod tests;
