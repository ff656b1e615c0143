//! Lookups over TCP: a length of four bytes, little-endian, before each message and each reply.
//!
//! Hot path: no lock. Bounded in every way: connections, message length, memory of unfinished
//! messages, and time (to begin a message, to finish it, to take a reply). One thread, one small
//! runtime of its own, which nothing else can delay. Where all seats are taken, a newcomer gets
//! the seat of whoever has asked nothing for longest: silence keeps nobody out.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bloomrf_engine::limits::{
    LOOKUP_CONNECTIONS_MAX, LOOKUP_LONG_MESSAGES_MAX, LOOKUP_SHORT_BYTES,
};
use bloomrf_engine::wire::lookup::{PREFIX_BYTES, message_bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::LocalSet;
use tokio::time::timeout;

use super::answerer::Answerer;
use crate::metrics::LookupRefusal;
use crate::shared::Shared;
use crate::watch::Pulse;

/// The TCP responder thread's own.
pub(crate) struct TcpResponder {
    /// Bound and not blocking.
    pub(crate) listener: std::net::TcpListener,
    /// Of the node.
    pub(crate) shared: Arc<Shared>,
    /// Becomes true to end.
    pub(crate) stop: watch::Receiver<bool>,
}

/// What all connections of the thread share.
struct Desk {
    answerer: RefCell<Answerer>,
    shared: Arc<Shared>,
    /// Oldest first.
    seats: RefCell<Vec<Rc<Seat>>>,
    /// Questions so far.
    questions: Cell<u64>,
    long_messages: Semaphore,
}

/// One connection's.
#[derive(Default)]
struct Seat {
    /// Number of its last question; 0 before the first.
    asked: Cell<u64>,
    /// Somebody else gets the seat.
    leave: Notify,
}

impl TcpResponder {
    /// Answers until stopped.
    pub(crate) fn run(self, pulse: &Pulse) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => LocalSet::new().block_on(&runtime, async {
                tokio::select! {
                    () = self.serve() => {}
                    () = pulse.keep() => {}
                }
            }),
            Err(error) => tracing::error!(%error, "no lookups over TCP: no runtime"),
        }
    }

    async fn serve(mut self) {
        let listener = match TcpListener::from_std(self.listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "no lookups over TCP: no listener"),
        };
        let desk = Rc::new(Desk {
            answerer: RefCell::new(Answerer::new(Arc::clone(&self.shared))),
            shared: self.shared,
            seats: RefCell::new(Vec::with_capacity(LOOKUP_CONNECTIONS_MAX)),
            questions: Cell::new(0),
            long_messages: Semaphore::new(LOOKUP_LONG_MESSAGES_MAX),
        });
        loop {
            tokio::select! {
                _ = self.stop.wait_for(|stop| *stop) => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, source)) => Rc::clone(&desk).seat(stream, source.ip()),
                    // Out of file descriptors: give others time to close theirs.
                    Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
                },
            }
        }
    }
}

impl Desk {
    /// Serves a connection in a task of its own. A connection counts as a question: one that is
    /// not heard costs nobody a seat.
    fn seat(self: Rc<Self>, stream: TcpStream, source: IpAddr) {
        if let Err(refusal) = self.admit(source) {
            return self.shared.metrics.lookup.refused(refusal);
        }
        let seat = self.take_seat();
        tokio::task::spawn_local(async move {
            self.shared.metrics.lookup.connections.inc();
            let outcome = tokio::select! {
                () = seat.leave.notified() => Err(LookupRefusal::Connection),
                outcome = self.converse(stream, source, &seat) => outcome,
            };
            if let Err(refusal) = outcome {
                self.shared.metrics.lookup.refused(refusal);
            }
            self.shared.metrics.lookup.connections.dec();
        });
    }

    fn admit(&self, source: IpAddr) -> Result<(), LookupRefusal> {
        self.answerer.borrow_mut().admit(source)
    }

    /// A free seat, or that of the connection whose last question is the longest ago; among those
    /// that never asked, the oldest.
    fn take_seat(&self) -> Rc<Seat> {
        let mut seats = self.seats.borrow_mut();
        // The task of a connection that has ended holds its seat no more.
        seats.retain(|seat| Rc::strong_count(seat) > 1);
        if seats.len() == LOOKUP_CONNECTIONS_MAX
            && let Some((at, _)) = seats.iter().enumerate().min_by_key(|(_, seat)| seat.asked.get())
        {
            seats.remove(at).leave.notify_one();
        }
        let seat = Rc::new(Seat::default());
        seats.push(Rc::clone(&seat));
        seat
    }

    /// Message after message, until the asker closes, dawdles or errs.
    async fn converse(
        &self,
        mut stream: TcpStream,
        source: IpAddr,
        seat: &Seat,
    ) -> Result<(), LookupRefusal> {
        let _ = stream.set_nodelay(true);
        let (mut message, mut reply) = (Vec::new(), Vec::new());
        loop {
            let mut prefix = [0; PREFIX_BYTES];
            match timeout(IDLE_MAX, stream.read_exact(&mut prefix)).await {
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return Ok(()),
                Err(_) => return Err(LookupRefusal::Connection),
            }
            self.admit(source)?;
            let length = message_bytes(prefix).map_err(LookupRefusal::Malformed)?;
            let read = self.read_message(&mut stream, length, &mut message);
            match timeout(MESSAGE_MAX, read).await {
                Ok(Ok(())) => {}
                _ => return Err(LookupRefusal::Connection),
            }
            self.questions.set(self.questions.get() + 1);
            seat.asked.set(self.questions.get());
            self.answerer.borrow_mut().message(&message, &mut reply)?;
            let prefix = u32::try_from(reply.len()).unwrap_or(0).to_le_bytes();
            let write = async {
                stream.write_all(&prefix).await?;
                stream.write_all(&reply).await
            };
            match timeout(MESSAGE_MAX, write).await {
                Ok(Ok(())) => {}
                _ => return Err(LookupRefusal::Connection),
            }
            if message.capacity() > LOOKUP_SHORT_BYTES {
                message = Vec::new();
            }
            // Another connection's turn, however fast this one asks.
            tokio::task::yield_now().await;
        }
    }

    /// Reads `length` bytes; memory grows with what really arrives, and only few connections at a
    /// time may hold a long message.
    async fn read_message(
        &self,
        stream: &mut TcpStream,
        length: usize,
        message: &mut Vec<u8>,
    ) -> io::Result<()> {
        message.clear();
        let _permit = match length > LOOKUP_SHORT_BYTES {
            true => Some(self.long_messages.acquire().await.map_err(io::Error::other)?),
            false => None,
        };
        stream.take(length as u64).read_to_end(message).await?;
        if message.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

/// Longest silence between two messages.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(30);
/// Longest time for one whole message, and for one whole reply.
pub(crate) const MESSAGE_MAX: Duration = Duration::from_secs(2);
/// Pause after a failed accept.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
