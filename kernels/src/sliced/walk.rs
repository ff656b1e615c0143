//! Hot path: no allocation, no lock, no syscall; as many row runs as the plan has probes.
//!
//! One plan walked over up to eight groups: probes outside, groups inside, so that the loads of
//! eight groups are in flight together and one end of the walk is mispredicted, not eight.
//!
//! The two paths of [`RangePlan::run`] become masks, `left` and `right`, a bit for each slot. A
//! slot leaves both when it is found or proved absent; the walk ends when no slot is left.

use std::hint::select_unpredictable;

use super::exact::{any_in, any_row};
use super::{GROUPS, Masks, SLOTS};
use crate::plan::Probe;
use crate::{Kernel, RangePlan, Step};
#[cfg(target_arch = "x86_64")]
use crate::{avx2::sliced as avx2, avx512::sliced as avx512};

/// A bit-sliced group of bloomRF filters of one layer set.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// W * 64 rows of the hashed words.
    pub hashed: &'a [u64],
    /// 65,536 rows of the exact top, with or without their summary; empty where there is none.
    pub top: &'a [u64],
}

/// Which slots of `ask` may hold a key of the plan's range. `None` (and a group past the end of
/// `groups`), and a plan over budget: all of `ask`. The groups may differ in W.
///
/// # Panics
/// Where there are more than 8 groups.
#[must_use]
pub fn run_plan(
    kernel: Kernel,
    plan: &RangePlan,
    groups: &[Option<Group<'_>>],
    ask: &Masks,
) -> Masks {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(token) => avx2::run_plan(token, plan, groups, ask),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(token) => avx512::run_plan(token, plan, groups, ask),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512Vbmi(token) => avx512::run_plan(token.avx512(), plan, groups, ask),
        _ => run_with(plan, groups, ask, any_row, any_bit, |_| ()),
    }
}

/// [`run_plan`], given the OR of rows, the OR of a probe's rows in a word, and a prefetch.
#[inline(always)]
pub(crate) fn run_with(
    plan: &RangePlan,
    groups: &[Option<Group<'_>>],
    ask: &Masks,
    any_row: impl Fn(&[u64], u64) -> u64 + Copy,
    any_bit: impl Fn(&[u64; SLOTS], &Probe, u64) -> u64 + Copy,
    ahead: impl Fn(&u64) + Copy,
) -> Masks {
    assert!(groups.len() <= GROUPS, "{} groups where at most {GROUPS} are asked", groups.len());
    if plan.is_over_budget() {
        return *ask;
    }
    let mut found = *ask;
    let mut asked = [0; GROUPS];
    let mut views = [View::default(); GROUPS];
    let mut few = 0;
    for (g, group) in groups.iter().enumerate() {
        if let Some(group) = group {
            views[g] = View { hashed: group.hashed.as_chunks().0, top: group.top };
            (asked[g], found[g]) = (ask[g], 0);
            few += u32::from(ask[g] != 0);
        }
    }
    if few <= FEW {
        for g in 0..GROUPS {
            if asked[g] != 0 {
                [found[g]] = walk(plan, &[views[g]], [asked[g]], any_row, any_bit, |_| ());
            }
        }
        return found;
    }
    let walked = walk(plan, &views, asked, any_row, any_bit, ahead);
    std::array::from_fn(|g| found[g] | walked[g])
}

/// A group, its rows as words of 64.
#[derive(Clone, Copy, Default)]
struct View<'a> {
    hashed: &'a [[u64; SLOTS]],
    top: &'a [u64],
}

#[inline(always)]
fn walk<const N: usize>(
    plan: &RangePlan,
    views: &[View<'_>; N],
    ask: [u64; N],
    any_row: impl Fn(&[u64], u64) -> u64 + Copy,
    any_bit: impl Fn(&[u64; SLOTS], &Probe, u64) -> u64 + Copy,
    ahead: impl Fn(&u64) + Copy,
) -> [u64; N] {
    let probes = plan.probes();
    let (mut left, mut right, mut found) = (ask, ask, [0; N]);
    for probe in probes.iter().take(AHEAD) {
        prefetch(views, probe, &left, &right, ahead);
    }
    let mut at = 0;
    while let Some(probe) = probes.get(at) {
        if let Some(next) = probes.get(at + AHEAD) {
            prefetch(views, next, &left, &right, ahead);
        }
        at += 1;
        let Some(paths) = Paths::of(probe.step) else { break };
        let mut run = None;
        if probe.exact && probe.step == Step::Any {
            // One question for the whole interior; without a run nothing is known.
            run = plan.top_run();
            let Some(run) = run else { break };
            at = run.past;
        }
        // Group by group and in plain words: eight scalar stores that are read back as one vector
        // would wait for all of them to reach the cache.
        let mut alive = 0;
        for g in 0..N {
            let need = left[g] & paths.left | right[g] & paths.right;
            // A branch: guessed right, it lets the loads of later probes begin.
            if need != 0 {
                // Where a path ends, nothing is read and nothing is hit.
                let hit = match run {
                    _ if probe.length == 0 => 0,
                    Some(run) => any_in(views[g].top, run.from, run.to, need, any_row),
                    None => views[g].read(probe, need, any_row, any_bit),
                };
                // Only slots whose path is alive are found by it; these leave both paths.
                let inner = hit & need & paths.inner;
                found[g] |= inner;
                left[g] &= !inner & (hit | paths.inner | !paths.left);
                right[g] &= !inner & (hit | paths.inner | !paths.right);
            }
            alive |= left[g] | right[g];
        }
        if alive == 0 {
            return found;
        }
    }
    // Every cover passed. (Level 0 ends every path: a plan that was never built comes here too.)
    std::array::from_fn(|g| found[g] | left[g] | right[g])
}

/// What a step reads for, as masks of all or nothing.
#[derive(Clone, Copy)]
struct Paths {
    left: u64,
    right: u64,
    /// A hit is found; else a miss ends the path.
    inner: u64,
}

impl Paths {
    /// `None`: all that is alive is found.
    #[inline(always)]
    fn of(step: Step) -> Option<Self> {
        let (left, right, inner) = match step {
            Step::Cover => (!0, !0, 0),
            Step::Any => (!0, !0, !0),
            Step::Left | Step::EndLeft => (!0, 0, 0),
            Step::Right | Step::EndRight => (0, !0, 0),
            Step::AnyLeft => (!0, 0, !0),
            Step::AnyRight => (0, !0, !0),
            Step::Yes => return None,
        };
        Some(Paths { left, right, inner })
    }
}

/// Asks for the rows of a probe in the groups that still have a slot alive.
#[inline(always)]
fn prefetch<const N: usize>(
    views: &[View<'_>; N],
    probe: &Probe,
    left: &[u64; N],
    right: &[u64; N],
    ahead: impl Fn(&u64),
) {
    // A step that reads nothing has no hash; the top is asked by long runs that need no hint.
    if probe.length == 0 || probe.exact {
        return;
    }
    for g in 0..N {
        if let Some(word) = views[g].word(probe) {
            // No branch: which groups are still alive cannot be guessed.
            let word = select_unpredictable(left[g] | right[g] != 0, word, &NOTHING);
            ahead(&word[usize::from(probe.start & 63)]);
        }
    }
}

impl<'a> View<'a> {
    #[inline(always)]
    fn word(&self, probe: &Probe) -> Option<&'a [u64; SLOTS]> {
        // 32 bits by a length: no overflow.
        let index = u64::from(probe.hash).wrapping_mul(self.hashed.len() as u64) >> 32;
        self.hashed.get(index as usize)
    }

    /// OR of the rows of a probe, or at least of as many as cover `need`; rows that are not there
    /// are all ones.
    #[inline(always)]
    fn read(
        &self,
        probe: &Probe,
        need: u64,
        any_row: impl Fn(&[u64], u64) -> u64,
        any_bit: impl Fn(&[u64; SLOTS], &Probe, u64) -> u64,
    ) -> u64 {
        let start = usize::from(probe.start & 63);
        if probe.exact {
            let first = probe.hash as usize * SLOTS + start;
            let run = self.top.get(first..first + usize::from(probe.length));
            return run.map_or(u64::MAX, |run| any_row(run, need));
        }
        match self.word(probe) {
            None => u64::MAX,
            Some(word) if probe.length == 1 => word[start],
            Some(word) => any_bit(word, probe, need),
        }
    }
}

/// OR of the rows that the probe names in its word: a run that may wrap at row 63.
#[inline(always)]
pub(crate) fn any_bit(word: &[u64; SLOTS], probe: &Probe, need: u64) -> u64 {
    let start = usize::from(probe.start & 63);
    let end = start + usize::from(probe.length);
    let found = any_row(&word[start..end.min(SLOTS)], need);
    if end <= SLOTS || need & !found == 0 {
        return found;
    }
    found | any_row(&word[..end - SLOTS], need & !found)
}

/// A word of a filter that holds nothing.
static NOTHING: [u64; SLOTS] = [0; SLOTS];

/// Probes between a prefetch and its load: rows of eight groups each, so that two fill the line
/// buffers of a core. (One and four measured slower.)
const AHEAD: usize = 2;

/// Groups up to which each is walked alone: look-ahead would fetch rows that nobody reads.
const FEW: u32 = 2;
