//! BLMF: the container that filters are stored in, as `docs/FORMAT.md` states it.
//!
//! A file holds one verified batch: a header that says whose it is, metadata, a table of sections
//! (the zone map, then one filter per column), their payloads, and a checksum per page of them.
//! [`encode`] makes the bytes, [`decode`] believes nothing: every length is checked before use,
//! every number against limits and schema, and what was read must encode to the same bytes again.
//! A damaged filter costs that column its filter ([`LostSection`]); damage anywhere else, or
//! a file of another batch, generation, cluster or schema than asked for, refuses the file.
//!
//! The layout is canonical: given the same batch, origin and stamp there is one encoding, and
//! every byte of it is either checked or implied. A checksum is no signature: who can write the
//! folder can forge a file.
//!
//! Cost: about that of a copy; memory for the file's bytes and for the filters, no more.

pub mod container;
mod header;
mod metadata;
mod name;
mod payload;
mod read;
mod refusal;
mod section;
mod shape;
mod write;
mod zones;

pub use container::{PageSize, Part};
pub use name::{FileName, FileNameError};
pub use read::decode;
pub use refusal::{EncodeError, EntryFault, FileRefusal, SectionRefusal};
pub use write::{encode, encode_paged};

pub(crate) use container::VERSION;

use crate::identity::{ClusterId, Fingerprint};
use crate::seal::SealedBatch;

/// Whose files these are. A file of another origin is no filter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Cluster.
    pub cluster: ClusterId,
    /// Fingerprint of the schema.
    pub fingerprint: Fingerprint,
    /// Version of the schema.
    pub schema_version: u32,
}

/// What a writer says of one writing of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Of this very file: no other file has it, so that no page of another passes for one of it.
    pub uuid: u128,
    /// Which writing of the batch; part of the file's name.
    pub generation: u64,
    /// When it was written, microseconds since 1970.
    pub built_at_us: i64,
    /// Hash seed of the data folder and schema epoch.
    pub seed: u64,
}

/// What a file held.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The batch; a lost filter is [`Filter::None`](crate::filter::Filter::None).
    pub batch: SealedBatch,
    /// What the writer said.
    pub stamp: Stamp,
    /// Filters that were damaged, in column order.
    pub lost: Vec<LostSection>,
}

/// A filter that was damaged: its column has only its zone map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSection {
    /// Ordinal of the column.
    pub ordinal: usize,
    /// Why.
    pub reason: SectionRefusal,
}
