//! The ring of blocks that one packet socket shares with the kernel.
//!
//! Hot path: no allocation, no lock, no syscall; one atomic load to see a block, one store to give
//! it back.
//!
//! An island of unsafe code. Who owns a block is said by a word in its head: the kernel sets it to
//! "user" when it has filled the block, and leaves the block alone until we set it back. So:
//! 1. every place is inside the mapping: there are `blocks` blocks of `block_bytes`, the index is
//!    below `blocks`, and no length that the kernel wrote is used before it was compared;
//! 2. bytes of a block are shown only between "user" seen (acquire) and our giving it back
//!    (release), and by a borrow of the ring that ends before: giving back takes `&mut self`;
//! 3. the word itself is outside of what is shown, and only ever touched as an atomic.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;

use super::block::{BlockHead, HEAD_BYTES};

/// A mapped ring. Unmapped on drop.
#[derive(Debug)]
pub(super) struct Ring {
    start: NonNull<u8>,
    block_bytes: usize,
    blocks: usize,
    /// The block looked at.
    index: usize,
    /// Bytes of it in use, while it is ours; 0: it is not.
    held_bytes: usize,
}

// SAFETY: the mapping belongs to the ring alone, is reached through it only, and is bound to no
// thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring that was asked for on this socket.
    pub(super) fn map(socket: impl AsFd, block_bytes: usize, blocks: usize) -> Result<Self, Errno> {
        assert!(block_bytes > HEAD_BYTES && block_bytes.is_multiple_of(8) && blocks > 0);
        let bytes = block_bytes.checked_mul(blocks).ok_or(Errno::NOMEM)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        let fd = socket.as_fd().as_raw_fd();
        // SAFETY: a new mapping at a place of the kernel's choice; it replaces nothing.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            let error = std::io::Error::last_os_error();
            return Err(Errno::from_io_error(&error).unwrap_or(Errno::NOMEM));
        }
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(Ring { start, block_bytes, blocks, index: 0, held_bytes: 0 })
    }

    /// Whether the next block has been handed over.
    pub(super) fn is_ready(&self) -> bool {
        self.status().load(Ordering::Acquire) & USER != 0
    }

    /// Takes the next block where the kernel has handed it over.
    pub(super) fn take(&mut self) -> Option<BlockHead> {
        if self.held_bytes != 0 || !self.is_ready() {
            return None;
        }
        let [frames, first, bytes] = [12, 16, 20].map(|at| {
            // SAFETY: the place is in the block's head, which lies inside the mapping and begins
            // at a multiple of eight; the block is ours, so nobody writes it.
            unsafe { self.block().add(at).cast::<u32>().read() }
        });
        // Even of a head that lies nothing is seen beyond the block.
        self.held_bytes = (bytes as usize).clamp(HEAD_BYTES, self.block_bytes);
        Some(BlockHead { frames, first, bytes })
    }

    /// The block taken, without its head; nothing where none is.
    pub(super) fn body(&mut self) -> &mut [u8] {
        let Some(length) = self.held_bytes.checked_sub(HEAD_BYTES) else { return &mut [] };
        // SAFETY: 1. head and length together are at most `block_bytes`, by `take`, so it lies
        //            inside the mapping, which outlives the borrow of the ring;
        //         2. the block is ours since `take`, and `release`, which ends that, takes
        //            `&mut self`: nobody else reads or writes these bytes meanwhile;
        //         3. bytes that the kernel mapped have values.
        unsafe { std::slice::from_raw_parts_mut(self.block().add(HEAD_BYTES).as_ptr(), length) }
    }

    /// Gives the block back, where one was taken, and goes on to the next.
    pub(super) fn release(&mut self) {
        if self.held_bytes == 0 {
            return;
        }
        self.held_bytes = 0;
        self.status().store(KERNEL, Ordering::Release);
        self.index = (self.index + 1) % self.blocks;
    }

    fn block(&self) -> NonNull<u8> {
        // SAFETY: the index is below `blocks`, so the block lies inside the mapping.
        unsafe { self.start.add(self.index * self.block_bytes) }
    }

    /// The word that says whose the block is.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: 1. it lies in the block's head, inside the mapping, at a multiple of four;
        //         2. neither side ever touches it otherwise than as a whole word.
        unsafe { AtomicU32::from_ptr(self.block().add(STATUS_AT).cast().as_ptr()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped; no borrow of it is left, as the ring itself goes.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.block_bytes * self.blocks) };
    }
}

const STATUS_AT: usize = 8;
const KERNEL: u32 = 0;
const USER: u32 = 1;
