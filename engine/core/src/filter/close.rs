//! Called when a batch is sealed: from the shares of a column to what is stored of it.
//!
//! One pass over the shares merges them, folds them to the budget, counts the set bits and leaves
//! the shares zeroed, so that the queue that gets a used partial back has nothing to clear.

use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, words};

use super::fold::{FoldLimits, fold_shares, folded};
use super::open::OpenColumn;
use super::policy::granule_of;
use super::staged::exact;
use super::{ColumnZone, Filter, FilterKind, FilterPolicy, SealedColumn, Top16};

impl OpenColumn {
    /// Merges the shares of one column, folds to the budget of a batch of `records` records,
    /// chooses the stored kind and freezes it. The shares are left without bits, to be used again.
    ///
    /// # Panics
    /// Without a share, or where they are not shares of one column: our own mistake.
    #[must_use]
    pub fn seal_shares(
        shares: &mut [&mut OpenColumn],
        policy: &FilterPolicy,
        records: u64,
    ) -> SealedColumn {
        let kernel = policy.kernel;
        OpenColumn::even_out(shares);
        let [first, rest @ ..] = &mut *shares else { panic!("a column has at least one share") };
        rest.iter().for_each(|other| first.merge_marks(other));
        let (shape, flags, zone) = (first.shape, first.flags, first.zone);
        let filter = match shape.kind {
            // Exact is what other kinds may become; none opens as it.
            FilterKind::None | FilterKind::Exact => Filter::None,
            FilterKind::Bitmap8 => {
                let mut exact = [0; bitmap::WORDS_8];
                exact.copy_from_slice(&union(kernel, shares, OpenColumn::hashed_mut).0);
                Filter::Bitmap8(exact)
            }
            FilterKind::Bitmap16 => {
                let (exact, ones) = union(kernel, shares, OpenColumn::hashed_mut);
                match shorter_list(&exact, ones) {
                    Some(list) => Filter::List16(list),
                    None => Filter::Bitmap16(exact),
                }
            }
            FilterKind::BloomRf => match near_base(&zone, shape.has_top()) {
                // The exact set is all that is kept: the hashed words need only be cleared.
                Some(base) => near(base, &union(kernel, shares, |share| &mut share.low).0),
                None => {
                    let Some(layers) = shape.layers else {
                        unreachable!("a bloomRF opens with layers");
                    };
                    let top = if shape.has_top() {
                        let (exact, ones) = union(kernel, shares, |share| &mut share.top);
                        top_of(exact, ones)
                    } else {
                        Top16::None
                    };
                    Filter::BloomRf { layers, hashed: hashed(kernel, shares, policy, records), top }
                }
            },
            FilterKind::Blocked => Filter::Blocked {
                seed: shape.seed,
                blocks: hashed(kernel, shares, policy, records),
            },
        };
        shares.iter_mut().for_each(|share| share.clear_rest(&filter));
        let filter = match shape.kind {
            // The filter is made in any case: it says what may be kept, and clears the shares.
            FilterKind::BloomRf => {
                let bounds = match &zone {
                    ColumnZone::Narrow(zone) => zone.bounds(),
                    ColumnZone::Wide(_) => None,
                };
                exact(shares.iter().map(|share| &share.staged), bounds, filter.bytes())
                    .map_or(filter, Filter::Exact)
            }
            _ => filter,
        };
        SealedColumn { flags, zone, filter }
    }

    /// The same of a single share, step by step and without changing it: the reference.
    #[must_use]
    pub fn seal(&self, policy: &FilterPolicy, records: u64) -> SealedColumn {
        let ones = |words: &[u64]| words::ones(Kernel::Scalar, words);
        let folded = || folded(self.hashed(), limits(policy, self, records));
        let filter = match self.shape.kind {
            // Exact is what other kinds may become; none opens as it.
            FilterKind::None | FilterKind::Exact => Filter::None,
            FilterKind::Bitmap8 => {
                let mut exact = [0; bitmap::WORDS_8];
                exact.copy_from_slice(self.hashed());
                Filter::Bitmap8(exact)
            }
            FilterKind::Bitmap16 => match shorter_list(self.hashed(), ones(self.hashed())) {
                Some(list) => Filter::List16(list),
                None => Filter::Bitmap16(self.hashed().into()),
            },
            FilterKind::BloomRf => match near_base(&self.zone, self.shape.has_top()) {
                Some(base) => near(base, &self.low),
                None => {
                    let Some(layers) = self.shape.layers else {
                        unreachable!("a bloomRF opens with layers");
                    };
                    let top = match self.top.is_empty() {
                        true => Top16::None,
                        false => top_of((*self.top).into(), ones(&self.top)),
                    };
                    Filter::BloomRf { layers, hashed: folded(), top }
                }
            },
            FilterKind::Blocked => Filter::Blocked { seed: self.shape.seed, blocks: folded() },
        };
        SealedColumn { flags: self.flags, zone: self.zone, filter }
    }

    /// Clears what sealing as `filter` did not read, and says that nothing is left.
    fn clear_rest(&mut self, filter: &Filter) {
        match filter {
            Filter::Near16 { .. } => {
                self.hashed_mut().fill(0);
                self.top.fill(0);
            }
            Filter::BloomRf { .. } => self.low.fill(0),
            _ => {}
        }
        self.mark_zeroed();
    }
}

/// The smallest key, where all keys are less than 65,536 apart and their low 16 bits were kept.
fn near_base(zone: &ColumnZone, has_top: bool) -> Option<u64> {
    let ColumnZone::Narrow(zone) = zone else { return None };
    let (base, max) = zone.bounds()?;
    (has_top && max - base <= u64::from(u16::MAX)).then_some(base)
}

/// The exact set of keys less than 65,536 apart: their low 16 bits differ.
fn near(base: u64, low: &[u64]) -> Filter {
    let mut offsets = vec![0; bitmap::WORDS_16];
    for key in bitmap::keys(low) {
        bitmap::insert(&mut offsets, key.wrapping_sub(base as u16));
    }
    let ones = words::ones(Kernel::Scalar, &offsets);
    Filter::Near16 { base, offsets: top_of(offsets.into(), ones) }
}

pub(super) fn top_of(exact: Box<[u64]>, ones: u64) -> Top16 {
    match shorter_list(&exact, ones) {
        Some(list) => Top16::List(list),
        None => Top16::Bitmap(exact),
    }
}

/// The union of one part of all shares, and its set bits; the parts are left zeroed.
fn union(
    kernel: Kernel,
    shares: &mut [&mut OpenColumn],
    part: impl Fn(&mut OpenColumn) -> &mut [u64],
) -> (Box<[u64]>, u64) {
    let mut parts: Vec<&mut [u64]> = shares.iter_mut().map(|share| part(share)).collect();
    let mut all = vec![0; parts.first().map_or(0, |part| part.len())];
    let ones = words::merge_fold_zero(kernel, &mut parts, 1, 1, &mut all);
    (all.into(), ones.before)
}

fn hashed(
    kernel: Kernel,
    shares: &mut [&mut OpenColumn],
    policy: &FilterPolicy,
    records: u64,
) -> Box<[u64]> {
    let Some(first) = shares.first() else { return Box::default() };
    let limits = limits(policy, first, records);
    let mut parts: Vec<&mut [u64]> = shares.iter_mut().map(|share| share.hashed_mut()).collect();
    fold_shares(kernel, &mut parts, limits)
}

fn limits<'p>(policy: &'p FilterPolicy, column: &OpenColumn, records: u64) -> FoldLimits<'p> {
    FoldLimits {
        sizes: &policy.sizes,
        fill_target: policy.fold_fill_max(column.shape.layers.as_ref()),
        words_max: policy.stored_words_max(column.shape.kind, records),
        granule: granule_of(column.shape.kind),
    }
}

/// The sorted list of the keys in a bitmap of 16-bit keys, where it takes fewer bytes than that.
pub(super) fn shorter_list(words: &[u64], ones: u64) -> Option<Box<[u16]>> {
    let list_bytes = ones as usize * size_of::<u16>();
    (list_bytes < size_of_val(words)).then(|| bitmap::keys(words).collect())
}
