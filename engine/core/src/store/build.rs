//! One column of a full chunk becomes a bit-sliced group: built aside, a slice of work at a time.
//!
//! Cost: about a memcpy of the filters, 8 bytes read and 8 written per word. Holds the rows, and
//! copies of the few filters that must be folded first or whose blocks must be repeated; words
//! that only have to be repeated are repeated on the way, lists are written straight into rows.

use std::sync::Arc;

use bloomrf_kernels::arena::{Arena, Words};
use bloomrf_kernels::blocked::K_DEFAULT;
use bloomrf_kernels::scalar::bitmap::WORDS_16;
use bloomrf_kernels::scalar::blocked::{self, BLOCK_WORDS};
use bloomrf_kernels::sliced::{self, BITMAP_ROWS};
use bloomrf_kernels::{Kernel, words};

use super::digest::{self, ColumnDigest, RowsDigest};
use super::shape::{ColumnPlan, GroupShape};
use super::{CHUNK_SLOTS, ColumnGroup, GroupForm};
use crate::filter::{Filter, SealedColumn, SlicedFilter, Top16};

/// Where groups are built: the kernel set, and the arena that their rows come from.
#[derive(Clone, Debug)]
pub(super) struct Workshop {
    pub(super) kernel: Kernel,
    /// `None`: the heap.
    pub(super) arena: Option<Arena>,
}

/// A group at work.
#[derive(Debug)]
pub(super) struct Building {
    shape: GroupShape,
    sources: Vec<Source>,
    /// Sources that are ready.
    ready: usize,
    main: Part,
    top: Part,
    /// Of the rows, once they are done.
    digest: RowsDigest,
}

/// The filter of one slot.
#[derive(Debug, Default)]
struct Source {
    column: Option<Arc<SealedColumn>>,
    /// Of its filter; once it is ready, of what will come out of the group.
    digest: u64,
    is_corrupt: bool,
    /// Its words at W, where its own cannot be read as they are.
    resized: Option<Vec<u64>>,
    kept: Option<SlicedFilter>,
}

/// Rows of the hashed words or bitmaps, or of the exact tops.
#[derive(Debug)]
struct Part {
    rows: Words,
    /// Words of a slot.
    words: usize,
    /// Words that are done.
    done: usize,
    /// Slots whose lists are done.
    listed: usize,
}

/// A finished group and, for each of its slots, what was made of it.
pub(super) struct Built {
    pub(super) group: ColumnGroup,
    pub(super) slots: Vec<Option<Joined>>,
}

/// A filter that was to join a group.
pub(super) struct Joined {
    /// The column that it is of.
    pub(super) column: Arc<SealedColumn>,
    /// What is to be kept of it; `None`: it is corrupt, and did not join.
    pub(super) kept: Option<SlicedFilter>,
    /// Of the filter as it comes out of the group again.
    pub(super) digest: u64,
}

impl Workshop {
    /// Rows that are written all over; `None` where the arena has no room for them.
    fn rows(&self, len: usize) -> Option<Words> {
        match &self.arena {
            Some(arena) if len > 0 => arena.words_unzeroed(len),
            _ => Some(Words::heap(len)),
        }
    }
}

impl Building {
    /// Begins with the filters that `column_of` gives for the slots of `plan`, with their digests.
    /// `None` where there is no memory for it.
    pub(super) fn begin(
        workshop: &Workshop,
        plan: &ColumnPlan,
        column_of: impl Fn(usize) -> Option<(Arc<SealedColumn>, ColumnDigest)>,
    ) -> Option<Self> {
        let (rows, top) = plan.shape.rows();
        let source = |slot: usize| {
            let column = column_of(slot).filter(|_| plan.slots >> slot & 1 == 1);
            let column = column.filter(|(column, _)| plan.shape.takes(&column.filter));
            let (column, digest) = column.unzip();
            let digest = digest.map_or(0, |digest: ColumnDigest| digest.filter);
            Source { column, digest, ..Source::default() }
        };
        let part = |rows: Words, words| Part { rows, words, done: 0, listed: 0 };
        Some(Building {
            shape: plan.shape,
            sources: (0..CHUNK_SLOTS).map(source).collect(),
            ready: 0,
            main: part(workshop.rows(rows)?, plan.shape.words()),
            top: part(workshop.rows(top)?, if top == 0 { 0 } else { WORDS_16 }),
            digest: RowsDigest::begin(workshop.kernel),
        })
    }

    /// Bytes that building a group of `shape` from `filters` takes at most, copies included.
    pub(super) fn bytes_needed<'f>(
        shape: &GroupShape,
        filters: impl Iterator<Item = &'f Filter>,
    ) -> usize {
        let copied = filters.filter(|filter| resize_of(shape, filter).is_some()).count();
        shape.bytes() + copied * shape.words() * size_of::<u64>()
    }

    /// Bytes of rows and copies.
    pub(super) fn bytes(&self) -> usize {
        let copies = self.sources.iter().filter_map(|source| source.resized.as_ref());
        let copies: usize = copies.map(|copy| size_of_val(&**copy)).sum();
        self.main.rows.bytes() + self.top.rows.bytes() + copies
    }

    /// Works off about `budget` words of filters; true when the group is finished.
    pub(super) fn step(&mut self, kernel: Kernel, budget: usize) -> bool {
        let mut left = budget;
        while left > 0 {
            let worked = if let Some(source) = self.sources.get_mut(self.ready) {
                self.ready += 1;
                source.prepare(kernel, &self.shape)
            } else if !self.main.is_done() {
                self.main.step(kernel, &self.sources, Source::main_words, Source::main_list, left)
            } else if !self.top.is_done() {
                self.top.step(kernel, &self.sources, Source::top_words, Source::top_list, left)
            } else {
                match self.digest.step([&self.main.rows[..], &self.top.rows[..]]) {
                    0 => return true,
                    rows => rows / 4,
                }
            };
            left = left.saturating_sub(worked.max(1));
        }
        false
    }

    /// The group; call it when `step` has returned true.
    pub(super) fn finish(self) -> Built {
        let joined = |source: Source| {
            let (kept, digest) = (source.kept, source.digest);
            let column = source.column.filter(|_| kept.is_some() || source.is_corrupt)?;
            Some(Joined { column, kept, digest })
        };
        let is_in = |source: &Source| u64::from(source.kept.is_some());
        let bits = self.sources.iter().enumerate().map(|(slot, source)| is_in(source) << slot);
        let bits = bits.sum();
        let slots = self.sources.into_iter().map(joined).collect();
        let rows = self.main.rows;
        let form = match self.shape {
            GroupShape::Bitmap8 => GroupForm::Bitmap8 { rows },
            GroupShape::Bitmap16 => GroupForm::Bitmap16 { rows },
            GroupShape::BloomRf { layers, .. } => {
                GroupForm::BloomRf { layers, hashed: rows, top: self.top.rows }
            }
            GroupShape::Blocked { seed, .. } => GroupForm::Blocked { seed, k: K_DEFAULT, rows },
        };
        let digest = self.digest.finish(&form);
        Built { group: ColumnGroup { slots: bits, form, digest }, slots }
    }
}

impl Source {
    /// Looks at the filter's digest, resizes it where that is needed, and notes what is to be kept
    /// of it. Returns the words that it took.
    fn prepare(&mut self, kernel: Kernel, shape: &GroupShape) -> usize {
        let Some(column) = &self.column else { return 0 };
        if digest::filter(kernel, &column.filter) != self.digest {
            self.is_corrupt = true;
            return shape.words() / 4;
        }
        let mut kept = SlicedFilter::of(kernel, &column.filter);
        if let Some(resize) = resize_of(shape, &column.filter) {
            let own = own_words(&column.filter);
            let resized = resize.apply(kernel, own, shape.words());
            if resize.is_fold() {
                kept = kept.folded(kernel, &column.filter, &resized);
                self.digest = digest::resized(kernel, &column.filter, &resized);
            }
            self.resized = Some(resized);
        }
        self.kept = Some(kept);
        // Counting bits takes a quarter of the time of slicing them, and so does the digest.
        shape.words() / if self.resized.is_some() { 1 } else { 2 }
    }

    /// Hashed words or bitmap; empty where there are none, or a list instead.
    fn main_words(&self) -> &[u64] {
        match (&self.resized, self.joining()) {
            (Some(resized), _) => resized,
            (None, Some(filter)) => own_words(filter),
            (None, None) => &[],
        }
    }

    /// The filter, if it joins.
    fn joining(&self) -> Option<&Filter> {
        self.column.as_deref().filter(|_| !self.is_corrupt).map(|column| &column.filter)
    }

    fn main_list(&self) -> &[u16] {
        match self.joining() {
            Some(Filter::List16(list)) => list,
            _ => &[],
        }
    }

    fn top(&self) -> &Top16 {
        match self.joining() {
            Some(Filter::BloomRf { top, .. }) => top,
            _ => &Top16::None,
        }
    }

    fn top_words(&self) -> &[u64] {
        if let Top16::Bitmap(words) = self.top() { words } else { &[] }
    }

    fn top_list(&self) -> &[u16] {
        if let Top16::List(list) = self.top() { list } else { &[] }
    }
}

impl Part {
    fn is_done(&self) -> bool {
        self.done == self.words && (self.listed == CHUNK_SLOTS || self.words == 0)
    }

    /// Some more words of all slots, or else the list of one slot; the words that it took.
    fn step(
        &mut self,
        kernel: Kernel,
        sources: &[Source],
        words_of: fn(&Source) -> &[u64],
        list_of: fn(&Source) -> &[u16],
        budget: usize,
    ) -> usize {
        let bitmap_rows = self.words * CHUNK_SLOTS;
        if self.done < self.words {
            let next = (budget / CHUNK_SLOTS).next_multiple_of(TILE_WORDS).max(TILE_WORDS);
            let end = self.words.min(self.done + next);
            let filters: [&[u64]; CHUNK_SLOTS] =
                std::array::from_fn(|slot| sources.get(slot).map_or(&[][..], words_of));
            let rows = &mut self.rows[..bitmap_rows];
            sliced::build_words(kernel, rows, &filters, self.done..end);
            let worked = (end - self.done) * CHUNK_SLOTS;
            self.done = end;
            return worked;
        }
        let list = sources.get(self.listed).map_or(&[][..], list_of);
        for &key in list {
            self.rows[usize::from(key)] |= 1 << self.listed;
        }
        self.listed += 1;
        if self.listed == CHUNK_SLOTS && self.rows.len() > BITMAP_ROWS && self.words == WORDS_16 {
            sliced::summarise(&mut self.rows);
        }
        list.len()
    }
}

/// How the words of a filter are brought to W before they are sliced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resize {
    /// Words ORed.
    Fold,
    /// Blocks ORed.
    FoldBlocks,
    /// Blocks repeated; single words are repeated by the slicing itself.
    Repeat,
}

impl Resize {
    fn is_fold(self) -> bool {
        self != Resize::Repeat
    }

    fn apply(self, kernel: Kernel, own: &[u64], to: usize) -> Vec<u64> {
        let mut resized = own.to_vec();
        match self {
            Resize::Fold => words::fold(kernel, &mut resized, own.len() / to),
            Resize::FoldBlocks => blocked::fold(&mut resized, own.len() / to),
            Resize::Repeat => {
                let times = to / own.len();
                let blocks = own.chunks_exact(BLOCK_WORDS);
                resized = blocks
                    .flat_map(|block| std::iter::repeat_n(block, times))
                    .flatten()
                    .copied()
                    .collect();
            }
        }
        resized
    }
}

fn resize_of(shape: &GroupShape, filter: &Filter) -> Option<Resize> {
    let own = own_words(filter).len();
    match shape {
        GroupShape::BloomRf { words, .. } if own > *words => Some(Resize::Fold),
        GroupShape::Blocked { words, .. } if own > *words => Some(Resize::FoldBlocks),
        GroupShape::Blocked { words, .. } if own < *words => Some(Resize::Repeat),
        _ => None,
    }
}

/// Hashed words or bitmap of a filter that can be in a group; of a list none.
fn own_words(filter: &Filter) -> &[u64] {
    match filter {
        Filter::Bitmap8(words) => words,
        Filter::Bitmap16(words) => words,
        Filter::BloomRf { hashed, .. } => hashed,
        Filter::Blocked { blocks, .. } => blocks,
        _ => &[],
    }
}

/// Words that are sliced together.
const TILE_WORDS: usize = 8;
