//! Hot path: a layer set as the vector kernels want it, made once per call.

use crate::layers::LAYERS_MAX;
use crate::{Layer, Layers};

/// A layer set over a filter, ready to be spread over lanes.
pub(crate) struct Shape {
    layers: [LaneLayer; LAYERS_MAX],
    count: usize,
    /// W * 64, below 2^32: bits of the filter.
    pub(crate) bits: u64,
}

/// What the lanes need of one layer.
#[derive(Clone, Copy, Default)]
pub(crate) struct LaneLayer {
    pub(crate) word_level: u64,
    pub(crate) start: u64,
    pub(crate) offset_max: u64,
    pub(crate) salt: u64,
}

impl Shape {
    /// `words` is at most [`WORDS_MAX`](crate::size::WORDS_MAX).
    pub(crate) fn new(layers: &Layers, words: usize) -> Self {
        let mut lanes = [LaneLayer::default(); LAYERS_MAX];
        for (lanes, layer) in lanes.iter_mut().zip(layers.hashed()) {
            *lanes = LaneLayer::new(layer, layer.start);
        }
        Shape { layers: lanes, count: layers.hashed().len(), bits: (words as u64) << 6 }
    }

    pub(crate) fn layers(&self) -> &[LaneLayer] {
        &self.layers[..self.count]
    }
}

impl LaneLayer {
    /// For keys that are shifted down already, `start` is what is left to shift.
    pub(crate) fn new(layer: &Layer, start: u8) -> Self {
        LaneLayer {
            word_level: u64::from(start) + u64::from(layer.width) - 1,
            start: u64::from(start),
            offset_max: layer.offset_max(),
            salt: layer.salt,
        }
    }
}

/// Sets the bit at an address (`word * 64 + bit`).
#[inline]
pub(crate) fn set(hashed: &mut [u64], bit: u32) {
    hashed[(bit >> 6) as usize] |= 1 << (bit & 63);
}
