//! Shards of any kind.

use bloomrf_kernels::hash::Hash128;

use super::{AnyFilter, Kind, forward_presence};
use crate::sharded::ShardRefusal;
use crate::{Blocked, Classic, Counting, Cuckoo, Inserted, Presence, Sharded, Spec, SplitBlock};

/// One filter over shards of any kind that can be built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnySharded {
    /// Of classic filters.
    Classic(Sharded<Classic>),
    /// Of split-block filters.
    SplitBlock(Sharded<SplitBlock>),
    /// Of blocked filters.
    Blocked(Sharded<Blocked>),
    /// Of counting filters.
    Counting(Sharded<Counting>),
    /// Of cuckoo filters.
    Cuckoo(Sharded<Cuckoo>),
}

/// What `$of` is for the shards `$shards` inside `$any`.
macro_rules! each_sharded {
    ($any:expr, $shards:ident => $of:expr) => {
        match $any {
            AnySharded::Classic($shards) => $of,
            AnySharded::SplitBlock($shards) => $of,
            AnySharded::Blocked($shards) => $of,
            AnySharded::Counting($shards) => $of,
            AnySharded::Cuckoo($shards) => $of,
        }
    };
}
pub(crate) use each_sharded;

impl AnySharded {
    /// An empty filter of `shards` shards; `None` for a kind that is only imported.
    ///
    /// # Errors
    /// Where there can be none.
    pub fn build(kind: Kind, spec: &Spec, shards: usize) -> Result<Option<Self>, ShardRefusal> {
        Ok(Some(match kind {
            Kind::Classic => Self::Classic(Sharded::new(spec, shards)?),
            Kind::SplitBlock => Self::SplitBlock(Sharded::new(spec, shards)?),
            Kind::Blocked => Self::Blocked(Sharded::new(spec, shards)?),
            Kind::Counting => Self::Counting(Sharded::new(spec, shards)?),
            Kind::Cuckoo => Self::Cuckoo(Sharded::new(spec, shards)?),
            Kind::Imported => return Ok(None),
        }))
    }

    /// A filter for `capacity` items of shards that were stored, in order; `None` where they are
    /// not all of one kind that can be built.
    ///
    /// # Errors
    /// Those of [`Sharded::with_shards`].
    pub fn with_shards(
        capacity: u64,
        shards: Vec<AnyFilter>,
    ) -> Result<Option<Self>, ShardRefusal> {
        Ok(match shards.first().map(AnyFilter::kind) {
            None => return Err(ShardRefusal::Shards(0)),
            Some(Kind::Classic) => join(capacity, shards)?.map(Self::Classic),
            Some(Kind::SplitBlock) => join(capacity, shards)?.map(Self::SplitBlock),
            Some(Kind::Blocked) => join(capacity, shards)?.map(Self::Blocked),
            Some(Kind::Counting) => join(capacity, shards)?.map(Self::Counting),
            Some(Kind::Cuckoo) => join(capacity, shards)?.map(Self::Cuckoo),
            Some(Kind::Imported) => None,
        })
    }

    /// Kind of the shards.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Classic(_) => Kind::Classic,
            Self::SplitBlock(_) => Kind::SplitBlock,
            Self::Blocked(_) => Kind::Blocked,
            Self::Counting(_) => Kind::Counting,
            Self::Cuckoo(_) => Kind::Cuckoo,
        }
    }

    /// How many.
    #[must_use]
    pub fn shards(&self) -> usize {
        each_sharded!(self, shards => shards.shards().len())
    }
}

fn join<F: Presence + TryFrom<AnyFilter>>(
    capacity: u64,
    shards: Vec<AnyFilter>,
) -> Result<Option<Sharded<F>>, ShardRefusal> {
    match shards.into_iter().map(|shard| F::try_from(shard).ok()).collect() {
        Some(shards) => Sharded::with_shards(capacity, shards).map(Some),
        None => Ok(None),
    }
}

forward_presence!(AnySharded: Classic, SplitBlock, Blocked, Counting, Cuckoo);
