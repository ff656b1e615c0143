//! A filter of any kind: what a file holds, and what a command works on.

mod forward;
mod scaling;
mod sharded;

use std::fmt;

use bloomrf_kernels::hash::Hash128;

use forward::forward_presence;
pub use scaling::AnyScaling;
pub(crate) use scaling::each_scaling;
pub use sharded::AnySharded;
pub(crate) use sharded::each_sharded;

use crate::{
    Blocked, Build, Classic, Counting, Cuckoo, Imported, Inserted, Presence, SizeRefusal, Spec,
    SplitBlock,
};

/// A kind of filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// [`Classic`].
    Classic,
    /// [`SplitBlock`].
    SplitBlock,
    /// [`Blocked`].
    Blocked,
    /// [`Counting`].
    Counting,
    /// [`Cuckoo`].
    Cuckoo,
    /// [`Imported`].
    Imported,
}

impl Kind {
    /// All kinds that can be built.
    pub const ALL: [Self; 5] =
        [Self::Classic, Self::SplitBlock, Self::Blocked, Self::Counting, Self::Cuckoo];

    /// Its name, as commands take it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::SplitBlock => "split-block",
            Self::Blocked => "blocked",
            Self::Counting => "counting",
            Self::Cuckoo => "cuckoo",
            Self::Imported => "imported",
        }
    }

    /// The kind of this name, if it can be built.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A filter of any kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyFilter {
    /// k bits anywhere.
    Classic(Classic),
    /// Parquet's.
    SplitBlock(SplitBlock),
    /// k bits in a cache line.
    Blocked(Blocked),
    /// Counters, to take items back.
    Counting(Counting),
    /// Fingerprints, to take items back.
    Cuckoo(Cuckoo),
    /// Bits of another system.
    Imported(Imported),
    /// A chain that grows.
    Scaling(AnyScaling),
    /// Shards by hash.
    Sharded(AnySharded),
}

impl AnyFilter {
    /// An empty filter of a kind; `None` for a kind that is only imported.
    ///
    /// # Errors
    /// Where no filter of this kind can be so.
    pub fn build(kind: Kind, spec: &Spec) -> Result<Option<Self>, SizeRefusal> {
        Ok(Some(match kind {
            Kind::Classic => Classic::build(spec)?.into(),
            Kind::SplitBlock => SplitBlock::build(spec)?.into(),
            Kind::Blocked => Blocked::build(spec)?.into(),
            Kind::Counting => Counting::build(spec)?.into(),
            Kind::Cuckoo => Cuckoo::build(spec)?.into(),
            Kind::Imported => return Ok(None),
        }))
    }

    /// Its kind; of a chain or shards, that of each.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Classic(_) => Kind::Classic,
            Self::SplitBlock(_) => Kind::SplitBlock,
            Self::Blocked(_) => Kind::Blocked,
            Self::Counting(_) => Kind::Counting,
            Self::Cuckoo(_) => Kind::Cuckoo,
            Self::Imported(_) => Kind::Imported,
            Self::Scaling(chain) => chain.kind(),
            Self::Sharded(shards) => shards.kind(),
        }
    }
}

forward_presence!(
    AnyFilter: Classic, SplitBlock, Blocked, Counting, Cuckoo, Imported, Scaling, Sharded
);

impl From<AnySharded> for AnyFilter {
    fn from(shards: AnySharded) -> Self {
        Self::Sharded(shards)
    }
}

impl From<AnyScaling> for AnyFilter {
    fn from(chain: AnyScaling) -> Self {
        Self::Scaling(chain)
    }
}

/// To a filter of any kind, and back where it is of that kind; the error is the kind that it is.
macro_rules! convert {
    ($($kind:ident),*) => {$(
        impl From<$kind> for AnyFilter {
            fn from(filter: $kind) -> Self {
                Self::$kind(filter)
            }
        }

        impl TryFrom<AnyFilter> for $kind {
            type Error = Kind;

            fn try_from(filter: AnyFilter) -> Result<Self, Kind> {
                match filter {
                    AnyFilter::$kind(filter) => Ok(filter),
                    other => Err(other.kind()),
                }
            }
        }
    )*};
}

convert!(Classic, SplitBlock, Blocked, Counting, Cuckoo, Imported);
