//! Hot path: no lock, no syscall; `build` reuses its memory, `run` allocates nothing.
//!
//! A question, hashed once: the list of probes of one range, run against many filters.

use crate::descent::{Run, Visit, descend};
use crate::hash::mix;
use crate::layers::EXACT_TOP;
use crate::scalar::bitmap;
use crate::{Answer, Layer, Layers};

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
    /// Upper half of the hash; the word is `(hash * W) >> 32`. With `exact`: the word of the top
    /// bitmap.
    pub hash: u32,
    /// First bit of the cyclic run that `mask` is.
    pub start: u8,
    /// Bits of the run, 1..=64; 0 where the step reads nothing (its hash means nothing then).
    pub length: u8,
    /// Meaning of the outcome.
    pub step: Step,
    /// The probe reads the exact top bitmap, not a hashed word (exempt from the probe budget).
    pub exact: bool,
}

/// The probes of one inclusive range (or point), to be built once and run against every filter
/// of the same [`Layers`], whatever its number of words. Reusable: `build` clears it.
///
/// ```
/// use bloomrf_kernels::plan::TopBits;
/// use bloomrf_kernels::{Kernel, RangePlan, bloomrf, params};
///
/// let layers = params::layers_for(64, 7);
/// let filters = [5_000, 9_000].map(|key| {
///     let mut hashed = vec![0; 120];
///     bloomrf::insert_many(Kernel::best(), &layers, &mut hashed, &mut [], &[key]);
///     hashed
/// });
/// let mut plan = RangePlan::default();
/// plan.build(&layers, 4_990, 5_010, 256);
/// assert!(plan.run(&filters[0], TopBits::None).may_hold());
/// assert!(!plan.run(&filters[1], TopBits::None).may_hold());
/// ```
#[derive(Clone, Debug, Default)]
pub struct RangePlan {
    probes: Vec<Probe>,
    over_budget: bool,
    top_run: Option<TopRun>,
}

/// The interior that a plan reads from the exact top: one question there, many probes in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopRun {
    /// First of the intervals.
    pub(crate) from: u16,
    /// Last of the intervals.
    pub(crate) to: u16,
    /// Index of the first probe after the run.
    pub(crate) past: usize,
}

impl RangePlan {
    /// Builds the plan of `lo..=hi` (`lo <= hi`, both within the domain). A plan that would read
    /// more than `probes_max` hashed words answers [`Answer::OverBudget`] ever after.
    pub fn build(&mut self, layers: &Layers, lo: u64, hi: u64, probes_max: u32) {
        self.probes.clear();
        self.over_budget = false;
        self.top_run = None;
        if lo == hi && lo <= layers.key_max() {
            return self.build_point(layers, lo, probes_max);
        }
        let mut budget = u64::from(probes_max);
        descend(layers, lo, hi, |visit| match visit {
            Visit::Mark(step) => self.probes.push(Probe::mark(step)),
            Visit::Read(run) => match budget.checked_sub(run.probes()) {
                Some(left) if !self.over_budget => {
                    budget = left;
                    self.push(&run);
                }
                _ => self.over_budget = true,
            },
        });
        if self.over_budget {
            self.probes.clear();
        }
    }

    /// What the search of a range makes of a single key, at a third of the time: one bit per layer.
    fn build_point(&mut self, layers: &Layers, key: u64, probes_max: u32) {
        self.over_budget = layers.hashed().len() > probes_max as usize;
        if self.over_budget {
            return;
        }
        let bit = |layer: &Layer, exact: bool| {
            let interval = key >> layer.start;
            let group = interval >> (layer.width - 1);
            let offset = interval & layer.offset_max();
            Probe::one(layer, group, offset as u32, exact)
        };
        let top = layers.has_exact_top().then(|| bit(&EXACT_TOP, true));
        self.probes.extend(top);
        self.probes.extend(layers.hashed().iter().rev().map(|layer| bit(layer, false)));
        // The bottom layer is level 0: there the range ends.
        self.probes.push(Probe::mark(Step::Yes));
    }

    /// Runs the plan on a filter: `hashed` its W hashed words, `top` its exact top bitmap words
    /// (empty where the layers have none).
    #[must_use]
    pub fn run(&self, hashed: &[u64], top: TopBits<'_>) -> Answer {
        if self.over_budget {
            return Answer::OverBudget;
        }
        let (mut left, mut right) = (true, true);
        let mut at = 0;
        while let Some(probe) = self.probes.get(at) {
            at += 1;
            match probe.step {
                Step::Cover => {
                    if !probe.hit(hashed, top) {
                        return Answer::Absent;
                    }
                }
                Step::Any if probe.exact => {
                    let Some(run) = self.top_run else { return Answer::Maybe };
                    if top.any(run.from, run.to) {
                        return Answer::Maybe;
                    }
                    at = run.past;
                }
                Step::Any => {
                    if probe.hit(hashed, top) {
                        return Answer::Maybe;
                    }
                }
                Step::AnyLeft => {
                    if left && probe.hit(hashed, top) {
                        return Answer::Maybe;
                    }
                }
                Step::AnyRight => {
                    if right && probe.hit(hashed, top) {
                        return Answer::Maybe;
                    }
                }
                Step::Left => left = left && probe.hit(hashed, top),
                Step::Right => right = right && probe.hit(hashed, top),
                Step::EndLeft => left = false,
                Step::EndRight => right = false,
                Step::Yes => return Answer::Maybe,
            }
            if !left && !right {
                return Answer::Absent;
            }
        }
        // Level 0 ends every path, so this is reached only by a plan that was never built.
        Answer::Maybe
    }

    /// Whether the range would read more hashed words than it may: every filter then says
    /// [`Answer::OverBudget`].
    #[must_use]
    pub fn is_over_budget(&self) -> bool {
        self.over_budget
    }

    /// The run that the one `Any` of the exact top stands for.
    pub(crate) fn top_run(&self) -> Option<TopRun> {
        self.top_run
    }

    /// The probes in order, for kernels that walk many filters at once.
    #[must_use]
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// Appends one probe per word of the run.
    fn push(&mut self, run: &Run) {
        let (first, last) = run.groups();
        let offset_max = run.layer.offset_max();
        for group in first..=last {
            let from = if group == first { run.from & offset_max } else { 0 };
            let to = if group == last { run.to & offset_max } else { offset_max };
            let offsets = (u64::MAX << from) & (u64::MAX >> (63 - to));
            let (step, exact, length) = (run.step, run.exact, (to - from + 1) as u8);
            self.probes.push(if exact {
                // A group of the top is one of its 1,024 words.
                let (hash, start) = (group as u32, from as u8);
                Probe { mask: offsets, hash, start, length, step, exact }
            } else {
                let (hash, rotation) = hash_of(group, &run.layer);
                let start = ((from as u32 + rotation) & 63) as u8;
                let mask = offsets.rotate_left(rotation);
                Probe { mask, hash, start, length, step, exact }
            });
        }
        if run.exact && run.step == Step::Any {
            // Intervals of the top are the upper 16 bits of a 32-bit key.
            let (from, to) = (run.from as u16, run.to as u16);
            self.top_run = Some(TopRun { from, to, past: self.probes.len() });
        }
    }
}

impl Probe {
    /// The covering bit of one interval.
    #[inline]
    fn one(layer: &Layer, group: u64, offset: u32, exact: bool) -> Self {
        let (hash, rotation) = if exact { (group as u32, 0) } else { hash_of(group, layer) };
        let start = (offset + rotation) & 63;
        Probe { mask: 1 << start, hash, start: start as u8, length: 1, step: Step::Cover, exact }
    }

    /// A step that reads nothing.
    fn mark(step: Step) -> Self {
        Probe { mask: 0, hash: 0, start: 0, length: 0, step, exact: false }
    }

    /// Whether any bit of the probe is set; a word that is not there reads as set.
    #[inline]
    fn hit(&self, hashed: &[u64], top: TopBits<'_>) -> bool {
        if self.exact {
            let first = (self.hash as u16) << 6;
            let (low, high) = (self.mask.trailing_zeros(), 63 - self.mask.leading_zeros());
            return top.any(first | low as u16, first | high as u16);
        }
        let index = (u64::from(self.hash) * hashed.len() as u64) >> 32;
        hashed.get(index as usize).is_none_or(|word| word & self.mask != 0)
    }
}

/// Upper half of the hash of a group, and the rotation of its word.
#[inline]
fn hash_of(group: u64, layer: &Layer) -> (u32, u32) {
    let h = mix(group, layer.salt);
    ((h >> 32) as u32, (h >> 8) as u32 & 63)
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

impl TopBits<'_> {
    /// Whether any value of `lo..=hi` is present; without an exact top, it may be.
    #[inline]
    #[must_use]
    pub fn any(self, lo: u16, hi: u16) -> bool {
        match self {
            TopBits::None => true,
            TopBits::Bitmap(words) => bitmap::any(words, lo, hi),
            TopBits::List(list) => bitmap::list_any(list, lo, hi),
        }
    }
}
