//! The mbufs of a port: how many it needs, and whether all came back.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{DpdkError, Reason};
use crate::ffi;
use crate::log::Mark;

/// Bytes of a frame that one mbuf holds. A longer one comes in several segments.
pub const FRAME_BYTES_MAX: usize = 2_048;

/// What an mbuf takes: header, headroom, frame, and the pool's own words.
const MBUF_BYTES: u64 = 2_048 + 128 + 128 + 64;
/// Mbufs that lie in one thread's cache at most: half as many again as the cache is told to hold.
const CACHED: u32 = 384;
/// A port of 1 or 2 queues with ordinary descriptors; 2^n - 1 wastes no memory.
const USUAL: u32 = 8_191;

/// The fewest mbufs that keep all queues and threads of a port going.
pub(crate) fn least(
    rx_queues: u32,
    rx_descriptors: u32,
    tx_queues: u32,
    tx_descriptors: u32,
) -> u32 {
    let per_rx_queue = rx_descriptors + ffi::BURST as u32 + CACHED;
    rx_queues * per_rx_queue + tx_queues * (tx_descriptors + CACHED)
}

/// As many as are asked for, or what suits.
pub(crate) fn size(device: &str, asked: Option<u32>, least: u32) -> Result<u32, DpdkError> {
    match asked {
        None => Ok(USUAL.max((least + 1).next_power_of_two() - 1)),
        Some(asked) if asked >= least => Ok(asked),
        Some(asked) => Err(DpdkError::PoolTooSmall { device: device.to_owned(), asked, least }),
    }
}

/// A mempool of mbufs. Freed only where all of them are back.
#[derive(Debug)]
pub(crate) struct MbufPool {
    raw: *mut ffi::Pool,
}

// SAFETY: DPDK's pools are used by any number of threads at once, which is what they are for.
unsafe impl Send for MbufPool {}
// SAFETY: as above.
unsafe impl Sync for MbufPool {}

impl MbufPool {
    /// On the NUMA node `socket`; any, where it is negative.
    pub(crate) fn make(device: &str, mbufs: u32, socket: i32) -> Result<Self, DpdkError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("bloomrf_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let name = CString::new(name).map_err(|error| DpdkError::Text(error.to_string()))?;
        let (mark, mut code) = (Mark::now(), 0);
        let room = FRAME_BYTES_MAX as u16;
        // SAFETY: the name ends with a zero and is copied; the error may be written.
        let raw =
            unsafe { ffi::px_pool(name.as_ptr(), mbufs, room, socket.max(-1), &raw mut code) };
        if raw.is_null() {
            let (device, reason) = (device.to_owned(), Reason::of(code, mark));
            let mib = (u64::from(mbufs) * MBUF_BYTES).div_ceil(1 << 20);
            return Err(DpdkError::PoolMemory { device, mbufs, mib, reason });
        }
        Ok(MbufPool { raw })
    }

    pub(crate) fn raw(&self) -> *mut ffi::Pool {
        self.raw
    }

    /// Mbufs that are neither in the pool nor in a thread's cache.
    pub(crate) fn in_use(&self) -> u32 {
        // SAFETY: it is ours and has not been freed.
        unsafe { ffi::px_pool_in_use(self.raw) }
    }
}

impl Drop for MbufPool {
    fn drop(&mut self) {
        // Somebody may still write into one that is out: then the memory is given up instead.
        if self.in_use() == 0 {
            // SAFETY: it is ours, nobody else has it any more, and all its mbufs are back.
            unsafe { ffi::px_pool_free(self.raw) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_large_enough_for_its_port_or_refused() {
        let least = least(2, 1_024, 1, 512);
        assert_eq!(least, 2 * (1_024 + 64 + 384) + 512 + 384);
        assert_eq!(size("d", None, least), Ok(8_191));
        assert_eq!(size("d", None, 9_000), Ok(16_383));
        assert_eq!(size("d", Some(least), least), Ok(least));
        let error = size("d", Some(1_000), least).unwrap_err().to_string();
        assert!(error.contains("a pool of 1000 mbufs is too small"), "{error}");
        assert!(error.contains("hold up to 3840"), "{error}");
    }
}
