//! A column's index within a batch: zone map, flags and presence filter, open while records
//! arrive, sealed afterwards.

mod open;
mod policy;
mod sealed;

pub use open::OpenColumn;
pub use policy::{FilterPolicy, OpenShape};
pub use sealed::{ColumnFlags, ColumnZone, Filter, FilterKind, SealedColumn};
