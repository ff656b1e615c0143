//! One column of a chunk: the zone maps and flags of its 64 slots as arrays and masks, and the
//! bit-sliced group of its filters once the chunk is full.
//!
//! Cost: a new version of a chunk copies 2 KiB of bounds per column.

use std::sync::Arc;

use bloomrf_kernels::Layers;
use bloomrf_kernels::arena::Words;

use super::CHUNK_SLOTS;
use crate::filter::{ColumnZone, SealedColumn};

/// One column of all slots of one version of a chunk; bit b of every mask is slot b. What masks
/// and bounds say of a slot that holds no batch (any more) means nothing.
#[derive(Clone, Debug)]
pub struct ChunkColumn {
    /// Some cell holds a value that is not NaN.
    pub has_value: u64,
    /// Some cell is null.
    pub has_null: u64,
    /// Some cell is NaN.
    pub has_nan: u64,
    /// Slots of which masks and bounds say nothing: the batch lacks the column, its keys are of
    /// another class than `zones`, or its zone map contradicts its flags. Ask the slot's own
    /// [`SealedColumn`]; the other masks have 0 there.
    pub apart: u64,
    /// Zone maps.
    pub zones: Arc<ChunkZones>,
    pub(super) group: Option<Arc<ColumnGroup>>,
}

/// The bounds of the keys of every slot. Where `has_value` has 0: min = MAX, max = 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "2 KiB for each column of 64 batches, in one piece")]
pub enum ChunkZones {
    /// Keys of up to eight bytes.
    Narrow {
        /// Smallest key.
        min: [u64; CHUNK_SLOTS],
        /// Largest key.
        max: [u64; CHUNK_SLOTS],
    },
    /// The first 16 bytes of wide keys, as the zone map has them.
    Wide {
        /// Smallest key.
        min: [u128; CHUNK_SLOTS],
        /// Largest key.
        max: [u128; CHUNK_SLOTS],
    },
}

/// The bit-sliced filters of one column: row `word * 64 + bit` is a `u64` whose bit b is that bit
/// of slot b's filter. Immutable. Bits of slots outside `slots` are stale or zero: mask them.
#[derive(Debug)]
pub struct ColumnGroup {
    /// Slots that the group answers for; the others have a plain filter in their batch.
    pub slots: u64,
    /// Rows.
    pub form: GroupForm,
    /// Of `form`, from when it was built.
    pub(super) digest: u64,
}

/// Kind and rows of a group; one seed and one set of layers for all of its slots.
#[derive(Debug)]
pub enum GroupForm {
    /// bloomRF.
    BloomRf {
        /// Layers and seed.
        layers: Layers,
        /// W * 64 rows.
        hashed: Words,
        /// 65,536 rows where the layers have an exact top, else none.
        top: Words,
    },
    /// Exact, 65,536 rows.
    Bitmap16 {
        /// Rows.
        rows: Words,
    },
    /// Exact, 256 rows.
    Bitmap8 {
        /// Rows.
        rows: Words,
    },
    /// Blocked Bloom.
    Blocked {
        /// Hash seed.
        seed: u64,
        /// Lanes per key.
        k: u32,
        /// W * 64 rows; W is whole blocks.
        rows: Words,
    },
}

impl ChunkColumn {
    /// The column's group, once the chunk is full and it was sliced.
    #[inline]
    #[must_use]
    pub fn group(&self) -> Option<&ColumnGroup> {
        self.group.as_deref()
    }

    /// A column of which no slot has been seen; its class of keys is that of `first`.
    fn new(first: &ColumnZone) -> Self {
        let zones = match first {
            ColumnZone::Narrow(_) => {
                ChunkZones::Narrow { min: [u64::MAX; CHUNK_SLOTS], max: [0; CHUNK_SLOTS] }
            }
            ColumnZone::Wide(_) => {
                ChunkZones::Wide { min: [u128::MAX; CHUNK_SLOTS], max: [0; CHUNK_SLOTS] }
            }
        };
        ChunkColumn {
            has_value: 0,
            has_null: 0,
            has_nan: 0,
            apart: 0,
            zones: Arc::new(zones),
            group: None,
        }
    }

    fn set(&mut self, slot: usize, column: &SealedColumn) {
        if !Arc::make_mut(&mut self.zones).set(slot, column.zone, column.flags.has_value) {
            self.apart |= 1 << slot;
            return;
        }
        let bit = |flag: bool| u64::from(flag) << slot;
        self.has_value |= bit(column.flags.has_value);
        self.has_null |= bit(column.flags.has_null);
        self.has_nan |= bit(column.flags.has_nan);
    }
}

impl ChunkZones {
    /// Writes the bounds of a slot that had none; false where they cannot be trusted.
    fn set(&mut self, slot: usize, zone: ColumnZone, has_value: bool) -> bool {
        match (self, zone) {
            (ChunkZones::Narrow { min, max }, ColumnZone::Narrow(zone)) => {
                set_bounds(&mut min[slot], &mut max[slot], zone.bounds(), has_value)
            }
            (ChunkZones::Wide { min, max }, ColumnZone::Wide(zone)) => {
                set_bounds(&mut min[slot], &mut max[slot], zone.bounds(), has_value)
            }
            _ => false,
        }
    }
}

impl ColumnGroup {
    /// Bytes that its rows take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.form {
            GroupForm::BloomRf { hashed, top, .. } => hashed.bytes() + top.bytes(),
            GroupForm::Bitmap16 { rows }
            | GroupForm::Bitmap8 { rows }
            | GroupForm::Blocked { rows, .. } => rows.bytes(),
        }
    }
}

impl GroupForm {
    /// Rows of the hashed part or bitmap, and of the exact top.
    pub(super) fn rows(&self) -> [&[u64]; 2] {
        match self {
            GroupForm::BloomRf { hashed, top, .. } => [hashed, top],
            GroupForm::Bitmap16 { rows }
            | GroupForm::Bitmap8 { rows }
            | GroupForm::Blocked { rows, .. } => [rows, &[]],
        }
    }
}

impl ChunkColumn {
    /// Whether masks and bounds say of `slot` what `column` says.
    pub(super) fn is_true_of(&self, slot: usize, column: &SealedColumn) -> bool {
        let mut one = ChunkColumn::new(&column.zone);
        one.set(slot, column);
        let bits = |of: &Self| {
            [of.apart, of.has_value, of.has_null, of.has_nan].map(|mask| mask >> slot & 1)
        };
        if self.apart >> slot & 1 == 1 {
            // Nothing is said of it.
            return bits(self) == [1, 0, 0, 0];
        }
        bits(self) == bits(&one) && self.zones.is_at(slot, &one.zones)
    }
}

impl ChunkZones {
    /// Whether both have the same bounds in `slot`.
    fn is_at(&self, slot: usize, other: &Self) -> bool {
        match (self, other) {
            (Self::Narrow { min: a, max: b }, Self::Narrow { min: c, max: d }) => {
                (a.get(slot), b.get(slot)) == (c.get(slot), d.get(slot))
            }
            (Self::Wide { min: a, max: b }, Self::Wide { min: c, max: d }) => {
                (a.get(slot), b.get(slot)) == (c.get(slot), d.get(slot))
            }
            _ => false,
        }
    }
}

fn set_bounds<K: Copy + Ord>(
    min: &mut K,
    max: &mut K,
    bounds: Option<(K, K)>,
    has_value: bool,
) -> bool {
    match (bounds, has_value) {
        (None, false) => true,
        (Some((lo, hi)), true) if lo <= hi => {
            (*min, *max) = (lo, hi);
            true
        }
        _ => false,
    }
}

/// The columns of a chunk whose slots before `slot` hold what `columns` says, with `batch` in
/// `slot`. A column that only some batches have is apart in the others.
pub(super) fn add_slot(columns: &mut Vec<ChunkColumn>, slot: usize, batch: &[Arc<SealedColumn>]) {
    for sealed in batch.iter().skip(columns.len()) {
        let mut column = ChunkColumn::new(&sealed.zone);
        column.apart = (1 << slot) - 1;
        columns.push(column);
    }
    for (ordinal, column) in columns.iter_mut().enumerate() {
        match batch.get(ordinal) {
            Some(sealed) => column.set(slot, sealed),
            None => column.apart |= 1 << slot,
        }
    }
}

#[cfg(test)]
mod tests;
