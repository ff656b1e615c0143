//! What makes one filter of several sections: a critical item of the metadata, so that no reader
//! takes the first section for the whole.

use bloomrf_engine::wire::cursor::{Reader, Short, Writer};

use super::FileRefusal;
use super::entry::{Counts, is_rate};
use crate::scaling::{Growth, Link};
use crate::{AnyFilter, AnyScaling, AnySharded, Spec};

/// How sections make one filter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Compound {
    /// Links of a chain that grows, the newest last.
    Scaling {
        /// The rate that it keeps to over any number of links.
        fpr: f64,
        /// How it grows.
        growth: Growth,
    },
    /// Shards by the hash of items, in order.
    Sharded {
        /// Distinct items that all of them together were made for.
        capacity: u64,
    },
}

impl Compound {
    /// The value of its item.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut w = Writer::new(&mut out);
        match self {
            Compound::Scaling { fpr, growth } => {
                w.u16(FORM_SCALING);
                w.u16(0);
                w.u32(growth.factor);
                w.u64(fpr.to_bits());
                w.u64(growth.tightening.to_bits());
                w.u64(growth.links_max as u64);
                w.u64(growth.bytes_max);
            }
            Compound::Sharded { capacity } => {
                w.u16(FORM_SHARDED);
                w.zeros(6);
                w.u64(*capacity);
            }
        }
        out
    }

    /// Reads what [`Compound::encode`] writes, and nothing else.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let compound = parse(&mut Reader::new(bytes)).ok()??;
        (compound.encode() == bytes && compound.is_possible()).then_some(compound)
    }

    /// Its rate is one, where it has one.
    fn is_possible(&self) -> bool {
        match self {
            Compound::Scaling { fpr, .. } => is_rate(*fpr),
            Compound::Sharded { .. } => true,
        }
    }

    /// The filter that sections make, and the rate that it was made for.
    pub(super) fn join(
        self,
        sections: Vec<(AnyFilter, Counts)>,
    ) -> Result<(AnyFilter, Option<f64>), FileRefusal> {
        match self {
            Compound::Scaling { fpr, growth } => {
                let link = |(filter, counts): (AnyFilter, Counts)| {
                    // A link without a rate is refused by the chain.
                    let fpr = counts.target_fpr.unwrap_or(0.0);
                    Link { filter, spec: Spec { items: counts.capacity, fpr } }
                };
                let links = sections.into_iter().map(link).collect();
                let chain = AnyScaling::from_links(fpr, growth, links);
                let chain = chain.map_err(FileRefusal::Chain)?.ok_or(FileRefusal::Mixed)?;
                Ok((chain.into(), Some(fpr)))
            }
            Compound::Sharded { capacity } => {
                let rate = |(_, counts): &(AnyFilter, Counts)| counts.target_fpr;
                let fpr = sections.first().and_then(rate);
                if sections.iter().any(|section| rate(section) != fpr) {
                    return Err(FileRefusal::Mixed);
                }
                let shards = sections.into_iter().map(|(filter, _)| filter).collect();
                let shards = AnySharded::with_shards(capacity, shards);
                let shards = shards.map_err(FileRefusal::Shards)?.ok_or(FileRefusal::Mixed)?;
                Ok((shards.into(), fpr))
            }
        }
    }
}

fn parse(r: &mut Reader<'_>) -> Result<Option<Compound>, Short> {
    let form = r.u16()?;
    r.take(2)?;
    let factor = r.u32()?;
    match form {
        FORM_SCALING => {
            let (fpr, tightening) = (f64::from_bits(r.u64()?), f64::from_bits(r.u64()?));
            let (links_max, bytes_max) = (r.u64()?, r.u64()?);
            let Ok(links_max) = usize::try_from(links_max) else { return Ok(None) };
            let growth = Growth { factor, tightening, links_max, bytes_max };
            Ok(Some(Compound::Scaling { fpr, growth }))
        }
        FORM_SHARDED => Ok(Some(Compound::Sharded { capacity: r.u64()? })),
        _ => Ok(None),
    }
}

const FORM_SCALING: u16 = 1;
const FORM_SHARDED: u16 = 2;
