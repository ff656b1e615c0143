//! Sizes as other systems choose them, for filters that are to be read there.

use super::{Plan, Shape, Structure};
use crate::Spec;
use crate::foreign::guava;

/// With whom a filter is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Share {
    /// Readers of Parquet files.
    Parquet,
    /// Guava's `BloomFilter`.
    Guava,
    /// RedisBloom.
    Redis,
}

/// A filter as the other system would size it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// Whose.
    pub share: Share,
    /// Bits that its formula asks for.
    pub bits_asked: u64,
    /// Words of 64 bits that hold them.
    pub words: u64,
    /// Probes.
    pub k: u32,
}

impl Share {
    /// Its name, as commands take it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Share::Parquet => "parquet",
            Share::Guava => "guava",
            Share::Redis => "redis",
        }
    }

    /// The structures that it reads.
    #[must_use]
    pub fn reads(self, structure: Structure) -> bool {
        match self {
            Share::Parquet => structure == Structure::SplitBlock,
            Share::Guava => structure == Structure::Classic,
            Share::Redis => matches!(structure, Structure::Classic | Structure::Scaling),
        }
    }

    /// The size that it would choose itself, where it can have one.
    #[must_use]
    pub fn sized(self, plan: &Plan) -> Option<Shared> {
        let (items, fpr) = (plan.question.items?, plan.question.fpr?);
        match self {
            Share::Parquet => {
                let Shape { bits, k, .. } = plan.shape(Structure::SplitBlock)?;
                Some(Shared { share: self, bits_asked: bits, words: bits / 64, k })
            }
            Share::Guava => {
                let (strategy, k_rule) = (guava::Strategy::Mitz64, guava::KRule::FromBits);
                let params = guava::Params { spec: Spec { items, fpr }, strategy, k_rule };
                let head = params.head().ok()?;
                let (bits_asked, words) = (params.bits().ok()?, u64::from(head.words));
                Some(Shared { share: self, bits_asked, words, k: u32::from(head.k) })
            }
            Share::Redis => {
                let bits_per_item = (fpr.ln() / 0.480_453_013_918_201).abs();
                let bits_asked = (items as f64 * bits_per_item).max(1.0) as u64;
                let k = (std::f64::consts::LN_2 * bits_per_item).ceil() as u32;
                Some(Shared { share: self, bits_asked, words: bits_asked.div_ceil(64), k })
            }
        }
    }
}
