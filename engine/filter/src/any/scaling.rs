//! A growing chain of links of any kind.

use bloomrf_kernels::hash::Hash128;

use super::{AnyFilter, Kind, forward_presence};
use crate::scaling::{ChainRefusal, Growth, Link};
use crate::{
    Blocked, Build, Classic, Counting, Cuckoo, Inserted, Presence, Scaling, Spec, SplitBlock,
};

/// A growing chain of links of any kind that can be built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyScaling {
    /// Of classic filters.
    Classic(Scaling<Classic>),
    /// Of split-block filters.
    SplitBlock(Scaling<SplitBlock>),
    /// Of blocked filters.
    Blocked(Scaling<Blocked>),
    /// Of counting filters.
    Counting(Scaling<Counting>),
    /// Of cuckoo filters.
    Cuckoo(Scaling<Cuckoo>),
}

/// What `$of` is for the chain `$chain` inside `$any`.
macro_rules! each_scaling {
    ($any:expr, $chain:ident => $of:expr) => {
        match $any {
            AnyScaling::Classic($chain) => $of,
            AnyScaling::SplitBlock($chain) => $of,
            AnyScaling::Blocked($chain) => $of,
            AnyScaling::Counting($chain) => $of,
            AnyScaling::Cuckoo($chain) => $of,
        }
    };
}
pub(crate) use each_scaling;

impl AnyScaling {
    /// A chain of one link; `None` for a kind that is only imported.
    ///
    /// # Errors
    /// Where it cannot grow so, or its first link cannot be made.
    pub fn build(kind: Kind, spec: &Spec, growth: Growth) -> Result<Option<Self>, ChainRefusal> {
        Ok(Some(match kind {
            Kind::Classic => Self::Classic(Scaling::new(spec, growth)?),
            Kind::SplitBlock => Self::SplitBlock(Scaling::new(spec, growth)?),
            Kind::Blocked => Self::Blocked(Scaling::new(spec, growth)?),
            Kind::Counting => Self::Counting(Scaling::new(spec, growth)?),
            Kind::Cuckoo => Self::Cuckoo(Scaling::new(spec, growth)?),
            Kind::Imported => return Ok(None),
        }))
    }

    /// A chain of links that were stored, newest last; `None` where they are not all of one kind
    /// that can be built.
    ///
    /// # Errors
    /// Those of [`Scaling::from_links`].
    pub fn from_links(
        fpr: f64,
        growth: Growth,
        links: Vec<Link<AnyFilter>>,
    ) -> Result<Option<Self>, ChainRefusal> {
        let kind = links.first().map(|link| link.filter.kind());
        Ok(match kind {
            None => return Err(ChainRefusal::NoLinks),
            Some(Kind::Classic) => chain(fpr, growth, links)?.map(Self::Classic),
            Some(Kind::SplitBlock) => chain(fpr, growth, links)?.map(Self::SplitBlock),
            Some(Kind::Blocked) => chain(fpr, growth, links)?.map(Self::Blocked),
            Some(Kind::Counting) => chain(fpr, growth, links)?.map(Self::Counting),
            Some(Kind::Cuckoo) => chain(fpr, growth, links)?.map(Self::Cuckoo),
            Some(Kind::Imported) => None,
        })
    }

    /// Kind of the links.
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

    /// How it grows.
    #[must_use]
    pub fn growth(&self) -> Growth {
        each_scaling!(self, chain => chain.growth())
    }

    /// The rate that it keeps to over any number of links.
    #[must_use]
    pub fn promised_fpr(&self) -> f64 {
        each_scaling!(self, chain => chain.promised_fpr())
    }

    /// What its links were built for, newest last.
    #[must_use]
    pub fn specs(&self) -> Vec<Spec> {
        each_scaling!(self, chain => chain.links().iter().map(|link| link.spec).collect())
    }
}

fn chain<F: Build + TryFrom<AnyFilter>>(
    fpr: f64,
    growth: Growth,
    links: Vec<Link<AnyFilter>>,
) -> Result<Option<Scaling<F>>, ChainRefusal> {
    let link = |link: Link<AnyFilter>| {
        Some(Link { filter: F::try_from(link.filter).ok()?, spec: link.spec })
    };
    match links.into_iter().map(link).collect() {
        Some(links) => Scaling::from_links(fpr, growth, links).map(Some),
        None => Ok(None),
    }
}

forward_presence!(AnyScaling: Classic, SplitBlock, Blocked, Counting, Cuckoo);
