//! BLMF files that hold one filter (or one chain of filters), as `docs/FORMAT.md` states them.
//!
//! A file tells everything that an answer depends on: kind and sizes, how items become bytes and
//! hashes, what was inserted and how far the source of the items was read. [`decode`] believes
//! nothing: every length is checked against the file's before it is used, and what was read must
//! encode to the same bytes again. A damaged file is refused whole: a filter that lost a bit says
//! *no* to what it holds.
//!
//! The layout is canonical: equal input gives equal bytes. A checksum is no signature: who can
//! write the folder can forge a file.
//!
//! Cost: about that of a copy; memory for the file's bytes and the filter, no more. No I/O but
//! in [`save`] and [`load`].

mod cbor;
mod codes;
mod compound;
mod entry;
#[cfg(target_os = "linux")]
mod in_place;
mod info;
mod metadata;
mod payload;
mod read;
mod refusal;
mod save;
mod section;
mod shape;
mod source;
mod write;

use std::collections::BTreeMap;

pub use compound::Compound;
#[cfg(target_os = "linux")]
pub(crate) use in_place::{CheckError, InPlace};
pub use info::{Info, SectionInfo};
pub use read::{Asked, decode};
pub use refusal::{EncodeError, EntryFault, FileRefusal};
pub use save::{LoadError, SaveError, Step, load, save, write_file};
pub use source::SourcePosition;
pub use write::{encode, encode_paged};

use crate::{AnyFilter, Encoding, HashRule, Presence};

/// A filter, and all that a file says of it.
#[derive(Clone, Debug)]
pub struct StoredFilter {
    /// The filter.
    pub filter: AnyFilter,
    /// How encoded items are hashed.
    pub rule: HashRule,
    /// What the bytes of items are.
    pub encoding: Encoding,
    /// The rate at full capacity that it was made for; of some imports nobody knows. A chain
    /// says its own.
    pub target_fpr: Option<f64>,
    /// Which writing this is.
    pub stamp: Stamp,
    /// How far the source of its items had been read.
    pub source: Option<SourcePosition>,
    /// Free labels.
    pub labels: BTreeMap<String, String>,
}

/// What a writer says of one writing of a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Of this very file: drawn anew for each that is written, so that no page of another passes
    /// for one of it.
    pub uuid: u128,
    /// Which writing of the filter; 0 where nobody counts.
    pub generation: u64,
    /// When it was built, microseconds since 1970; 0 where nobody knows.
    pub built_at_us: i64,
}

impl StoredFilter {
    /// A filter without more than must be said.
    #[must_use]
    pub fn new(filter: impl Into<AnyFilter>, rule: HashRule, encoding: Encoding) -> Self {
        StoredFilter {
            filter: filter.into(),
            rule,
            encoding,
            target_fpr: None,
            stamp: Stamp::default(),
            source: None,
            labels: BTreeMap::new(),
        }
    }

    /// Whether an item, encoded as [`StoredFilter::encoding`] says, may be there.
    #[must_use]
    pub fn contains(&self, item: &[u8]) -> bool {
        self.filter.contains(self.rule.hash(item))
    }
}

/// Longest filter file: 2^38 bytes.
pub const FILTER_FILE_BYTES_MAX: u64 = 1 << 38;
