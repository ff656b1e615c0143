//! A chunk of keys into an open column: bounds, exact map or filter, one kernel call each.
//!
//! Hot path: no allocation, no lock; work bounded by the rows of a chunk.
//!
//! Why chunks and columns: one open filter, one array of keys and one cache are in use at a time,
//! which fits a core's own cache, and the kernels get thousands of keys per call. The column ends
//! up bit for bit as [`OpenColumn::insert_rows`] leaves it. What belongs to the batch and not to
//! the column's bits (recent keys, maps that are joined at the end) lies in a [`ColumnScratch`].

use bloomrf_kernels::arena::Words;
use bloomrf_kernels::columns::{self, KeysRef, RecentKeys, RecentWideKeys};
use bloomrf_kernels::scalar::bitmap::{self, WORDS_8, WORDS_16};
use bloomrf_kernels::{Kernel, blocked, bloomrf, hash};

use super::open::OpenColumn;
use super::sealed::wide_zone_key;
use super::{ColumnZone, FilterKind, FilterPolicy};
use crate::schema::{Column, KeyClass};

/// Whether keys seen a moment ago are left out of the insert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dedupe {
    /// For 4- and 6-byte columns always, for 8-byte ones while it leaves out a fifth.
    #[default]
    Adaptive,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a column needs while chunks of one batch go into it.
#[derive(Debug)]
pub(crate) struct ColumnScratch {
    form: Form,
    dedupe: Dedupe,
}

#[derive(Debug)]
enum Form {
    /// Zone map only.
    Bounds,
    /// Map of a 1-byte column, a byte per key.
    Bytes(Box<[u8; 256]>),
    /// Four bitmaps of a 2-byte column that take turns.
    Turns(Words),
    Recent(RecentKeys),
    RecentWide(RecentWideKeys, WideTrial),
    /// Hashes of wide keys that wait to be inserted.
    Hashes(Vec<u64>),
}

/// When a cache of 8-byte keys is used: while it pays, and now and then to see whether it does.
#[derive(Debug)]
struct WideTrial {
    is_exempt: bool,
    is_paying: bool,
    chunks_off: u8,
}

/// Arrays of keys on their way through a chunk, shared by all columns.
#[derive(Debug)]
pub(crate) struct KeyBuffers {
    of_u8: Buffers<u8>,
    of_u16: Buffers<u16>,
    of_u32: Buffers<u32>,
    of_u64: Buffers<u64>,
}

#[derive(Debug)]
struct Buffers<K> {
    /// Without nulls.
    valid: Vec<K>,
    /// Without NaN.
    numbers: Vec<K>,
    /// Without what came a moment ago.
    fresh: Vec<K>,
}

/// One column of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkKeys<'c> {
    pub(crate) keys: KeysRef<'c>,
    /// Set bits are nulls.
    pub(crate) nulls: Option<&'c [u64]>,
    pub(crate) is_float: bool,
}

impl ColumnScratch {
    /// Scratch of `column`, for up to `rows_max` rows a chunk.
    pub(crate) fn new(
        policy: &FilterPolicy,
        ordinal: usize,
        column: &Column,
        rows_max: usize,
        dedupe: Dedupe,
    ) -> Self {
        let form = match (policy.kind_of(ordinal, column), column.kind().key_class()) {
            (FilterKind::None | FilterKind::Exact, _) => Form::Bounds,
            (FilterKind::Bitmap8, _) => Form::Bytes(Box::new([0; 256])),
            (FilterKind::Bitmap16, _) => Form::Turns(Words::heap(TURNS * WORDS_16)),
            (_, KeyClass::Wide { .. }) => Form::Hashes(Vec::with_capacity(rows_max)),
            (_, KeyClass::Narrow { bits: 0..=32 }) => Form::Recent(RecentKeys::default()),
            (_, KeyClass::Narrow { bits }) => {
                let trial = WideTrial { is_exempt: bits < 64, is_paying: true, chunks_off: 0 };
                Form::RecentWide(RecentWideKeys::default(), trial)
            }
        };
        ColumnScratch { form, dedupe }
    }

    /// Forgets everything: before the first key of another batch or partial.
    pub(crate) fn reset(&mut self) {
        match &mut self.form {
            Form::Bounds => {}
            Form::Bytes(bytes) => bytes.fill(0),
            Form::Turns(maps) => maps.fill(0),
            Form::Recent(cache) => cache.reset(),
            Form::RecentWide(cache, trial) => {
                cache.reset();
                trial.is_paying = true;
                trial.chunks_off = 0;
            }
            Form::Hashes(hashes) => hashes.clear(),
        }
    }
}

impl KeyBuffers {
    /// Room for chunks of `rows_max` rows.
    pub(crate) fn new(rows_max: usize) -> Self {
        KeyBuffers {
            of_u8: Buffers::new(rows_max),
            of_u16: Buffers::new(rows_max),
            of_u32: Buffers::new(rows_max),
            of_u64: Buffers::new(rows_max),
        }
    }
}

impl<K: ChunkKey> Buffers<K> {
    fn new(rows_max: usize) -> Self {
        let array = || vec![K::default(); rows_max];
        Buffers { valid: array(), numbers: array(), fresh: array() }
    }
}

impl OpenColumn {
    /// Inserts a chunk of narrow keys.
    pub(crate) fn insert_chunk(
        &mut self,
        kernel: Kernel,
        chunk: ChunkKeys<'_>,
        scratch: &mut ColumnScratch,
        buffers: &mut KeyBuffers,
    ) {
        match chunk.keys {
            KeysRef::U8(keys) => {
                let (keys, _) = self.numbers(kernel, keys, chunk, &mut buffers.of_u8);
                if let Form::Bytes(bytes) = &mut scratch.form {
                    columns::map_u8(kernel, bytes, keys);
                }
            }
            KeysRef::U16(keys) => {
                let (keys, _) = self.numbers(kernel, keys, chunk, &mut buffers.of_u16);
                if let Form::Turns(maps) = &mut scratch.form {
                    columns::map_u16(kernel, maps, keys);
                }
            }
            KeysRef::U32(keys) => {
                let (keys, fresh) = self.numbers(kernel, keys, chunk, &mut buffers.of_u32);
                let Form::Recent(cache) = &mut scratch.form else { return };
                let keys = match scratch.dedupe {
                    Dedupe::Never => keys,
                    _ => {
                        let kept = cache.keep_new(kernel, keys, fresh);
                        &fresh[..kept]
                    }
                };
                self.insert_u32(kernel, keys, &mut buffers.of_u64.fresh);
            }
            KeysRef::U64(keys) => {
                let (keys, fresh) = self.numbers(kernel, keys, chunk, &mut buffers.of_u64);
                let Form::RecentWide(cache, trial) = &mut scratch.form else { return };
                let keys = match trial.is_due(scratch.dedupe) {
                    false => keys,
                    true => {
                        let kept = cache.keep_new(kernel, keys, fresh);
                        trial.learn(keys.len(), kept);
                        &fresh[..kept]
                    }
                };
                self.insert_u64(kernel, keys);
            }
        }
    }

    /// Takes the wide cells of a frame's records: bounds and flags at once, hashes for later.
    pub(crate) fn hash_rows(
        &mut self,
        kernel: Kernel,
        column: &Column,
        rows: &[u8],
        record_bytes: usize,
        scratch: &mut ColumnScratch,
    ) {
        let (width, offset) = (column.width(), column.offset());
        let ColumnZone::Wide(mut zone) = self.zone else { return };
        let mut has_null = false;
        let bounds_apart = width == 16;
        if bounds_apart
            && let Some((min, max)) =
                columns::bounds_wide(kernel, rows, record_bytes, offset, column.null_bit())
        {
            self.flags.has_value = true;
            zone.insert(min);
            zone.insert(max);
        }
        for record in rows.chunks_exact(record_bytes) {
            if column.is_null(record) {
                has_null = true;
                continue;
            }
            let cell = &record[offset..offset + width];
            if !bounds_apart {
                self.flags.has_value = true;
                zone.insert(wide_zone_key(cell));
            }
            if let Form::Hashes(hashes) = &mut scratch.form {
                hashes.push(hash::bytes(cell, self.shape.seed));
            }
        }
        self.flags.has_null |= has_null;
        self.zone = ColumnZone::Wide(zone);
    }

    /// Inserts the hashes that wait.
    pub(crate) fn insert_hashes(&mut self, kernel: Kernel, scratch: &mut ColumnScratch) {
        let Form::Hashes(hashes) = &mut scratch.form else { return };
        if !hashes.is_empty() {
            let blocks = self.filter_mut().0;
            blocked::insert_hashes_many(kernel, blocked::K_DEFAULT, blocks, hashes);
            hashes.clear();
        }
    }

    /// Joins the maps of a 1- or 2-byte column into its bitmap: after the last chunk.
    pub(crate) fn join(&mut self, kernel: Kernel, scratch: &mut ColumnScratch) {
        if !self.flags.has_value {
            return;
        }
        match &scratch.form {
            Form::Bytes(bytes) => {
                let bits: [u64; WORDS_8] = columns::bytes_to_bits(kernel, bytes);
                for (word, bits) in self.filter_mut().0.iter_mut().zip(bits) {
                    *word |= bits;
                }
            }
            Form::Turns(maps) => {
                if let Some(bitmap) = self.filter_mut().0.first_chunk_mut::<WORDS_16>() {
                    columns::join_maps(kernel, maps, bitmap);
                }
            }
            _ => {}
        }
    }

    /// The keys without nulls and NaN, which become flags; bounds go into the zone map.
    fn numbers<'k, K: ChunkKey>(
        &mut self,
        kernel: Kernel,
        mut keys: &'k [K],
        chunk: ChunkKeys<'_>,
        buffers: &'k mut Buffers<K>,
    ) -> (&'k [K], &'k mut [K]) {
        let Buffers { valid, numbers, fresh } = buffers;
        if let Some(nulls) = chunk.nulls {
            let kept = K::keep_valid(kernel, keys, nulls, valid);
            self.flags.has_null |= kept < keys.len();
            keys = &valid[..kept];
        }
        if chunk.is_float {
            let (kept, has_nan) = K::drop_nan(kernel, keys, numbers);
            self.flags.has_nan |= has_nan;
            keys = &numbers[..kept];
        }
        if let Some((min, max)) = K::bounds(kernel, keys) {
            self.widen(min.into(), max.into());
        }
        (keys, fresh)
    }

    fn insert_u32(&mut self, kernel: Kernel, keys: &[u32], widened: &mut [u64]) {
        let shape = self.shape;
        match (shape.kind, &shape.layers) {
            (FilterKind::BloomRf, Some(layers)) => {
                let (hashed, top) = self.filter_mut();
                bloomrf::insert_many_u32(kernel, layers, hashed, top, keys);
                self.stage(keys);
                if let Some(low) = self.low_mut() {
                    keys.iter().for_each(|&key| bitmap::insert(low, key as u16));
                }
            }
            (FilterKind::Blocked, _) => {
                let widened = &mut widened[..keys.len()];
                widened.iter_mut().zip(keys).for_each(|(wide, &key)| *wide = key.into());
                self.insert_u64(kernel, widened);
            }
            _ => {}
        }
    }

    fn insert_u64(&mut self, kernel: Kernel, keys: &[u64]) {
        let shape = self.shape;
        let (hashed, top) = self.filter_mut();
        match (shape.kind, &shape.layers) {
            (FilterKind::BloomRf, Some(layers)) => {
                bloomrf::insert_many(kernel, layers, hashed, top, keys);
                self.stage(keys);
            }
            (FilterKind::Blocked, _) => {
                blocked::insert_many(kernel, blocked::K_DEFAULT, hashed, shape.seed, keys);
            }
            _ => {}
        }
    }
}

impl WideTrial {
    fn is_due(&mut self, dedupe: Dedupe) -> bool {
        match dedupe {
            Dedupe::Never => return false,
            Dedupe::Always => return true,
            Dedupe::Adaptive if self.is_exempt || self.is_paying => return true,
            Dedupe::Adaptive => {}
        }
        self.chunks_off += 1;
        self.chunks_off >= TRIAL_CHUNKS
    }

    fn learn(&mut self, keys: usize, kept: usize) {
        self.is_paying = kept * 5 < keys * 4;
        self.chunks_off = 0;
    }
}

/// The kernels of one width of key.
trait ChunkKey: Copy + Default + Into<u64> {
    fn keep_valid(kernel: Kernel, keys: &[Self], nulls: &[u64], out: &mut [Self]) -> usize;
    fn drop_nan(kernel: Kernel, keys: &[Self], out: &mut [Self]) -> (usize, bool);
    fn bounds(kernel: Kernel, keys: &[Self]) -> Option<(Self, Self)>;
}

macro_rules! chunk_key {
    ($key:ty, $keep_valid:ident, $bounds:ident, $drop_nan:expr) => {
        impl ChunkKey for $key {
            fn keep_valid(k: Kernel, keys: &[Self], nulls: &[u64], out: &mut [Self]) -> usize {
                columns::$keep_valid(k, keys, nulls, out)
            }

            fn drop_nan(kernel: Kernel, keys: &[Self], out: &mut [Self]) -> (usize, bool) {
                $drop_nan(kernel, keys, out)
            }

            fn bounds(kernel: Kernel, keys: &[Self]) -> Option<(Self, Self)> {
                columns::$bounds(kernel, keys)
            }
        }
    };
}

chunk_key!(u8, keep_valid_u8, bounds_u8, no_floats);
chunk_key!(u16, keep_valid_u16, bounds_u16, no_floats);
chunk_key!(u32, keep_valid_u32, bounds_u32, columns::drop_nan_u32);
chunk_key!(u64, keep_valid_u64, bounds_u64, columns::drop_nan_u64);

fn no_floats<K>(_: Kernel, _: &[K], _: &mut [K]) -> (usize, bool) {
    unreachable!("floats have four or eight bytes")
}

/// Bitmaps that take turns (see [`columns::map_u16`]).
const TURNS: usize = 4;
/// Chunks without a cache of 8-byte keys before it is tried again.
const TRIAL_CHUNKS: u8 = 16;
