//! Hot path: hints only, one per cache line, [`LINES_MAX`] at most.
//!
//! Rows that will be gathered soon are asked for early: measured, the cheapest win of ingest.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::avx2;
use crate::kernel::Kernel;

/// Lines asked for in one call: a frame of an Ethernet packet. Longer frames come along by
/// themselves, since reading them in order starts the hardware's own prefetch.
pub const LINES_MAX: usize = 24;

/// Asks for the first cache lines of `rows`: those of the frame that is due in about three
/// frames' time. A hint, of which every x86-64 has the instruction; elsewhere there is none.
pub fn prefetch(kernel: Kernel, rows: &[u8]) {
    let _ = kernel;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    avx2::columns_lanes::prefetch(&rows[..rows.len().min(64 * LINES_MAX)]);
    let _ = rows;
}
