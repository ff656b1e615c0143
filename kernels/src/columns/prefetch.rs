//! Hot path: hints only, one per cache line, [`LINES_MAX`] at most.
//!
//! Rows that will be gathered soon are asked for early: measured, the cheapest win of ingest.

#[cfg(target_arch = "x86_64")]
use crate::avx2;
use crate::kernel::Kernel;

/// Lines asked for in one call: a frame of an Ethernet packet. Longer frames come along by
/// themselves, since reading them in order starts the hardware's own prefetch.
pub const LINES_MAX: usize = 24;

/// Asks for the first cache lines of `rows`: those of the frame that is due in about three
/// frames' time. A hint; the scalar set gives none.
pub fn prefetch(kernel: Kernel, rows: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = kernel.avx2() {
        avx2::columns_lanes::prefetch(token, &rows[..rows.len().min(64 * LINES_MAX)]);
    }
    let _ = (kernel, rows);
}
