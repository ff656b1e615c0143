//! A sealed column: what the store keeps and a lookup reads. Immutable.

use bloomrf_kernels::{Layers, Zone};

/// Kinds of presence filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilterKind {
    /// No filter: the zone map only.
    None,
    /// Exact bitmap of a 1-byte column.
    Bitmap8,
    /// Exact bitmap of a 2-byte column (or its sorted list, when that is smaller).
    Bitmap16,
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
}

/// The exact top 16 bits of a sealed bloomRF of 4-byte keys.
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

impl Filter {
    /// Bytes of filter words held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        todo!("filter")
    }

    /// Kind, for logs and `/batches`.
    #[must_use]
    pub fn kind(&self) -> FilterKind {
        todo!("filter")
    }
}
