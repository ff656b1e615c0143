//! A listener that bounds what strangers can hold: number of connections, and the life of each.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// At most [`CONNECTIONS_MAX`] connections, each for at most [`LIFE_MAX`].
pub(super) struct Bounded {
    listener: TcpListener,
    seats: Arc<Semaphore>,
}

/// One connection in its seat.
pub(super) struct Seated {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    _seat: OwnedSemaphorePermit,
}

impl Bounded {
    /// Takes a bound listener that does not block.
    pub(super) fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        let listener = TcpListener::from_std(listener)?;
        Ok(Bounded { listener, seats: Arc::new(Semaphore::new(CONNECTIONS_MAX)) })
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Seated;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Seated, SocketAddr) {
        loop {
            let seat = Arc::clone(&self.seats).acquire_owned().await;
            if let (Ok(seat), Ok((stream, peer))) = (seat, self.listener.accept().await) {
                let end = Box::pin(sleep(LIFE_MAX));
                return (Seated { stream, end, _seat: seat }, peer);
            }
            // Out of file descriptors: give others time to close theirs.
            sleep(ACCEPT_RETRY).await;
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl AsyncRead for Seated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Seated {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Connections open at once; others wait in the system's queue.
const CONNECTIONS_MAX: usize = 64;
/// Longest life of a connection, busy or idle; a scraper opens a new one.
const LIFE_MAX: Duration = Duration::from_secs(60);
/// Pause after a failed accept.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
