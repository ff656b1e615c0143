//! Queues of a port: a burst in, a frame out.
//!
//! Hot path: one call per burst, no allocation, no copy of received frames.
#![allow(unsafe_code)]

use std::slice;
use std::sync::Arc;

use crate::error::{DpdkError, Reason};
use crate::ffi::{self, RawFrame, Rxq};
use crate::lcore::Lcore;
use crate::log::Mark;
use crate::pool::FRAME_BYTES_MAX;
use crate::port::PortInner;

/// Frames of one burst at most.
pub const BURST: usize = ffi::BURST;

/// A received frame, in its mbuf. Only ever seen through the burst that it came in.
#[repr(transparent)]
pub struct Frame {
    raw: RawFrame,
}

impl Frame {
    /// Its first segment: all of it, unless it is segmented.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        if self.raw.length == 0 {
            return &[];
        }
        // SAFETY: 1. the shim wrote a segment's beginning and length; 2. the mbuf is the queue's
        // until its next call, which needs the queue that this borrows; 3. nobody writes to it.
        unsafe { slice::from_raw_parts(self.raw.bytes, self.raw.length.into()) }
    }

    /// Whether it did not fit one mbuf.
    #[must_use]
    pub fn is_segmented(&self) -> bool {
        self.raw.segments != 1
    }

    /// Bytes of all segments.
    #[must_use]
    pub fn frame_bytes(&self) -> u32 {
        self.raw.frame_bytes
    }
}

/// A receive queue. It moves into the thread that polls it.
pub struct RxQueue {
    rxq: *mut Rxq,
    frames: Box<[Frame; BURST]>,
    inner: Arc<PortInner>,
    queue: u16,
}

// SAFETY: what it points to is its own alone, and DPDK does not care which thread polls a queue, as
// long as it is one at a time: receiving needs `&mut`.
unsafe impl Send for RxQueue {}

impl RxQueue {
    pub(crate) fn make(inner: &Arc<PortInner>, queue: u16) -> Result<Self, DpdkError> {
        let mark = Mark::now();
        let (port, pool, socket) = (inner.number(), inner.pool().raw(), inner.socket().max(-1));
        // SAFETY: the port is started, has this queue, and receives into this pool.
        let rxq = unsafe { ffi::px_rxq(port, queue, pool, socket) };
        if rxq.is_null() {
            const NO_MEMORY: i32 = -12;
            let (device, reason) = (format!("queue {queue}"), Reason::of(NO_MEMORY, mark));
            let (driver, step) = (String::new(), "no memory for its mbufs' list");
            return Err(DpdkError::Port { device, driver, step, reason });
        }
        let empty = |_| RawFrame {
            mbuf: std::ptr::null_mut(),
            bytes: std::ptr::null(),
            frame_bytes: 0,
            length: 0,
            segments: 1,
        };
        let frames = Box::new(std::array::from_fn(|i| Frame { raw: empty(i) }));
        Ok(RxQueue { rxq, frames, inner: Arc::clone(inner), queue })
    }

    /// Registers the calling thread for polling: to be done once by each that does.
    ///
    /// # Errors
    /// See [`Lcore::current`].
    pub fn register(&self) -> Result<Lcore, DpdkError> {
        Lcore::current(self.inner.eal())
    }

    /// What has arrived, at most [`BURST`]; the last burst's mbufs go back to their pool.
    #[inline]
    pub fn burst(&mut self) -> &[Frame] {
        // SAFETY: 1. the queue is open, and ours alone; 2. there is room for a whole burst; 3. no
        // frame of the last burst is borrowed any more, since we are.
        let count = unsafe { ffi::px_rx(self.rxq, self.frames.as_mut_ptr().cast()) };
        self.frames.get(..usize::from(count)).unwrap_or_default()
    }

    /// Its number.
    #[must_use]
    pub fn queue(&self) -> u16 {
        self.queue
    }
}

impl Drop for RxQueue {
    fn drop(&mut self) {
        // SAFETY: it is ours alone; the port is still open, as our handle of it is dropped later;
        // mbufs that it holds go back to the pool.
        unsafe { ffi::px_rxq_free(self.rxq) }
    }
}

impl std::fmt::Debug for RxQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RxQueue").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// The sending queue of a port.
#[derive(Debug)]
pub struct TxQueue {
    inner: Arc<PortInner>,
}

impl TxQueue {
    pub(crate) fn make(inner: &Arc<PortInner>) -> Self {
        TxQueue { inner: Arc::clone(inner) }
    }

    /// Registers the calling thread for sending: to be done once by each that does.
    ///
    /// # Errors
    /// See [`Lcore::current`].
    pub fn register(&self) -> Result<Lcore, DpdkError> {
        Lcore::current(self.inner.eal())
    }

    /// Copies the frame into an mbuf and sends it; false where there is no mbuf or no descriptor.
    ///
    /// # Errors
    /// It is longer than an mbuf.
    pub fn send(&mut self, frame: &[u8]) -> Result<bool, DpdkError> {
        let too_long = DpdkError::FrameTooLong { bytes: frame.len(), most: FRAME_BYTES_MAX };
        let length = u16::try_from(frame.len()).map_err(|_| too_long.clone())?;
        let (port, pool) = (self.inner.number(), self.inner.pool().raw());
        // SAFETY: 1. the port is started and has one sending queue, which is ours alone; 2. the
        // bytes are only read, during the call; 3. the pool is the port's.
        match unsafe { ffi::px_tx(port, 0, pool, frame.as_ptr(), length) } {
            0 => Ok(false),
            sent if sent > 0 => Ok(true),
            _ => Err(too_long),
        }
    }
}
