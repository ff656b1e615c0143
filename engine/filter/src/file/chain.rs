//! What makes one filter of several sections: a critical item of the metadata, so that no reader
//! takes the first section for the whole.

use bloomrf_engine::wire::cursor::{Reader, Short, Writer};

use super::FileRefusal;
use super::entry::{Counts, is_rate};
use crate::scaling::{Growth, Link};
use crate::{AnyFilter, AnyScaling, Spec};

/// How sections make one filter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Chain {
    /// Links of a chain that grows, the newest last.
    Scaling {
        /// The rate that it keeps to over any number of links.
        fpr: f64,
        /// How it grows.
        growth: Growth,
    },
}

impl Chain {
    /// The value of its item.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut w = Writer::new(&mut out);
        match self {
            Chain::Scaling { fpr, growth } => {
                w.u16(FORM_SCALING);
                w.u16(0);
                w.u32(growth.factor);
                w.u64(fpr.to_bits());
                w.u64(growth.tightening.to_bits());
                w.u64(growth.links_max as u64);
                w.u64(growth.bytes_max);
            }
        }
        out
    }

    /// Reads what [`Chain::encode`] writes, and nothing else.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let chain = parse(&mut Reader::new(bytes)).ok()??;
        (chain.encode() == bytes && is_rate(chain.fpr())).then_some(chain)
    }

    /// The rate of the whole.
    pub(super) fn fpr(&self) -> f64 {
        let Chain::Scaling { fpr, .. } = self;
        *fpr
    }

    /// The filter that sections make.
    pub(super) fn join(self, sections: Vec<(AnyFilter, Counts)>) -> Result<AnyFilter, FileRefusal> {
        let mut links = Vec::with_capacity(sections.len());
        for (filter, counts) in sections {
            // A link without a rate is refused by the chain.
            let spec = Spec { items: counts.capacity, fpr: counts.target_fpr.unwrap_or(0.0) };
            links.push(Link { filter, spec });
        }
        let Chain::Scaling { fpr, growth } = self;
        match AnyScaling::from_links(fpr, growth, links) {
            Ok(Some(chain)) => Ok(AnyFilter::Scaling(chain)),
            Ok(None) => Err(FileRefusal::Mixed),
            Err(refusal) => Err(FileRefusal::Chain(refusal)),
        }
    }
}

fn parse(r: &mut Reader<'_>) -> Result<Option<Chain>, Short> {
    let (form, _) = (r.u16()?, r.u16()?);
    if form != FORM_SCALING {
        return Ok(None);
    }
    let factor = r.u32()?;
    let (fpr, tightening) = (f64::from_bits(r.u64()?), f64::from_bits(r.u64()?));
    let (links_max, bytes_max) = (r.u64()?, r.u64()?);
    let Ok(links_max) = usize::try_from(links_max) else { return Ok(None) };
    let growth = Growth { factor, tightening, links_max, bytes_max };
    Ok(Some(Chain::Scaling { fpr, growth }))
}

const FORM_SCALING: u16 = 1;
