//! What there is to choose from, and what each can do whatever its size.

use std::fmt;

/// Something that remembers items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Structure {
    /// k bits anywhere among m.
    Classic,
    /// k bits in one block of 512.
    Blocked,
    /// Parquet's: eight bits in one block of 256.
    SplitBlock,
    /// A bloomRF, by what it says of points.
    BloomrfPoints,
    /// A bloomRF, by what it says of ranges.
    BloomrfRanges,
    /// A classic filter with a counter of four bits in place of each bit.
    Counting,
    /// Fingerprints of 16 bits, four to a bucket, two buckets an item.
    Cuckoo,
    /// A chain of classic filters, each tighter than the one before.
    Scaling,
    /// One bit for every key that there can be.
    Bitmap,
    /// A hash table of the items themselves, as Rust's `HashSet`.
    HashSet,
}

impl Structure {
    /// All, in the order in which they are shown.
    pub const ALL: [Structure; 10] = [
        Structure::Classic,
        Structure::Blocked,
        Structure::SplitBlock,
        Structure::BloomrfPoints,
        Structure::BloomrfRanges,
        Structure::Counting,
        Structure::Cuckoo,
        Structure::Scaling,
        Structure::Bitmap,
        Structure::HashSet,
    ];

    /// Its name, as commands show and take it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Structure::Classic => "classic",
            Structure::Blocked => "blocked",
            Structure::SplitBlock => "split-block",
            Structure::BloomrfPoints => "bloomrf",
            Structure::BloomrfRanges => "bloomrf-ranges",
            Structure::Counting => "counting",
            Structure::Cuckoo => "cuckoo",
            Structure::Scaling => "scaling",
            Structure::Bitmap => "bitmap",
            Structure::HashSet => "hash-set",
        }
    }

    /// Whether items can be taken back.
    #[must_use]
    pub fn deletes(self) -> bool {
        use Structure::{Bitmap, Counting, Cuckoo, HashSet};
        matches!(self, Counting | Cuckoo | Bitmap | HashSet)
    }

    /// Whether it takes more items than it was made for and keeps to its rate.
    #[must_use]
    pub fn grows(self) -> bool {
        matches!(self, Structure::Scaling | Structure::Bitmap | Structure::HashSet)
    }

    /// Whether it answers "is any key from a to b there?".
    #[must_use]
    pub fn ranges(self) -> bool {
        use Structure::{Bitmap, BloomrfPoints, BloomrfRanges};
        matches!(self, BloomrfPoints | BloomrfRanges | Bitmap)
    }

    /// Whether it never says *maybe* to what is not there.
    #[must_use]
    pub fn is_exact(self) -> bool {
        matches!(self, Structure::Bitmap | Structure::HashSet)
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
