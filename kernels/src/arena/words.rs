//! Called when a batch opens or closes, not per record.
//!
//! A block of words that somebody owns: from an arena, or from the heap where there is none.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::Inner;
use super::pool::{Block, LINE_BYTES};

/// Words aligned to a cache line. Reads and writes like a slice; gives its memory back when
/// dropped. Moving it moves no word.
pub struct Words {
    first: NonNull<u64>,
    len: usize,
    home: Home,
}

enum Home {
    /// `None` only while it is being dropped.
    Arena(Arc<Inner>, Option<Block>),
    /// Where its allocation starts: up to a line before the first word.
    Heap(NonNull<u8>, Layout),
    /// No words.
    Nowhere,
}

// SAFETY: `Words` owns its memory alone, as `Box<[u64]>` does; what it shares with other blocks
// (the region, the pool behind its lock) is `Sync`.
unsafe impl Send for Words {}
// SAFETY: through `&Words` the words can only be read.
unsafe impl Sync for Words {}

impl Words {
    /// `len` zeroed words without an arena, on pages as the allocator has them. Fresh pages are
    /// not touched: an allocation of a word's alignment comes zeroed from the system, one of a
    /// line's is cleared by hand.
    #[must_use]
    pub fn heap(len: usize) -> Self {
        if len == 0 {
            return Words { first: NonNull::dangling(), len: 0, home: Home::Nowhere };
        }
        let spare = LINE_BYTES / size_of::<u64>() - 1;
        let Ok(layout) = Layout::array::<u64>(len.saturating_add(spare)) else {
            // As `Vec` has it: more than the address space is nobody's to hand out.
            panic!("{len} words are past the address space");
        };
        // SAFETY: the layout is not empty.
        let Some(base) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            handle_alloc_error(layout)
        };
        let skipped = (base.as_ptr() as usize).wrapping_neg() % LINE_BYTES;
        // SAFETY: less than a line is skipped, in whole words, and that much is spare.
        let first = unsafe { base.add(skipped) }.cast();
        Words { first, len, home: Home::Heap(base, layout) }
    }

    /// The first `len` words of a block of an arena.
    pub(super) fn of_arena(inner: Arc<Inner>, block: Block, len: usize) -> Self {
        assert!(len * size_of::<u64>() <= block.bytes(), "a block holds its words");
        let first = inner.mapping.at(block.offset(), block.bytes());
        Words { first, len, home: Home::Arena(inner, Some(block)) }
    }

    /// Whether an arena holds it.
    #[must_use]
    pub fn is_of_arena(&self) -> bool {
        matches!(self.home, Home::Arena(..))
    }

    /// Bytes that it takes from its arena or the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.home {
            Home::Arena(_, block) => block.as_ref().map_or(0, Block::bytes),
            Home::Heap(_, layout) => layout.size(),
            Home::Nowhere => 0,
        }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        match &mut self.home {
            Home::Arena(inner, block) => {
                if let Some(block) = block.take() {
                    inner.give_back(block);
                }
            }
            // SAFETY: `heap` allocated it with this very layout, and nobody else frees it.
            Home::Heap(base, layout) => unsafe { dealloc(base.as_ptr(), *layout) },
            Home::Nowhere => {}
        }
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        // SAFETY: 1. `first` is aligned and points to `len` words that this value owns, or is
        //            dangling with `len` 0.
        //         2. they are initialised: mapped and heap memory is zeroed to begin with, and
        //            what an earlier owner left are words too.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `deref`, and `&mut self` is the only way to them.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

impl Default for Words {
    fn default() -> Self {
        Words::heap(0)
    }
}

/// A copy on the heap.
impl Clone for Words {
    fn clone(&self) -> Self {
        Words::from(&**self)
    }
}

impl From<&[u64]> for Words {
    fn from(words: &[u64]) -> Self {
        let mut copy = Words::heap(words.len());
        copy.copy_from_slice(words);
        copy
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Words {}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({} words{})", self.len, if self.is_of_arena() { ", arena" } else { "" })
    }
}
