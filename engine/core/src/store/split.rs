//! A bit-sliced group becomes plain filters again, so that the bytes of its dead slots are free.
//!
//! Cost: about that of building it, a slice of work at a time. The filters come back bit for bit
//! as they were, except that one which was folded to join stays folded.

use std::sync::Arc;

use bloomrf_kernels::Kernel;
use bloomrf_kernels::blocked;
use bloomrf_kernels::scalar::bitmap::{WORDS_8, WORDS_16};
use bloomrf_kernels::sliced::{self, BITMAP_ROWS};

use super::{CHUNK_SLOTS, ColumnGroup, GroupForm, digest};
use crate::filter::{Filter, SlicedFilter, Top16};

/// A group on its way back.
#[derive(Debug)]
pub(super) struct Splitting {
    group: Arc<ColumnGroup>,
    /// Words that the filter of each slot is to have; 0: it is not taken out.
    kept_words: [usize; CHUNK_SLOTS],
    main: Vec<Vec<u64>>,
    top: Vec<Vec<u64>>,
    /// Words of the main part that are done, and of the top.
    done: (usize, usize),
    /// Filters that are whole again, slot by slot, with their digests.
    whole: Vec<Option<TakenOut>>,
}

/// A filter that was taken out of a group.
#[derive(Debug)]
pub(super) struct TakenOut {
    pub(super) filter: Filter,
    pub(super) digest: u64,
}

impl Splitting {
    /// Begins; `kept` are the slots to take out.
    pub(super) fn begin(
        group: Arc<ColumnGroup>,
        kept: &[Option<SlicedFilter>; CHUNK_SLOTS],
    ) -> Self {
        let has_top = matches!(&group.form, GroupForm::BloomRf { top, .. } if !top.is_empty());
        let kept_words = kept.map(|kept| kept.map_or(0, |kept| kept.words as usize));
        let taken_words = |words: usize| match &group.form {
            // Repeated blocks do not lie side by side word by word: they are joined at the end.
            GroupForm::Blocked { rows, .. } if words > 0 => rows.len() / CHUNK_SLOTS,
            _ => words,
        };
        let top_words = |words: usize| if has_top && words > 0 { WORDS_16 } else { 0 };
        Splitting {
            main: kept_words.iter().map(|&words| vec![0; taken_words(words)]).collect(),
            top: kept_words.iter().map(|&words| vec![0; top_words(words)]).collect(),
            kept_words,
            done: (0, 0),
            whole: Vec::with_capacity(CHUNK_SLOTS),
            group,
        }
    }

    /// Bytes of the filters that are coming.
    pub(super) fn bytes(&self) -> usize {
        let words = self.main.iter().chain(&self.top).map(|words| size_of_val(&**words));
        let whole = self.whole.iter().flatten().map(|whole| whole.filter.own_bytes());
        words.chain(whole).sum()
    }

    /// Works off about `budget` words of filters; true when all are done.
    pub(super) fn step(&mut self, kernel: Kernel, budget: usize) -> bool {
        let (main, top) = parts(&self.group.form);
        let words = (budget / CHUNK_SLOTS).next_multiple_of(8).max(8);
        if !unbuild(kernel, main, &mut self.main, &mut self.done.0, words)
            || !unbuild(kernel, top, &mut self.top, &mut self.done.1, words)
        {
            return false;
        }
        let mut left = budget;
        while left > 0 && self.whole.len() < CHUNK_SLOTS {
            let worked = self.make_whole(kernel);
            left = left.saturating_sub(worked.max(1));
        }
        self.whole.len() == CHUNK_SLOTS
    }

    /// The filter of the next slot; the words that it took.
    fn make_whole(&mut self, kernel: Kernel) -> usize {
        let slot = self.whole.len();
        let part = |parts: &mut Vec<Vec<u64>>| parts.get_mut(slot).map(std::mem::take);
        let mut main = part(&mut self.main).unwrap_or_default();
        let top = part(&mut self.top).unwrap_or_default();
        let (taken, words) = (main.len() + top.len(), self.kept_words[slot]);
        if matches!(self.group.form, GroupForm::Blocked { .. }) && words > 0 {
            let times = main.len() / words;
            blocked::fold(&mut main, times);
        }
        let filter = filter(kernel, &self.group.form, main, top);
        let taken_out = |filter| TakenOut { digest: digest::filter(kernel, &filter), filter };
        self.whole.push(filter.map(taken_out));
        taken / 2
    }

    /// The filters of the slots that were to be kept; call it when `step` has returned true.
    pub(super) fn finish(self) -> Vec<Option<TakenOut>> {
        self.whole
    }
}

/// The filter of one slot, as splitting its whole group would give it. `None` where the group does
/// not answer for the slot. Cost: some 20 ns a word.
pub(super) fn take_out(group: &ColumnGroup, slot: usize, kept: &SlicedFilter) -> Option<Filter> {
    let words = kept.words as usize;
    if group.slots >> slot & 1 == 0 || words == 0 {
        return None;
    }
    let (main_rows, top_rows) = parts(&group.form);
    let is_blocked = matches!(group.form, GroupForm::Blocked { .. });
    let mut main = vec![0; if is_blocked { main_rows.len() / CHUNK_SLOTS } else { words }];
    sliced::extract(main_rows, slot, &mut main);
    if is_blocked {
        let times = main.len() / words;
        blocked::fold(&mut main, times);
    }
    let mut top = vec![0; top_rows.len() / CHUNK_SLOTS];
    sliced::extract(top_rows, slot, &mut top);
    filter(Kernel::Scalar, &group.form, main, top)
}

/// Takes the next words out of `rows`; true when none is left.
fn unbuild(
    kernel: Kernel,
    rows: &[u64],
    targets: &mut [Vec<u64>],
    done: &mut usize,
    words: usize,
) -> bool {
    let all = rows.len() / CHUNK_SLOTS;
    if *done < all {
        let end = all.min(*done + words);
        let mut targets = targets.iter_mut();
        let mut filters: [&mut [u64]; CHUNK_SLOTS] =
            std::array::from_fn(|_| targets.next().map_or(&mut [][..], |words| &mut words[..]));
        sliced::unbuild_words(kernel, rows, &mut filters, *done..end);
        *done = end;
    }
    *done == all
}

/// Rows without summaries: of the hashed words or bitmap, and of the exact top.
fn parts(form: &GroupForm) -> (&[u64], &[u64]) {
    let bitmap = |rows| -> &[u64] { <[u64]>::get(rows, ..BITMAP_ROWS).unwrap_or_default() };
    match form {
        GroupForm::BloomRf { hashed, top, .. } => (hashed, bitmap(top)),
        GroupForm::Bitmap16 { rows } => (bitmap(rows), &[]),
        GroupForm::Bitmap8 { rows } | GroupForm::Blocked { rows, .. } => (rows, &[]),
    }
}

fn filter(kernel: Kernel, form: &GroupForm, main: Vec<u64>, top: Vec<u64>) -> Option<Filter> {
    if main.is_empty() {
        return None;
    }
    Some(match form {
        GroupForm::BloomRf { layers, .. } => {
            let top = if top.is_empty() { Top16::None } else { Top16::of_bitmap(kernel, top) };
            Filter::BloomRf { layers: *layers, hashed: main.into(), top }
        }
        GroupForm::Bitmap16 { .. } => Filter::of_bitmap16(kernel, main),
        GroupForm::Bitmap8 { .. } => {
            let mut words = [0; WORDS_8];
            words.copy_from_slice(main.get(..WORDS_8)?);
            Filter::Bitmap8(words)
        }
        GroupForm::Blocked { seed, .. } => Filter::Blocked { seed: *seed, blocks: main.into() },
    })
}
