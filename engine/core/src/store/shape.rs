//! Which filters of a full chunk share a group, and which columns are sliced at all.
//!
//! One (kind, layers, W, seed) per column. W is the size at which most filters can join: those of
//! that size, shorter ones by a whole ratio (unfolded: no loss), and longer ones by a whole ratio
//! where folding them leaves them no fuller than half of the column's filters are. The others stay
//! plain beside the group. Near-ties go to the chunk before.
//!
//! Memory: a chunk may grow by half of its plain filters, shared out to the columns that grow
//! least. So two thirds of the slots are enough for columns of one size, and exact sets kept as
//! short lists (a binary search of 150 ns for each batch where rows take 0.3) are sliced where
//! the chunk is at least twice the 520 KiB that 65,536 rows take, whatever the lists take.

use bloomrf_kernels::Layers;
use bloomrf_kernels::scalar::bitmap::{WORDS_8, WORDS_16};
use bloomrf_kernels::scalar::blocked::BLOCK_WORDS;
use bloomrf_kernels::sliced::{BITMAP_ROWS, SUMMARY_ROWS};

use super::CHUNK_SLOTS;
use crate::filter::{Filter, Top16};

/// What filters of one group have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GroupShape {
    /// 1-byte keys.
    Bitmap8,
    /// 2-byte keys.
    Bitmap16,
    /// bloomRF of W words.
    BloomRf { layers: Layers, words: usize },
    /// Blocked Bloom of W words.
    Blocked { seed: u64, words: usize },
}

/// What becomes of one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ColumnPlan {
    /// Form of the group.
    pub(super) shape: GroupShape,
    /// Slots that join.
    pub(super) slots: u64,
}

/// A filter as the choice sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Kind, layers, seed and its own size.
    shape: GroupShape,
    fill: f64,
    bytes: usize,
}

impl GroupShape {
    /// The shape of a filter that can be in a group, if it is whole.
    pub(super) fn of(filter: &Filter) -> Option<Self> {
        match filter {
            Filter::Bitmap8(_) => Some(GroupShape::Bitmap8),
            Filter::Bitmap16(words) if words.len() == WORDS_16 => Some(GroupShape::Bitmap16),
            Filter::List16(_) => Some(GroupShape::Bitmap16),
            Filter::BloomRf { layers, hashed, top } => {
                let has_top = match top {
                    Top16::None => false,
                    Top16::Bitmap(words) if words.len() != WORDS_16 => return None,
                    Top16::Bitmap(_) | Top16::List(_) => true,
                };
                let is_whole = !hashed.is_empty() && has_top == layers.has_exact_top();
                let words = hashed.len();
                is_whole.then_some(GroupShape::BloomRf { layers: *layers, words })
            }
            Filter::Blocked { seed, blocks } => {
                let words = blocks.len();
                let is_whole = words > 0 && words.is_multiple_of(BLOCK_WORDS);
                is_whole.then_some(GroupShape::Blocked { seed: *seed, words })
            }
            _ => None,
        }
    }

    /// W: words of a slot's hashed filter or bitmap.
    pub(super) fn words(&self) -> usize {
        match self {
            GroupShape::Bitmap8 => WORDS_8,
            GroupShape::Bitmap16 => WORDS_16,
            GroupShape::BloomRf { words, .. } | GroupShape::Blocked { words, .. } => *words,
        }
    }

    /// Rows of the hashed part or bitmap, and of the exact top.
    pub(super) fn rows(&self) -> (usize, usize) {
        let exact = BITMAP_ROWS + SUMMARY_ROWS;
        match self {
            GroupShape::Bitmap16 => (exact, 0),
            GroupShape::BloomRf { layers, words } => {
                (words * CHUNK_SLOTS, if layers.has_exact_top() { exact } else { 0 })
            }
            GroupShape::Bitmap8 | GroupShape::Blocked { .. } => (self.words() * CHUNK_SLOTS, 0),
        }
    }

    /// Bytes of all rows.
    pub(super) fn bytes(&self) -> usize {
        let (rows, top) = self.rows();
        (rows + top) * size_of::<u64>()
    }

    /// Whether `filter` can be brought to W.
    pub(super) fn takes(&self, filter: &Filter) -> bool {
        GroupShape::of(filter).is_some_and(|own| {
            let (own_words, words) = (own.words(), self.words());
            let is_whole = words.is_multiple_of(own_words) || own_words.is_multiple_of(words);
            self.is_akin(&own) && is_whole
        })
    }

    /// Whether both differ in W alone.
    fn is_akin(&self, other: &GroupShape) -> bool {
        self.sized(0) == other.sized(0)
    }

    fn sized(self, words: usize) -> Self {
        match self {
            GroupShape::BloomRf { layers, .. } => GroupShape::BloomRf { layers, words },
            GroupShape::Blocked { seed, .. } => GroupShape::Blocked { seed, words },
            exact => exact,
        }
    }
}

impl Member {
    /// `fill`: its share of set bits. `None` where it cannot be in a group.
    pub(super) fn new(filter: &Filter, fill: f64) -> Option<Self> {
        Some(Member { shape: GroupShape::of(filter)?, fill, bytes: filter.bytes() })
    }

    /// Whether it can be in a group of `words` words whose folded filters are at most `fill_max`
    /// full.
    fn joins(&self, words: usize, fill_max: f64) -> bool {
        let own = self.shape.words();
        if words.is_multiple_of(own) {
            return true;
        }
        let folded = 1.0 - (1.0 - self.fill).powf(own as f64 / words as f64);
        own.is_multiple_of(words) && folded <= fill_max
    }
}

/// The plan of every column of a chunk whose plain filters take `plain_bytes` in all and whose
/// groups may take `bytes_max`. `before` are the plans of the chunk before.
pub(super) fn plan_chunk(
    columns: &[[Option<Member>; CHUNK_SLOTS]],
    before: &[Option<ColumnPlan>],
    plain_bytes: usize,
    bytes_max: usize,
) -> Vec<Option<ColumnPlan>> {
    let mut plans: Vec<Option<ColumnPlan>> = vec![None; columns.len()];
    let mut wanted: Vec<(isize, usize, ColumnPlan)> = Vec::new();
    for (ordinal, members) in columns.iter().enumerate() {
        let last = before.get(ordinal).copied().flatten();
        if let Some(plan) = plan_column(members, last) {
            let growth = plan.shape.bytes() as isize - joined_bytes(members, plan.slots) as isize;
            wanted.push((growth, ordinal, plan));
        }
    }
    wanted.sort_by_key(|(growth, ordinal, _)| (*growth, *ordinal));
    let room = (plain_bytes / GROWTH_PART).min(bytes_max.saturating_sub(plain_bytes)) as isize;
    let mut grown = 0;
    for (growth, ordinal, plan) in wanted {
        if grown + growth <= room {
            grown += growth;
            plans[ordinal] = Some(plan);
        }
    }
    plans
}

/// The group that most filters of a column can join; `None` where those are too few.
fn plan_column(
    members: &[Option<Member>; CHUNK_SLOTS],
    last: Option<ColumnPlan>,
) -> Option<ColumnPlan> {
    let slots = |joins: &dyn Fn(&Member) -> bool| {
        let bits = members.iter().enumerate().filter(|(_, m)| m.as_ref().is_some_and(joins));
        bits.fold(0_u64, |slots, (slot, _)| slots | 1 << slot)
    };
    // Of the kinds, layers and seeds there are, the most frequent; the first of equals.
    let mut kinds: Vec<(u32, GroupShape)> = Vec::new();
    let mut sizes: Vec<usize> = Vec::new();
    for member in members.iter().flatten() {
        if !kinds.iter().any(|(_, kind)| kind.is_akin(&member.shape)) {
            let akin = slots(&|m| m.shape.is_akin(&member.shape)).count_ones();
            kinds.push((akin, member.shape));
        }
    }
    let (_, kind) = kinds.into_iter().rev().max_by_key(|(akin, _)| *akin)?;
    for member in members.iter().flatten().filter(|m| m.shape.is_akin(&kind)) {
        if !sizes.contains(&member.shape.words()) {
            sizes.push(member.shape.words());
        }
    }
    let akin = members.iter().flatten().filter(|m| m.shape.is_akin(&kind));
    let mut fills: Vec<f64> = akin.map(|m| m.fill).collect();
    fills.sort_by(f64::total_cmp);
    let fill_max = fills.get(fills.len() / 2).copied().unwrap_or(0.0);
    let plan_of = |words: usize| {
        let joined = slots(&|m| m.shape.is_akin(&kind) && m.joins(words, fill_max));
        ColumnPlan { shape: kind.sized(words), slots: joined }
    };
    let plans: Vec<ColumnPlan> = sizes.into_iter().map(plan_of).collect();
    let rank = |plan: &ColumnPlan| {
        let is_small = plan.shape.bytes() * 2 <= joined_bytes(members, plan.slots) * 3;
        let is_last = last.is_some_and(|last| last.shape == plan.shape);
        let count = plan.slots.count_ones() + if is_last { NEAR_TIE } else { 0 };
        (is_small, count, std::cmp::Reverse(plan.shape.words()))
    };
    let best = plans.into_iter().max_by_key(rank)?;
    (best.slots.count_ones() >= MEMBERS_MIN).then_some(best)
}

fn joined_bytes(members: &[Option<Member>; CHUNK_SLOTS], slots: u64) -> usize {
    let joined = members.iter().enumerate().filter(|(slot, _)| slots >> slot & 1 == 1);
    joined.filter_map(|(_, member)| *member).map(|member| member.bytes).sum()
}

/// Fewer filters are asked one by one in about the time of a group.
const MEMBERS_MIN: u32 = 8;
/// So many filters more or less are not worth another W than that of the chunk before.
const NEAR_TIE: u32 = 4;
/// A chunk grows by at most this part of its plain filters.
const GROWTH_PART: usize = 2;

#[cfg(test)]
mod tests;
