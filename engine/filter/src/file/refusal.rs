//! Why a filter file was refused, or cannot be written.

use bloomrf_engine::format::SectionRefusal;
use bloomrf_engine::format::container::ContainerRefusal;

use super::codes::{Words, encoding_name};
use crate::scaling::ChainRefusal;
use crate::sharded::ShardRefusal;
use crate::{Encoding, HashRule};

/// Why a file is no filter, or none that may be asked so.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileRefusal {
    /// The container is not whole.
    #[error(transparent)]
    Container(#[from] ContainerRefusal),
    /// A file that holds a batch.
    #[error("file: a verified batch of a node; asked: a single filter")]
    Batch,
    /// A file that holds something that this reader does not know.
    #[error("state {state} and contents {contents}: neither a single filter (0, 1) nor a batch")]
    Contents {
        /// Byte 101 of the header.
        state: u8,
        /// Byte 102.
        contents: u8,
    },
    /// Longer than the caller allows.
    #[error("{have} bytes, where at most {most} are allowed: raise the limit to read it")]
    Limit {
        /// Bytes allowed.
        most: u64,
        /// Bytes there.
        have: u64,
    },
    /// Metadata that contradict themselves, or a critical tag that this reader does not know.
    #[error("metadata with tag {tag:#x} are malformed, or unknown and critical")]
    Metadata {
        /// The tag.
        tag: u16,
    },
    /// None, too many, or several without anything that makes one filter of them.
    #[error("{found} sections, where at most {most} make one filter of this form")]
    Sections {
        /// Sections there.
        found: u32,
        /// The most that there may be.
        most: u32,
    },
    /// Links that are no chain.
    #[error("the links make no chain: {0}")]
    Chain(ChainRefusal),
    /// Shards that are not of one filter.
    #[error("the shards make no filter: {0}")]
    Shards(ShardRefusal),
    /// Links or shards of several kinds or rates, or of a kind that makes none.
    #[error("links or shards of several kinds or rates, or of a kind that makes none")]
    Mixed,
    /// An entry of the section table is none that this format allows.
    #[error("section {section}: {fault}")]
    Entry {
        /// Index in the table.
        section: usize,
        /// What is wrong.
        fault: EntryFault,
    },
    /// A damaged payload. What is left of it would say *no* to what was inserted.
    #[error("section {section}: {reason}; build the filter anew from its source")]
    Payload {
        /// Index in the table.
        section: usize,
        /// Why.
        reason: SectionRefusal,
    },
    /// Another hash than the caller asks with.
    #[error("file: {}; asked: {}", Words(*.file), Words(*.asked))]
    Rule {
        /// The file's.
        file: HashRule,
        /// The caller's.
        asked: HashRule,
    },
    /// Another encoding than the caller's items have.
    #[error("file: items as {}; asked: {}", encoding_name(*.file), encoding_name(*.asked))]
    Encoding {
        /// The file's.
        file: Encoding,
        /// The caller's.
        asked: Encoding,
    },
}

/// What is wrong with an entry of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// No kind that this reader knows.
    #[error("kind {found} is unknown")]
    Kind {
        /// Its number.
        found: u16,
    },
    /// No hash that this reader knows.
    #[error("hash {found} with seed {seed} and index rule {index} is unknown")]
    Hash {
        /// Its number.
        found: u16,
        /// Its seed.
        seed: u64,
        /// Its index rule.
        index: u8,
    },
    /// No encoding that this reader knows.
    #[error("item encoding {found} is unknown")]
    Encoding {
        /// Its number.
        found: u8,
    },
    /// Another hash or encoding than the section before.
    #[error("its items are hashed or encoded otherwise than those of the section before")]
    Another,
    /// Sizes, probes or a rate out of their limits.
    #[error("its parameters are out of their limits")]
    Parameters,
    /// Anything else than what an encoder writes for these parameters: place, length, order, or
    /// a field that this kind does not use.
    #[error("it lies elsewhere than the entries before it say, or holds what its kind has not")]
    Place,
}

/// Why a filter cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Metadata past their limit.
    #[error("source position and labels take {bytes} bytes, past the limit of {most}")]
    Metadata {
        /// Bytes.
        bytes: usize,
        /// Limit.
        most: usize,
    },
    /// Bits of another system with a hash that is not theirs, or the other way round.
    #[error("items hashed by {}, which is not the rule of such a filter", Words(*.rule))]
    Rule {
        /// The rule.
        rule: HashRule,
    },
    /// A rate that is none.
    #[error("a target rate is more than 0 and less than 1, not {0}")]
    Rate(f64),
    /// The file would be longer than any may be.
    #[error("the file would take {bytes} bytes, past the limit of {most}")]
    TooLong {
        /// Bytes.
        bytes: u64,
        /// Limit.
        most: u64,
    },
}
