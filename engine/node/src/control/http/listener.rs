//! A listener that bounds what strangers can hold: number of connections, and the life of each.
//!
//! Where all seats are taken, a newcomer gets the seat of the oldest connection: clients that
//! dawdle must not keep a health check out.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

/// At most [`CONNECTIONS_MAX`] connections, each for at most [`LIFE_MAX`].
pub(super) struct Bounded {
    listener: TcpListener,
    /// Oldest first. A closed channel is a seat that was left.
    seats: VecDeque<oneshot::Sender<()>>,
}

/// One connection in its seat.
pub(super) struct Seated {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    displaced: oneshot::Receiver<()>,
    over: bool,
}

impl Bounded {
    /// Takes a bound listener that does not block.
    pub(super) fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        let listener = TcpListener::from_std(listener)?;
        Ok(Bounded { listener, seats: VecDeque::with_capacity(CONNECTIONS_MAX) })
    }

    fn seat(&mut self, stream: TcpStream) -> Seated {
        self.seats.retain(|seat| !seat.is_closed());
        if self.seats.len() == CONNECTIONS_MAX
            && let Some(oldest) = self.seats.pop_front()
        {
            // Fails where it has just left by itself.
            let _ = oldest.send(());
        }
        let (seat, displaced) = oneshot::channel();
        self.seats.push_back(seat);
        Seated { stream, end: Box::pin(sleep(LIFE_MAX)), displaced, over: false }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Seated;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Seated, SocketAddr) {
        loop {
            if let Ok((stream, peer)) = self.listener.accept().await {
                return (self.seat(stream), peer);
            }
            // Out of file descriptors: give others time to close theirs.
            sleep(ACCEPT_RETRY).await;
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Seated {
    /// Its life is over, or its seat was given to another; the waker hears of both.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        self.over = self.over
            || self.end.as_mut().poll(context).is_ready()
            || Pin::new(&mut self.displaced).poll(context).is_ready();
        self.over
    }
}

impl AsyncRead for Seated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_over(context) {
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
        if self.is_over(context) {
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

/// Connections open at once.
const CONNECTIONS_MAX: usize = 64;
/// Longest life of a connection, busy or idle; a scraper opens a new one.
const LIFE_MAX: Duration = Duration::from_secs(60);
/// Pause after a failed accept.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
