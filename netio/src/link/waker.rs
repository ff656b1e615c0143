//! A handle that ends a link's `wait` from another thread.
//!
//! Hot path: not on it; a wake is one write of one byte, and only where somebody may sleep. A wake
//! before the `wait` is not lost: that `wait` returns at once.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

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

    /// Sleeps until a wake comes, or `timeout` is over.
    pub(super) fn wait(&self, timeout: Duration) -> io::Result<()> {
        let mut sources = [PollFd::new(self, PollFlags::IN)];
        match rustix::event::poll(&mut sources, Some(&timespec(timeout))) {
            Ok(0) | Err(Errno::INTR) => Ok(()),
            Ok(_) => {
                self.drain();
                Ok(())
            }
            Err(errno) => Err(errno.into()),
        }
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

/// A year is as good as for ever, and fits every system's field.
pub(super) fn timespec(timeout: Duration) -> Timespec {
    let timeout = timeout.min(Duration::from_secs(365 * 86_400));
    Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() }
}
