//! Filters of other systems: read, asked, built and written, byte for byte as those systems do.
//!
//! Readers take bytes and never touch their source. A length is checked against the bytes that
//! are there before anything is allocated for it; no header is believed. Most of these formats
//! have no checksum and do not say how items became bytes: the caller names the
//! [`Encoding`](crate::Encoding), and [`Foreign::check_samples`] tells whether known members are
//! found with it.
//!
//! The rules of other systems have a floor at small sizes and rates: measure, do not trust what
//! was asked for ([`Foreign::fpr`] goes by the bits that are set).

mod bit_array;
pub mod bits;
mod cursor;
pub mod dablooms;
mod encode;
pub mod guava;
mod hash;
pub mod parquet;
pub mod redisbloom;
pub mod redisson;
mod rule;

use bloomrf_kernels::hash::Hash128;

pub use bit_array::{BitArray, BitOrder};
pub use encode::{EncodeRefusal, Item, encode};
pub use hash::{highway128, murmur3_x64_128, murmur64a};
pub use rule::Rule;

/// What every filter of another system can do, by items that are already encoded.
pub trait Foreign {
    /// The hash of an encoded item, as that system makes it.
    fn hash(&self, item: &[u8]) -> Hash128;

    /// Whether the item with this hash may be there.
    fn contains_hash(&self, hash: Hash128) -> bool;

    /// Whether an encoded item may be there.
    fn contains(&self, item: &[u8]) -> bool {
        self.contains_hash(self.hash(item))
    }

    /// The false-positive rate that it has now, by what is set in it.
    fn fpr(&self) -> f64;

    /// Distinct items in it, estimated as that system does.
    fn estimate(&self) -> f64;

    /// Bytes of its bits or counters.
    fn bytes(&self) -> u64;

    /// Asks for items that are known to be in it: a wrong encoding, size or file shows.
    ///
    /// # Errors
    /// Where some are missing, or there are none to ask for.
    fn check_samples<T: AsRef<[u8]>>(&self, members: &[T]) -> Result<(), SampleRefusal>
    where
        Self: Sized,
    {
        let missing = members.iter().filter(|item| !self.contains(item.as_ref())).count();
        match (members.len(), missing) {
            (0, _) => Err(SampleRefusal::NoSamples),
            (_, 0) => Ok(()),
            (asked, missing) => Err(SampleRefusal::Missing { missing, asked }),
        }
    }
}

/// Why samples do not vouch for an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleRefusal {
    /// Nothing was asked for.
    #[error("no samples were given: name some items that were added to the filter")]
    NoSamples,
    /// Members that the filter excludes.
    #[error(
        "{missing} of {asked} known members are not in the filter: it was made with another \
         item encoding or other parameters, or it is another filter, or it is damaged"
    )]
    Missing {
        /// Samples that were not found.
        missing: usize,
        /// Samples that were asked for.
        asked: usize,
    },
}

/// How much a reader or a builder may allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of bits or counters.
    pub bytes_max: u64,
}

impl Limits {
    /// Refuses more than the limit.
    fn admit(self, bytes: u64) -> Result<usize, Refusal> {
        let most = self.bytes_max.min(isize::MAX as u64);
        if bytes > most {
            return Err(Refusal::TooLarge { bytes, most });
        }
        Ok(bytes as usize)
    }
}

impl Default for Limits {
    /// 4 GiB.
    fn default() -> Self {
        Limits { bytes_max: 1 << 32 }
    }
}

/// Why bytes are not a filter of the system that they were said to be of.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It ends too early.
    #[error("{what} needs {need} bytes, and {have} are there: the file is cut short")]
    Short {
        /// What was being read.
        what: &'static str,
        /// Bytes that it needs.
        need: u64,
        /// Bytes that are there.
        have: u64,
    },
    /// It goes on after its end.
    #[error("{what} ends at byte {end}, and {extra} bytes follow: not such a file, or damaged")]
    Trailing {
        /// What was read.
        what: &'static str,
        /// Where it ends.
        end: u64,
        /// Bytes behind.
        extra: u64,
    },
    /// A field that cannot be right.
    #[error("{field} is {said}, and must be {expected}")]
    Field {
        /// Which.
        field: &'static str,
        /// What it says.
        said: String,
        /// What it may say.
        expected: String,
    },
    /// More than the caller allows.
    #[error("{bytes} bytes are more than the limit of {most}")]
    TooLarge {
        /// Bytes that are needed.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Parameters that the caller gave, as the format does not say them.
    #[error("no filter has the parameters that were given: {0}")]
    Params(#[from] crate::SizeRefusal),
    /// The checksum is that of other bytes.
    #[error("the checksum says {said:016x} and the bytes sum to {computed:016x}: damaged")]
    Checksum {
        /// In the file.
        said: u64,
        /// Of the bytes.
        computed: u64,
    },
}

impl Refusal {
    /// A field that cannot be right.
    fn field(
        field: &'static str,
        said: impl std::fmt::Display,
        expected: impl std::fmt::Display,
    ) -> Self {
        Refusal::Field { field, said: said.to_string(), expected: expected.to_string() }
    }
}

/// Why two filters cannot become one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {ours} here and {theirs} there: only filters that agree can be merged")]
pub struct MergeRefusal {
    /// What differs.
    pub field: &'static str,
    /// Of the filter that would change.
    pub ours: String,
    /// Of the other one.
    pub theirs: String,
}

impl MergeRefusal {
    /// Refuses where `ours` and `theirs` differ.
    fn unless_same<T: PartialEq + std::fmt::Debug>(
        field: &'static str,
        ours: T,
        theirs: T,
    ) -> Result<(), Self> {
        if ours == theirs {
            return Ok(());
        }
        Err(MergeRefusal { field, ours: format!("{ours:?}"), theirs: format!("{theirs:?}") })
    }
}
