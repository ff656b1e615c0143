//! The naive answer of one plain filter, and what a chunk says with its groups.

use bloomrf_engine::filter::{Filter, SealedColumn, Top16};
use bloomrf_engine::store::{Chunk, ColumnGroup, GroupForm};
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::sliced::{self, Masks};
use bloomrf_kernels::{Kernel, RangePlan, blocked, hash};

/// Whether a plain filter may hold a key of `lo..=hi`; `None` where it has no opinion.
pub(crate) fn plain(filter: &Filter, lo: u64, hi: u64) -> Option<bool> {
    match filter {
        Filter::None | Filter::Sliced(_) => None,
        Filter::Bitmap8(words) => Some(bitmap::any(words, lo as u16, hi as u16)),
        Filter::Bitmap16(words) => Some(bitmap::any(words, lo as u16, hi as u16)),
        Filter::List16(list) => Some(list.iter().any(|&key| (lo..=hi).contains(&key.into()))),
        Filter::Near16 { base, offsets } => {
            let holds = |offset: u16| (lo..=hi).contains(&(base + u64::from(offset)));
            Some(match offsets {
                Top16::Bitmap(words) => bitmap::keys(words).any(holds),
                Top16::List(list) => list.iter().any(|&offset| holds(offset)),
                Top16::None => true,
            })
        }
        Filter::Exact(keys) => Some(keys.keys().iter().any(|key| (lo..=hi).contains(key))),
        Filter::BloomRf { layers, hashed, top } => {
            let mut plan = RangePlan::default();
            plan.build(layers, lo, hi, PROBES_MAX);
            let top = match top {
                Top16::None => TopBits::None,
                Top16::Bitmap(words) => TopBits::Bitmap(words),
                Top16::List(list) => TopBits::List(list),
            };
            Some(plan.run(hashed, top).may_hold())
        }
        Filter::Blocked { .. } if lo != hi => None,
        Filter::Blocked { seed, blocks } => {
            Some(blocked::contains(blocked::K_DEFAULT, blocks, hash::key(lo, *seed)))
        }
    }
}

/// What the chunk says of `slot`: its group, where that answers for the slot, else its own filter.
pub(crate) fn chunk(
    kernel: Kernel,
    chunk: &Chunk,
    slot: usize,
    ordinal: usize,
    lo: u64,
    hi: u64,
) -> Option<bool> {
    let column: &SealedColumn = chunk.slot(slot)?.columns.get(ordinal)?;
    match chunk.columns()[ordinal].group() {
        Some(group) if group.slots >> slot & 1 == 1 => {
            Some(ask_group(kernel, group, lo, hi)? >> slot & 1 == 1)
        }
        _ => plain(&column.filter, lo, hi),
    }
}

/// Slots of the group that may hold a key of `lo..=hi`, among those it answers for.
pub(crate) fn ask_group(kernel: Kernel, group: &ColumnGroup, lo: u64, hi: u64) -> Option<u64> {
    let mut ask: Masks = [0; sliced::GROUPS];
    ask[3] = group.slots;
    let exact = |rows| {
        let groups = [None, None, None, Some(rows)];
        sliced::exact_any(kernel, &groups, &ask, lo as u16, hi as u16)
    };
    let found = match &group.form {
        GroupForm::BloomRf { layers, hashed, top } => {
            let mut plan = RangePlan::default();
            plan.build(layers, lo, hi, PROBES_MAX);
            let group = sliced::Group { hashed, top };
            sliced::run_plan(kernel, &plan, &[None, None, None, Some(group)], &ask)
        }
        GroupForm::Bitmap16 { rows } | GroupForm::Bitmap8 { rows } => exact(&rows[..]),
        GroupForm::Blocked { .. } if lo != hi => return None,
        GroupForm::Blocked { seed, k, rows } => {
            let groups = [None, None, None, Some(&rows[..])];
            sliced::blocked_contains(kernel, *k, &groups, &ask, hash::key(lo, *seed))
        }
    };
    Some(found[3])
}

const PROBES_MAX: u32 = 64;
