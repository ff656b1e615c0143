//! A sealed column: what the store keeps and a lookup reads. Immutable.

use bloomrf_kernels::blocked::K_DEFAULT;
use bloomrf_kernels::exact::Exact;
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::scalar::words::ones;
use bloomrf_kernels::{Layers, Zone, hash};

use super::SlicedFilter;

/// Kinds of presence filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilterKind {
    /// No filter: the zone map only.
    None,
    /// Exact bitmap of a 1-byte column.
    Bitmap8,
    /// Exact bitmap of a 2-byte column, or its sorted list, when that is smaller.
    Bitmap16,
    /// The keys themselves, chosen at close: of a 4-byte column those that span less than 65,536,
    /// of others those that take no more than a filter.
    Exact,
    /// bloomRF: points and ranges.
    BloomRf,
    /// Blocked Bloom: equality only.
    Blocked,
}

/// What was seen besides keys. Flags merge by OR; a frame that arrives twice cannot falsify them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnFlags {
    /// Some cell held a value that is not NaN.
    pub has_value: bool,
    /// Some cell was null.
    pub has_null: bool,
    /// Some cell was NaN.
    pub has_nan: bool,
}

/// Zone map of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnZone {
    /// Of integer keys.
    Narrow(Zone<u64>),
    /// Of the first 16 bytes (big-endian, padded right with zeros) of wide keys. For columns of
    /// more than 16 bytes equal bounds do not mean equal values.
    Wide(Zone<u128>),
}

/// A sealed presence filter.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// None: zone map only.
    None,
    /// Exact, 256 keys.
    Bitmap8([u64; 4]),
    /// Exact, 65,536 keys, 1,024 words.
    Bitmap16(Box<[u64]>),
    /// Exact: the sorted, distinct keys of a 2-byte column with few of them.
    List16(Box<[u16]>),
    /// Exact: 4-byte keys that lie close together (lengths, one /16), as offsets from the
    /// smallest. Takes at most 2 bytes per distinct key, and 8 KiB in all. Unlike
    /// [`Filter::Exact`] it needs no keys kept: however many records come, it is there.
    Near16 {
        /// The smallest key.
        base: u64,
        /// Key - base.
        offsets: Top16,
    },
    /// Exact: the keys themselves, in the smallest form there is.
    Exact(Exact),
    /// bloomRF.
    BloomRf {
        /// Layers and seed.
        layers: Layers,
        /// Hashed words.
        hashed: Box<[u64]>,
        /// Exact top 16 bits, where the layers have them.
        top: Top16,
    },
    /// Blocked Bloom; of wide keys the hash of the bytes, of narrow ones (LEVELS=1) the hash of
    /// the key's eight little-endian bytes.
    Blocked {
        /// Hash seed.
        seed: u64,
        /// Blocks of eight words.
        blocks: Box<[u64]>,
    },
    /// Its bits lie in the bit-sliced group of its chunk and column; what `/batches` and explain
    /// tell of it is kept. Without that group it has no opinion.
    Sliced(SlicedFilter),
}

/// An exact set of 16-bit values: the top 16 bits of a sealed bloomRF of 4-byte keys, or the
/// offsets of [`Filter::Near16`].
#[derive(Clone, Debug, PartialEq)]
pub enum Top16 {
    /// The layers have none.
    None,
    /// 1,024 words.
    Bitmap(Box<[u64]>),
    /// Sorted, distinct values: chosen when smaller.
    List(Box<[u16]>),
}

/// A sealed column.
#[derive(Clone, Debug, PartialEq)]
pub struct SealedColumn {
    /// Flags.
    pub flags: ColumnFlags,
    /// Zone map.
    pub zone: ColumnZone,
    /// Filter.
    pub filter: Filter,
}

impl ColumnFlags {
    /// Adds what another share of the column saw.
    pub fn merge(&mut self, other: ColumnFlags) {
        self.has_value |= other.has_value;
        self.has_null |= other.has_null;
        self.has_nan |= other.has_nan;
    }
}

impl Top16 {
    /// The form that range plans read.
    #[must_use]
    pub fn view(&self) -> TopBits<'_> {
        match self {
            Top16::None => TopBits::None,
            Top16::Bitmap(words) => TopBits::Bitmap(words),
            Top16::List(list) => TopBits::List(list),
        }
    }

    /// Whether `value` is in the set; where nothing is kept, everything may be.
    #[must_use]
    pub fn holds(&self, value: u64) -> bool {
        let Ok(value) = u16::try_from(value) else { return false };
        match self {
            Top16::None => true,
            Top16::Bitmap(words) => bitmap::any(words, value, value),
            Top16::List(list) => list.binary_search(&value).is_ok(),
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Top16::None => 0,
            Top16::Bitmap(words) => size_of_val(&**words),
            Top16::List(list) => size_of_val(&**list),
        }
    }

    /// Share of the 65,536 values that are present; 1 where nothing is kept.
    fn density(&self) -> f64 {
        let present = match self {
            Top16::None => return 1.0,
            Top16::Bitmap(words) => ones(words) as f64,
            Top16::List(list) => list.len() as f64,
        };
        present / 65_536.0
    }
}

impl Filter {
    /// Bytes of filter words; of a sliced filter those that it took by itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Filter::Sliced(sliced) => sliced.bytes,
            Filter::None => 0,
            Filter::Bitmap8(words) => size_of_val(words),
            Filter::Bitmap16(words) => size_of_val(&**words),
            Filter::List16(list) => size_of_val(&**list),
            Filter::Near16 { offsets, .. } => offsets.bytes(),
            Filter::Exact(keys) => keys.bytes(),
            Filter::BloomRf { hashed, top, .. } => size_of_val(&**hashed) + top.bytes(),
            Filter::Blocked { blocks, .. } => size_of_val(&**blocks),
        }
    }

    /// Bytes that this value holds itself: none once it is sliced.
    #[must_use]
    pub fn own_bytes(&self) -> usize {
        if matches!(self, Filter::Sliced(_)) { 0 } else { self.bytes() }
    }

    /// Kind, for logs and `/batches`.
    #[must_use]
    pub fn kind(&self) -> FilterKind {
        match self {
            Filter::Sliced(sliced) => sliced.kind,
            Filter::None => FilterKind::None,
            Filter::Bitmap8(_) => FilterKind::Bitmap8,
            Filter::Bitmap16(_) | Filter::List16(_) => FilterKind::Bitmap16,
            Filter::Near16 { .. } | Filter::Exact(_) => FilterKind::Exact,
            Filter::BloomRf { .. } => FilterKind::BloomRf,
            Filter::Blocked { .. } => FilterKind::Blocked,
        }
    }

    /// Share of the hashed bits (bitmaps: of the possible keys) that are set; `0..=1`.
    #[must_use]
    pub fn fill(&self) -> f64 {
        match self {
            Filter::Sliced(sliced) => sliced.fill,
            Filter::None => 0.0,
            Filter::Bitmap8(words) => fill_of(words),
            Filter::Bitmap16(words) => fill_of(words),
            Filter::List16(list) => list.len() as f64 / 65_536.0,
            Filter::Near16 { offsets, .. } => offsets.density(),
            // Nothing is hashed: there is no share of bits that could be too full.
            Filter::Exact(_) => 0.0,
            Filter::BloomRf { hashed, .. } => fill_of(hashed),
            Filter::Blocked { blocks, .. } => fill_of(blocks),
        }
    }

    /// Estimated false-positive rate of a point question with a random absent key: exact kinds 0,
    /// no filter 1. Keys near stored ones fare worse: layers above both cannot tell them apart.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fpr_at(self.fill())
    }

    /// The same for a filter whose fill is known.
    pub(super) fn fpr_at(&self, fill: f64) -> f64 {
        match self {
            Filter::Sliced(sliced) => sliced.fpr,
            Filter::None => 1.0,
            Filter::Bitmap8(_)
            | Filter::Bitmap16(_)
            | Filter::List16(_)
            | Filter::Near16 { .. }
            | Filter::Exact(_) => 0.0,
            Filter::BloomRf { layers, top, .. } => {
                fill.powf(layers.hashed().len() as f64) * top.density()
            }
            Filter::Blocked { .. } => fill.powf(f64::from(K_DEFAULT)),
        }
    }
}

/// The zone map's key of a wide cell: its first 16 bytes, big-endian, padded right with zeros.
#[inline]
#[must_use]
pub fn wide_zone_key(bytes: &[u8]) -> u128 {
    let mut first = [0; 16];
    let len = bytes.len().min(16);
    first[..len].copy_from_slice(&bytes[..len]);
    u128::from_be_bytes(first)
}

/// The hash of a narrow key in a blocked filter (LEVELS=1).
#[inline]
#[must_use]
pub fn narrow_hash(key: u64, seed: u64) -> u64 {
    hash::key(key, seed)
}

fn fill_of(words: &[u64]) -> f64 {
    if words.is_empty() { 0.0 } else { ones(words) as f64 / (words.len() * 64) as f64 }
}
