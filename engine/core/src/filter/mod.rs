//! A column's index within a batch: zone map, flags and presence filter, open while records
//! arrive, sealed afterwards.

mod chunk;
mod close;
mod fold;
mod form;
mod open;
mod policy;
mod rows;
mod sealed;
mod sliced;
mod staged;

pub use chunk::Dedupe;
pub(crate) use chunk::{ChunkKeys, ColumnScratch, KeyBuffers};
pub use form::{FORMS, FormCounts};
pub use open::OpenColumn;
pub use policy::{FilterPolicy, OpenShape};
pub use sealed::{
    ColumnFlags, ColumnZone, Filter, FilterKind, SealedColumn, Top16, narrow_hash, wide_zone_key,
};
pub use sliced::SlicedFilter;
