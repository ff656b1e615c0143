//! A filter of any kind: what a file holds, and what a command works on.

mod scaling;

use std::fmt;

use bloomrf_kernels::hash::Hash128;

pub use scaling::AnyScaling;
pub(crate) use scaling::each_scaling;

use crate::{Blocked, Build, Classic, Imported, Inserted, Presence, SizeRefusal, Spec, SplitBlock};

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
    /// [`Imported`].
    Imported,
}

impl Kind {
    /// All kinds that can be built.
    pub const ALL: [Self; 3] = [Self::Classic, Self::SplitBlock, Self::Blocked];

    /// Its name, as commands take it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::SplitBlock => "split-block",
            Self::Blocked => "blocked",
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
    /// Bits of another system.
    Imported(Imported),
    /// A chain that grows.
    Scaling(AnyScaling),
}

/// What `$of` is for the filter `$filter` inside `$any`.
macro_rules! each {
    ($any:expr, $filter:ident => $of:expr) => {
        match $any {
            AnyFilter::Classic($filter) => $of,
            AnyFilter::SplitBlock($filter) => $of,
            AnyFilter::Blocked($filter) => $of,
            AnyFilter::Imported($filter) => $of,
            AnyFilter::Scaling($filter) => $of,
        }
    };
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
            Kind::Imported => return Ok(None),
        }))
    }

    /// Its kind; of a chain, that of its links.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Classic(_) => Kind::Classic,
            Self::SplitBlock(_) => Kind::SplitBlock,
            Self::Blocked(_) => Kind::Blocked,
            Self::Imported(_) => Kind::Imported,
            Self::Scaling(chain) => chain.kind(),
        }
    }
}

impl Presence for AnyFilter {
    fn insert(&mut self, item: Hash128) -> Inserted {
        each!(self, filter => filter.insert(item))
    }

    fn contains(&self, item: Hash128) -> bool {
        each!(self, filter => filter.contains(item))
    }

    fn insert_many(&mut self, items: &[Hash128]) -> usize {
        each!(self, filter => filter.insert_many(items))
    }

    fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
        each!(self, filter => filter.contains_many(items, found));
    }

    fn capacity(&self) -> u64 {
        each!(self, filter => filter.capacity())
    }

    fn inserted(&self) -> u64 {
        each!(self, filter => filter.inserted())
    }

    fn fill(&self) -> f64 {
        each!(self, filter => filter.fill())
    }

    fn fpr(&self) -> f64 {
        each!(self, filter => filter.fpr())
    }

    fn estimate(&self) -> f64 {
        each!(self, filter => filter.estimate())
    }

    fn bytes(&self) -> u64 {
        each!(self, filter => filter.bytes())
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

convert!(Classic, SplitBlock, Blocked, Imported);
