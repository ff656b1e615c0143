//! Eight chunks side by side: what one walk of the tree is about.
//!
//! Hot path: no allocation, no lock, no syscall. `live` of a chunk is loaded once, by whoever
//! fills the window; every mask is that or a part of it.

use bloomrf_kernels::sliced::{GROUPS, Masks};

use super::evaluate::ChunkMasks;
use crate::store::Chunk;

/// Up to eight chunks, and which of their slots are asked about and usable.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window<'s> {
    chunks: [Option<&'s Chunk>; GROUPS],
    indices: [u32; GROUPS],
    live: Masks,
    len: usize,
}

impl<'s> Window<'s> {
    /// One chunk and one slot of it.
    pub(super) fn of_slot(chunk: &'s Chunk, slot: u32) -> Self {
        let mut window = Window::default();
        window.push(0, chunk, 1 << slot);
        window
    }

    /// Adds the chunk with that index in the snapshot. The window must not be full.
    #[inline]
    pub(super) fn push(&mut self, index: usize, chunk: &'s Chunk, live: u64) {
        self.chunks[self.len] = Some(chunk);
        self.indices[self.len] = index as u32;
        self.live[self.len] = live;
        self.len += 1;
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len == GROUPS
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Slots asked about and usable, chunk by chunk.
    #[inline]
    pub(super) fn live(&self) -> &Masks {
        &self.live
    }

    /// The chunks with their number in the window.
    #[inline]
    pub(super) fn chunks(&self) -> impl Iterator<Item = (usize, &'s Chunk)> + use<'s> {
        let chunks = self.chunks;
        chunks.into_iter().enumerate().filter_map(|(g, chunk)| Some((g, chunk?)))
    }

    /// Chunk number `g` of the window.
    #[inline]
    pub(super) fn chunk(&self, g: usize) -> Option<&'s Chunk> {
        self.chunks.get(g).copied().flatten()
    }

    /// Writes the outcome of a walk: `left` after the zone maps, `found` after the filters.
    pub(super) fn settle(
        &self,
        left: &Masks,
        found: &Masks,
        is_done: bool,
        chunks: &mut [ChunkMasks],
    ) {
        for g in 0..self.len {
            let Some(masks) = chunks.get_mut(self.indices[g] as usize) else { continue };
            masks.by_zone = self.live[g] & !left[g];
            masks.by_filter = left[g] & !found[g];
            masks.is_done = is_done;
        }
    }
}

/// Slots of `mask` in ascending order.
#[inline]
pub(super) fn slots(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let slot = rest.trailing_zeros() as usize;
        let is_left = rest != 0;
        rest &= rest.wrapping_sub(1);
        is_left.then_some(slot)
    })
}

#[inline]
pub(super) fn is_zero(masks: &Masks) -> bool {
    masks.iter().fold(0, |all, mask| all | mask) == 0
}

#[inline]
pub(super) fn count(masks: &Masks) -> u64 {
    masks.iter().map(|mask| u64::from(mask.count_ones())).sum()
}

#[inline]
pub(super) fn and(a: &Masks, b: &Masks) -> Masks {
    std::array::from_fn(|g| a[g] & b[g])
}

#[inline]
pub(super) fn and_not(a: &Masks, b: &Masks) -> Masks {
    std::array::from_fn(|g| a[g] & !b[g])
}

#[inline]
pub(super) fn or(a: &Masks, b: &Masks) -> Masks {
    std::array::from_fn(|g| a[g] | b[g])
}
