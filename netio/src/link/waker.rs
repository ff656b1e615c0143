//! A handle that ends a link's `wait` from another thread.
//!
//! Hot path: not on it; a wake is one write of one byte, and only where somebody may sleep. A wake
//! before the `wait` is not lost: that `wait` returns at once.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::mem::Shared;

/// Ends a `wait` from another thread. Cheap to clone; any number of wakes make one.
#[derive(Clone, Debug)]
pub struct Waker {
    inner: WakerKind,
}

#[derive(Clone, Debug)]
enum WakerKind {
    /// A link that sleeps in `poll`: the other end of its socket pair.
    Pair(Arc<UnixStream>),
    /// A link in memory: its condition variable.
    Memory(Arc<Shared>),
}

impl Waker {
    /// Wakes the link.
    pub fn wake(&self) {
        match &self.inner {
            // A full pair has wakes enough in it, and a closed one nobody to wake.
            WakerKind::Pair(stream) => drop((&**stream).write(&[1])),
            WakerKind::Memory(shared) => shared.wake(),
        }
    }

    pub(super) fn of_memory(shared: Arc<Shared>) -> Self {
        Waker { inner: WakerKind::Memory(shared) }
    }
}

/// The link's side of a [`Waker`]: something to poll beside the socket.
#[derive(Debug)]
pub(super) struct WakeSource {
    stream: UnixStream,
    waker: Waker,
}

impl WakeSource {
    pub(super) fn new() -> io::Result<Self> {
        let (stream, other) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        other.set_nonblocking(true)?;
        Ok(WakeSource { stream, waker: Waker { inner: WakerKind::Pair(Arc::new(other)) } })
    }

    pub(super) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Takes the wakes that have come. What one read leaves behind only makes the next `wait`
    /// return early.
    pub(super) fn drain(&self) {
        let mut wakes = [0_u8; 256];
        drop((&self.stream).read(&mut wakes));
    }
}

impl AsFd for WakeSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
