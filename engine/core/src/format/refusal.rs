//! Why a file, a filter in it, or a batch to be written was refused.

use super::container::{ContainerRefusal, Masks, Part};
use crate::identity::{BatchId, ClusterId, Fingerprint};

/// Why a whole file is no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileRefusal {
    /// Shorter than its parts.
    #[error("{have} bytes, where {need} were expected: the file was cut off")]
    TooShort {
        /// Bytes expected.
        need: u64,
        /// Bytes there.
        have: u64,
    },
    /// Longer than its header says, or than any file may be.
    #[error("{have} bytes, where at most {most} were expected: something was appended")]
    TooLong {
        /// Bytes expected.
        most: u64,
        /// Bytes there.
        have: u64,
    },
    /// Does not begin with `BLMF`.
    #[error("no BLMF file: it does not begin with these letters")]
    Magic,
    /// The bytes that a copy in text mode changes were changed.
    #[error("bytes 8 to 11 are not 0d 0a 1a 0a: the file was copied in text mode, or damaged")]
    TextMode,
    /// Another format version.
    #[error("format version {found}, where this reader knows {}", super::container::VERSION)]
    Version {
        /// The file's version.
        found: u16,
    },
    /// A part's checksum fails.
    #[error("the checksum of the {part} fails: it was damaged, or comes from another file")]
    Checksum {
        /// Which part.
        part: Part,
    },
    /// An incompatible feature that this reader does not know.
    #[error("needs features {} that this reader does not know: use a newer one", Masks(*unknown))]
    Feature {
        /// The unknown bits.
        unknown: u32,
    },
    /// A byte that must be zero (or the one value there is) is not.
    #[error("the {part} holds something where its layout has nothing")]
    Reserved {
        /// Where.
        part: Part,
    },
    /// A part does not lie where the lengths of those before it put it, or is too long or short.
    #[error("the {part} lies elsewhere, or is longer or shorter, than the header's counts say")]
    Layout {
        /// Which part.
        part: Part,
    },
    /// Another cluster's.
    #[error("a file of cluster {found}")]
    Cluster {
        /// The file's cluster.
        found: ClusterId,
    },
    /// Another schema's.
    #[error("a file of the schema with fingerprint {found}")]
    Schema {
        /// The file's fingerprint.
        found: Fingerprint,
    },
    /// Another version of the schema.
    #[error("a file of version {found} of the schema")]
    SchemaVersion {
        /// The file's schema version.
        found: u32,
    },
    /// Another batch than the name says.
    #[error("the file of batch {found}, under the name of another one")]
    Batch {
        /// The file's batch.
        found: BatchId,
    },
    /// Another generation than the name says.
    #[error("generation {found}, under the name of another one")]
    Generation {
        /// The file's generation.
        found: u64,
    },
    /// A file that holds a single filter.
    #[error("file: a single filter; asked: a batch. Read it as a filter file")]
    SingleFilter,
    /// Not of a verified batch.
    #[error("a file of a batch in state {found}, where only verified ones (1) are stored")]
    State {
        /// The file's state.
        found: u8,
    },
    /// More records than any batch has.
    #[error("a batch of {found} records is past the limit")]
    Records {
        /// Records.
        found: u64,
    },
    /// A chain hash that this reader does not know.
    #[error("chain hash {found} is unknown")]
    Hash {
        /// Its number.
        found: u8,
    },
    /// Metadata that contradict themselves, or a critical tag that this reader does not know.
    #[error("metadata with tag {tag} are malformed, missing, or unknown and critical")]
    Metadata {
        /// The tag.
        tag: u16,
    },
    /// Not one section per column.
    #[error("{found} sections, where the schema has {expected} (the zone map and its columns)")]
    Sections {
        /// Sections there.
        found: u32,
        /// Sections expected.
        expected: u32,
    },
    /// A section's entry in the table is none that this schema and format allow.
    #[error("section {section}: {fault}")]
    Entry {
        /// Index in the table.
        section: usize,
        /// What is wrong.
        fault: EntryFault,
    },
    /// The zone map is damaged: without it a column may not be asked.
    #[error("the zone map: {reason}")]
    ZoneMap {
        /// Why.
        reason: SectionRefusal,
    },
}

/// What is wrong with an entry of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// No kind of this format.
    #[error("kind {found} is unknown")]
    Kind {
        /// Its number.
        found: u16,
    },
    /// A kind that a column of this type does not have.
    #[error("a column of this type has no such filter")]
    Column,
    /// Layers, words, counts or bits out of their limits.
    #[error("its parameters are out of their limits")]
    Parameters,
    /// Anything else than what an encoder writes for these parameters: place, length, order,
    /// or a field that this kind does not use.
    #[error("it lies elsewhere than the entries before it say, or holds what its kind has not")]
    Place,
}

/// Why one section was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SectionRefusal {
    /// The checksum of a page that it lies in fails.
    #[error("page {page} is damaged, or comes from another place or file")]
    Page {
        /// Index of the first such page.
        page: u32,
    },
    /// Something stands behind its end.
    #[error("something stands behind its end")]
    Padding,
    /// Its keys are not ascending and distinct.
    #[error("its keys are not ascending and distinct")]
    Order,
    /// Bits or counts that no keys make.
    #[error("its bits are none that keys make")]
    Bits,
    /// A key that the column cannot have.
    #[error("it holds a key that the column cannot have")]
    Domain,
}

/// Why a batch cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// No column, or more than any schema has.
    #[error("a batch of {count} columns cannot be stored")]
    Columns {
        /// Columns.
        count: usize,
    },
    /// More records than any batch has.
    #[error("a batch of {records} records is past the limit")]
    Records {
        /// Records.
        records: u64,
    },
    /// The column's bits lie in a group: take it out of there first.
    #[error("column {ordinal} is sliced: its bits lie in a group of the store")]
    Sliced {
        /// Ordinal of the column.
        ordinal: usize,
    },
    /// A filter whose parts do not fit each other.
    #[error("the filter of column {ordinal} is not whole")]
    Filter {
        /// Ordinal of the column.
        ordinal: usize,
    },
    /// A zone map that contradicts its flags.
    #[error("the zone map of column {ordinal} contradicts its flags")]
    ZoneMap {
        /// Ordinal of the column.
        ordinal: usize,
    },
    /// The file would be longer than any may be.
    #[error("the file would take {bytes} bytes, past the limit")]
    TooLong {
        /// Bytes.
        bytes: u64,
    },
}

impl From<ContainerRefusal> for FileRefusal {
    fn from(refusal: ContainerRefusal) -> Self {
        match refusal {
            ContainerRefusal::TooShort { need, have } => Self::TooShort { need, have },
            ContainerRefusal::TooLong { most, have } => Self::TooLong { most, have },
            ContainerRefusal::Magic => Self::Magic,
            ContainerRefusal::TextMode => Self::TextMode,
            ContainerRefusal::Version { found } => Self::Version { found },
            ContainerRefusal::Checksum { part } => Self::Checksum { part },
            ContainerRefusal::Feature { unknown } => Self::Feature { unknown },
            ContainerRefusal::Reserved { part } => Self::Reserved { part },
            ContainerRefusal::Layout { part } => Self::Layout { part },
            // No batch's file is changed in place.
            ContainerRefusal::BeingWritten { .. } => Self::Reserved { part: Part::Header },
        }
    }
}

impl FileRefusal {
    /// A name for metrics: one of [`FileRefusal::LABELS`].
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "too_short",
            Self::TooLong { .. } => "too_long",
            Self::Magic => "magic",
            Self::TextMode => "text_mode",
            Self::Version { .. } => "version",
            Self::Checksum { .. } => "checksum",
            Self::Feature { .. } => "feature",
            Self::Reserved { .. } => "reserved",
            Self::Layout { .. } => "layout",
            Self::Cluster { .. } => "cluster",
            Self::Schema { .. } | Self::SchemaVersion { .. } => "schema",
            Self::Batch { .. } => "batch",
            Self::Generation { .. } => "generation",
            Self::SingleFilter => "single_filter",
            Self::State { .. } => "state",
            Self::Records { .. } => "records",
            Self::Hash { .. } => "hash",
            Self::Metadata { .. } => "metadata",
            Self::Sections { .. } | Self::Entry { .. } => "section",
            Self::ZoneMap { .. } => "zone_map",
        }
    }

    /// All labels.
    pub const LABELS: [&str; 20] = [
        "too_short",
        "too_long",
        "magic",
        "text_mode",
        "version",
        "checksum",
        "feature",
        "reserved",
        "layout",
        "cluster",
        "schema",
        "batch",
        "generation",
        "single_filter",
        "state",
        "records",
        "hash",
        "metadata",
        "section",
        "zone_map",
    ];
}

impl SectionRefusal {
    /// A name for metrics: one of [`SectionRefusal::LABELS`].
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Page { .. } => "page",
            Self::Padding => "padding",
            Self::Order => "order",
            Self::Bits => "bits",
            Self::Domain => "domain",
        }
    }

    /// All labels.
    pub const LABELS: [&str; 5] = ["page", "padding", "order", "bits", "domain"];
}
