//! A question, hashed once: the list of probes of one range, run against many filters.

use crate::{Answer, Layers};

/// What a hit or a miss of one probe means for the walk (two paths: left and right).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Covering bit of both paths, above the split: a miss is absent.
    Cover,
    /// Interior at the split layer: a hit is found.
    Any,
    /// Covering bit of the left path.
    Left,
    /// Covering bit of the right path.
    Right,
    /// The left path ends here (its interval lay wholly inside the range).
    EndLeft,
    /// The right path ends here.
    EndRight,
    /// Interior of the left path: a hit is found while the path is alive.
    AnyLeft,
    /// Interior of the right path.
    AnyRight,
    /// Every cover passed: found.
    Yes,
}

/// One probe: word by hash, the bits of it, and what they mean.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Bits of the word (a cyclic run), already rotated.
    pub mask: u64,
    /// Upper half of the hash; the word is `(hash * W) >> 32`. With `exact`: the word of the top bitmap.
    pub hash: u32,
    /// Meaning of the outcome.
    pub step: Step,
    /// The probe reads the exact top bitmap, not a hashed word (exempt from the probe budget).
    pub exact: bool,
}

/// The probes of one inclusive range (or point), to be built once and run against every filter
/// of the same [`Layers`], whatever its number of words. Reusable: `build` clears it.
#[derive(Clone, Debug, Default)]
pub struct RangePlan {
    probes: Vec<Probe>,
    over_budget: bool,
}

impl RangePlan {
    /// Builds the plan of `lo..=hi` (`lo <= hi`, both within the domain). A plan that would read
    /// more than `probes_max` hashed words answers [`Answer::OverBudget`] ever after.
    pub fn build(&mut self, layers: &Layers, lo: u64, hi: u64, probes_max: u32) {
        let _ = (layers, lo, hi, probes_max);
        todo!("kernels")
    }

    /// Runs the plan on a filter: `hashed` its W hashed words, `top` its exact top bitmap words
    /// (empty where the layers have none).
    #[must_use]
    pub fn run(&self, hashed: &[u64], top: TopBits<'_>) -> Answer {
        let _ = (hashed, top);
        todo!("kernels")
    }

    /// The probes in order, for kernels that walk many filters at once.
    #[must_use]
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }
}

/// The exact top 16 bits of a sealed filter: as a bitmap of 1,024 words or, when that is
/// smaller, as the sorted list of the values present.
#[derive(Clone, Copy, Debug)]
pub enum TopBits<'a> {
    /// The layers have no exact top.
    None,
    /// 1,024 words.
    Bitmap(&'a [u64]),
    /// Sorted, distinct values.
    List(&'a [u16]),
}
