//! A column's index within a batch: zone map, flags and presence filter, open while records
//! arrive, sealed afterwards.

mod fold;
mod open;
mod policy;
mod sealed;

pub use open::OpenColumn;
pub use policy::{FilterPolicy, OpenShape};
pub use sealed::{
    ColumnFlags, ColumnZone, Filter, FilterKind, SealedColumn, SlicedFilter, Top16, narrow_hash,
    wide_zone_key,
};
