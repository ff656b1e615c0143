//! An open column: takes rows, remembers min, max, flags and filter bits of one queue's share.
//!
//! Hot path: no allocation after `new`, no lock; one column after the other over a frame's rows.

use bloomrf_kernels::blocked;
use bloomrf_kernels::scalar::{bitmap, bloomrf};
use bloomrf_kernels::{Zone, hash};

use super::Top16;
use super::fold::{FoldLimits, fold_to_budget, merge_folded};
use super::policy::granule_of;
use super::sealed::{narrow_hash, wide_zone_key};
use super::{ColumnFlags, ColumnZone, Filter, FilterKind, FilterPolicy, OpenShape, SealedColumn};
use crate::schema::{CellKey, Column, KeyClass};

/// One queue's share of one column of an open batch.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenColumn {
    shape: OpenShape,
    flags: ColumnFlags,
    zone: ColumnZone,
    /// Hashed words, blocks or bitmap: `shape.words` of them.
    words: Vec<u64>,
    /// The exact top 16 bits, where the layers have them.
    top: Vec<u64>,
    /// The low 16 bits of every key, where there is a top: the exact set of keys, should they
    /// turn out to span less than 65,536.
    low: Vec<u64>,
}

/// Keys gathered before they are inserted together.
const KEYS_MAX: usize = 256;

impl OpenColumn {
    /// An empty column of that shape.
    #[must_use]
    pub fn new(column: &Column, shape: OpenShape) -> Self {
        let zone = match column.kind().key_class() {
            KeyClass::Narrow { .. } => ColumnZone::Narrow(Zone::default()),
            KeyClass::Wide { .. } => ColumnZone::Wide(Zone::default()),
        };
        OpenColumn {
            shape,
            flags: ColumnFlags::default(),
            zone,
            words: vec![0; shape.words as usize],
            top: vec![0; top_words(&shape)],
            low: vec![0; top_words(&shape)],
        }
    }

    /// Shape it was opened with (after a merge of differing sizes: the common size).
    #[must_use]
    pub fn shape(&self) -> &OpenShape {
        &self.shape
    }

    /// Inserts the cells of whole records of `record_bytes` bytes.
    pub fn insert_rows(&mut self, column: &Column, rows: &[u8], record_bytes: usize) {
        match self.zone {
            ColumnZone::Narrow(_) => self.insert_narrow(column, rows, record_bytes),
            ColumnZone::Wide(_) => self.insert_wide(column, rows, record_bytes),
        }
    }

    /// Adds what another queue saw of the same batch and column.
    ///
    /// Both normally have one shape. Should two queues have opened with different sizes (see
    /// `OpenBoard`), both are folded exactly to their greatest common size.
    ///
    /// # Panics
    /// Where they are not shares of one column: our own mistake.
    pub fn merge(&mut self, other: &OpenColumn) {
        let (ours, theirs) = (&self.shape, &other.shape);
        assert!(
            ours.kind == theirs.kind && ours.layers == theirs.layers && ours.seed == theirs.seed,
            "shares of one column differ in size at most"
        );
        self.flags.merge(other.flags);
        match (&mut self.zone, &other.zone) {
            (ColumnZone::Narrow(zone), ColumnZone::Narrow(other)) => zone.merge(other),
            (ColumnZone::Wide(zone), ColumnZone::Wide(other)) => zone.merge(other),
            _ => unreachable!("one column has one class of keys"),
        }
        merge_folded(&mut self.words, &other.words, granule_of(self.shape.kind));
        merge_folded(&mut self.top, &other.top, 1);
        merge_folded(&mut self.low, &other.low, 1);
        self.shape.words = self.words.len() as u32;
    }

    /// Empties it for another batch, with a new shape (reuses the memory where it suffices).
    pub fn reset(&mut self, shape: OpenShape) {
        self.words.clear();
        self.words.resize(shape.words as usize, 0);
        self.top.clear();
        self.top.resize(top_words(&shape), 0);
        self.low.clear();
        self.low.resize(top_words(&shape), 0);
        self.shape = shape;
        self.flags = ColumnFlags::default();
        self.zone = match self.zone {
            ColumnZone::Narrow(_) => ColumnZone::Narrow(Zone::default()),
            ColumnZone::Wide(_) => ColumnZone::Wide(Zone::default()),
        };
    }

    /// Folds to the budget of a batch of `records` records, chooses the stored kind and freezes.
    #[must_use]
    pub fn seal(&self, policy: &FilterPolicy, records: u64) -> SealedColumn {
        let filter = match self.shape.kind {
            FilterKind::None => Filter::None,
            FilterKind::Bitmap8 => {
                let mut words = [0; bitmap::WORDS_8];
                words.copy_from_slice(&self.words);
                Filter::Bitmap8(words)
            }
            FilterKind::Bitmap16 => match shorter_list(&self.words) {
                Some(list) => Filter::List16(list),
                None => Filter::Bitmap16(self.words.clone().into()),
            },
            FilterKind::BloomRf => self.seal_bloomrf(policy, records),
            FilterKind::Blocked => {
                Filter::Blocked { seed: self.shape.seed, blocks: self.folded(policy, records) }
            }
        };
        SealedColumn { flags: self.flags, zone: self.zone, filter }
    }

    fn seal_bloomrf(&self, policy: &FilterPolicy, records: u64) -> Filter {
        let Some(layers) = self.shape.layers else {
            unreachable!("a bloomRF opens with layers");
        };
        if let Some(near) = self.near() {
            return near;
        }
        let top = match (self.top.is_empty(), shorter_list(&self.top)) {
            (true, _) => Top16::None,
            (false, Some(list)) => Top16::List(list),
            (false, None) => Top16::Bitmap(self.top.clone().into()),
        };
        Filter::BloomRf { layers, hashed: self.folded(policy, records), top }
    }

    /// The exact set, where all keys are less than 65,536 apart: then their low 16 bits differ.
    fn near(&self) -> Option<Filter> {
        let ColumnZone::Narrow(zone) = &self.zone else { return None };
        let (base, max) = zone.bounds()?;
        if self.low.is_empty() || max - base > u64::from(u16::MAX) {
            return None;
        }
        let mut offsets = vec![0; bitmap::WORDS_16];
        for key in bitmap::keys(&self.low) {
            bitmap::insert(&mut offsets, key.wrapping_sub(base as u16));
        }
        let offsets = match shorter_list(&offsets) {
            Some(list) => Top16::List(list),
            None => Top16::Bitmap(offsets.into()),
        };
        Some(Filter::Near16 { base, offsets })
    }

    fn folded(&self, policy: &FilterPolicy, records: u64) -> Box<[u64]> {
        let mut words = self.words.clone();
        let limits = FoldLimits {
            fill_target: policy.fold_fill_max(self.shape.layers.as_ref()),
            words_max: policy.stored_words_max(self.shape.kind, records),
            granule: granule_of(self.shape.kind),
        };
        fold_to_budget(&mut words, &policy.sizes, limits);
        words.into()
    }

    fn insert_narrow(&mut self, column: &Column, rows: &[u8], record_bytes: usize) {
        let mut keys = [0; KEYS_MAX];
        let mut count = 0;
        for record in rows.chunks_exact(record_bytes) {
            match column.key(record) {
                CellKey::Narrow(key) => {
                    keys[count] = key;
                    count += 1;
                    if count == KEYS_MAX {
                        self.insert_keys(&keys);
                        count = 0;
                    }
                }
                CellKey::Null => self.flags.has_null = true,
                CellKey::Nan => self.flags.has_nan = true,
                CellKey::Wide(_) => unreachable!("a narrow column has narrow keys"),
            }
        }
        self.insert_keys(&keys[..count]);
    }

    fn insert_keys(&mut self, keys: &[u64]) {
        let (Some(&min), Some(&max)) = (keys.iter().min(), keys.iter().max()) else { return };
        self.flags.has_value = true;
        if let ColumnZone::Narrow(zone) = &mut self.zone {
            zone.insert(min);
            zone.insert(max);
        }
        match (self.shape.kind, &self.shape.layers) {
            (FilterKind::Bitmap8 | FilterKind::Bitmap16, _) => {
                for &key in keys {
                    bitmap::insert(&mut self.words, key as u16);
                }
            }
            (FilterKind::BloomRf, Some(layers)) => {
                bloomrf::insert_many(layers, &mut self.words, &mut self.top, keys);
                if !self.low.is_empty() {
                    for &key in keys {
                        bitmap::insert(&mut self.low, key as u16);
                    }
                }
            }
            (FilterKind::Blocked, _) => {
                for &key in keys {
                    blocked::insert(
                        blocked::K_DEFAULT,
                        &mut self.words,
                        narrow_hash(key, self.shape.seed),
                    );
                }
            }
            (FilterKind::None | FilterKind::BloomRf, _) => {}
        }
    }

    fn insert_wide(&mut self, column: &Column, rows: &[u8], record_bytes: usize) {
        let ColumnZone::Wide(mut zone) = self.zone else { return };
        let is_filtered = self.shape.kind == FilterKind::Blocked;
        for record in rows.chunks_exact(record_bytes) {
            match column.key(record) {
                CellKey::Wide(bytes) => {
                    self.flags.has_value = true;
                    zone.insert(wide_zone_key(bytes));
                    if is_filtered {
                        blocked::insert(
                            blocked::K_DEFAULT,
                            &mut self.words,
                            hash::bytes(bytes, self.shape.seed),
                        );
                    }
                }
                CellKey::Null => self.flags.has_null = true,
                CellKey::Nan => self.flags.has_nan = true,
                CellKey::Narrow(_) => unreachable!("a wide column has wide keys"),
            }
        }
        self.zone = ColumnZone::Wide(zone);
    }
}

fn top_words(shape: &OpenShape) -> usize {
    if shape.layers.is_some_and(|l| l.has_exact_top()) { bitmap::WORDS_16 } else { 0 }
}

/// The sorted list of the keys in a bitmap of 16-bit keys, where it takes fewer bytes than that.
fn shorter_list(words: &[u64]) -> Option<Box<[u16]>> {
    let distinct = bloomrf_kernels::scalar::words::ones(words) as usize;
    (distinct * size_of::<u16>() < size_of_val(words)).then(|| bitmap::keys(words).collect())
}

#[cfg(test)]
mod tests;
