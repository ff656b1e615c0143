//! Lookups over TCP on a raw port: the same framing, limits and rules as over sockets.
//!
//! Hot path: not the UDP one. Bounded in every way: seats with buffers of fixed size, few long
//! messages at a time, time (to begin a message, to finish it, to take a reply), and one question
//! per turn. Somebody always listens: where all seats are taken, a newcomer gets the seat of
//! whoever has asked nothing for longest.

use std::net::IpAddr;

use bloomrf_engine::limits::{
    CANDIDATES_MAX, LOOKUP_BYTES_MAX, LOOKUP_CONNECTIONS_MAX, LOOKUP_SHORT_BYTES,
};
use bloomrf_engine::wire::lookup::{PREFIX_BYTES, REPLY_BYTES_MIN, message_bytes};
use bloomrf_engine::wire::mac::SEAL_BYTES;
use smoltcp::iface::{SocketHandle, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};

use crate::metrics::LookupRefusal;
use crate::respond::{Answerer, IDLE_MAX, MESSAGE_MAX};
use crate::shared::Shared;

/// All seats, and what they share.
pub(super) struct Seats {
    seats: Vec<Seat>,
    lookup_port: u16,
    /// Who is looked at first in the next turn.
    first: usize,
    /// Questions so far.
    questions: u64,
    /// Connections so far.
    arrivals: u64,
    /// A short message, whole.
    message: Vec<u8>,
    /// For long messages that are being read; fewer than all are here.
    long: Vec<Vec<u8>>,
    reply: Vec<u8>,
}

/// One connection's.
struct Seat {
    handle: SocketHandle,
    phase: Phase,
    /// Ends it, unless the phase ends before, nanoseconds.
    deadline_ns: u64,
    /// Number of its last question; 0 before the first.
    asked: u64,
    /// Number of the connection.
    arrival: u64,
}

/// What a seat waits for.
#[derive(Debug)]
enum Phase {
    /// A newcomer.
    Empty,
    /// The end of the handshake.
    Handshake,
    /// The length of the next message.
    Prefix,
    /// The rest of a message of `length` bytes; a long one's bytes so far, once there is a buffer.
    Message { length: usize, long: Option<Vec<u8>> },
    /// The asker, to take the reply.
    Reply,
    /// The last segments, to be sent.
    Leaving,
}

/// What came of looking at one seat.
enum Step {
    /// It waits.
    Waits,
    /// It goes on: look again.
    Goes,
    /// It was answered: that is all for this turn.
    Answered,
}

impl Seats {
    /// Empty seats, all listening.
    pub(super) fn new(sockets: &mut SocketSet<'static>, lookup_port: u16) -> Self {
        let seats = (0..SEATS_MAX).map(|_| {
            let buffer = |bytes| SocketBuffer::new(vec![0; bytes]);
            let mut socket = Socket::new(buffer(LOOKUP_SHORT_BYTES), buffer(REPLY_ROOM));
            socket.set_nagle_enabled(false);
            socket.set_ack_delay(None);
            // Without a timeout of the stack: each phase has its deadline here.
            // The port is not 0 and the socket is new: nothing can be wrong.
            let _ = socket.listen(lookup_port);
            let handle = sockets.add(socket);
            Seat { handle, phase: Phase::Empty, deadline_ns: u64::MAX, asked: 0, arrival: 0 }
        });
        Seats {
            seats: seats.collect(),
            lookup_port,
            first: 0,
            questions: 0,
            arrivals: 0,
            message: vec![0; LOOKUP_SHORT_BYTES],
            long: (0..LONG_MESSAGES_MAX).map(|_| Vec::with_capacity(LOOKUP_BYTES_MAX)).collect(),
            reply: Vec::with_capacity(REPLY_ROOM),
        }
    }

    /// Whether a connection from there exists, or is about to.
    pub(super) fn knows(&self, sockets: &SocketSet<'static>, source: IpAddr, port: u16) -> bool {
        self.seats.iter().any(|seat| {
            let remote = sockets.get::<Socket<'_>>(seat.handle).remote_endpoint();
            remote.is_some_and(|end| end.port == port && IpAddr::from(end.addr) == source)
        })
    }

    /// Where nobody listens, ends the connection whose last question is the longest ago; among
    /// those that never asked, the oldest. True where that has happened.
    pub(super) fn make_room(&mut self, sockets: &mut SocketSet<'static>, shared: &Shared) -> bool {
        self.notice(sockets, shared.clock.now_ns());
        if self.seats.iter().any(|seat| matches!(seat.phase, Phase::Empty)) {
            return false;
        }
        // It is for the newcomer that room is made: never its own.
        let newest = self.arrivals;
        let others = self.seats.iter_mut().filter(|seat| seat.arrival != newest);
        let silent = others.min_by_key(|seat| {
            let leaves = matches!(seat.phase, Phase::Leaving);
            (!leaves, seat.asked, seat.arrival)
        });
        let Some(seat) = silent else { return false };
        if !matches!(seat.phase, Phase::Leaving) {
            shared.metrics.lookup.refused(LookupRefusal::Connection);
        }
        seat.leave(shared, &mut self.long);
        sockets.get_mut::<Socket<'_>>(seat.handle).abort();
        true
    }

    /// Who was listening and is no more has a newcomer.
    fn notice(&mut self, sockets: &SocketSet<'static>, now_ns: u64) {
        for seat in &mut self.seats {
            let listens = sockets.get::<Socket<'_>>(seat.handle).is_listening();
            match seat.phase {
                Phase::Empty if !listens => {
                    self.arrivals += 1;
                    (seat.asked, seat.arrival) = (0, self.arrivals);
                    seat.wait_for(Phase::Handshake, now_ns + MESSAGE_MAX_NS);
                }
                // Reset within the handshake.
                Phase::Handshake if listens => seat.wait_for(Phase::Empty, u64::MAX),
                _ => {}
            }
        }
    }

    /// Serves all seats, and answers one question at most; true where more may be waiting.
    pub(super) fn serve(
        &mut self,
        sockets: &mut SocketSet<'static>,
        answerer: &mut Answerer,
        shared: &Shared,
        now_ns: u64,
    ) -> bool {
        self.notice(sockets, now_ns);
        let count = self.seats.len();
        for at in 0..count {
            let index = (self.first + at) % count;
            while let Some(seat) = self.seats.get(index) {
                let socket = sockets.get_mut::<Socket<'_>>(seat.handle);
                match self.step(index, socket, answerer, shared, now_ns) {
                    Ok(Step::Waits) => break,
                    Ok(Step::Goes) => {}
                    Ok(Step::Answered) => {
                        // Another connection's turn, however fast this one asks.
                        self.first = index + 1;
                        return true;
                    }
                    Err(refusal) => {
                        shared.metrics.lookup.refused(refusal);
                        socket.abort();
                        if let Some(seat) = self.seats.get_mut(index) {
                            seat.leave(shared, &mut self.long);
                        }
                        break;
                    }
                }
            }
        }
        false
    }

    fn step(
        &mut self,
        index: usize,
        socket: &mut Socket<'static>,
        answerer: &mut Answerer,
        shared: &Shared,
        now_ns: u64,
    ) -> Result<Step, LookupRefusal> {
        let Some(seat) = self.seats.get_mut(index) else { return Ok(Step::Waits) };
        if matches!(seat.phase, Phase::Empty) {
            return Ok(Step::Waits);
        }
        if now_ns >= seat.deadline_ns {
            if matches!(seat.phase, Phase::Leaving) {
                socket.abort();
                return Ok(Step::Waits);
            }
            return Err(LookupRefusal::Connection);
        }
        if !socket.is_open() {
            // Reset by the asker, or given up by the stack.
            seat.leave(shared, &mut self.long);
            return Ok(Step::Waits);
        }
        match &mut seat.phase {
            Phase::Empty | Phase::Leaving => Ok(Step::Waits),
            Phase::Handshake if socket.state() == State::SynReceived => Ok(Step::Waits),
            Phase::Handshake => {
                shared.metrics.lookup.connections.inc();
                seat.wait_for(Phase::Prefix, now_ns + IDLE_MAX_NS);
                Ok(Step::Goes)
            }
            Phase::Reply if socket.send_queue() > 0 => Ok(Step::Waits),
            Phase::Reply => {
                seat.wait_for(Phase::Prefix, now_ns + IDLE_MAX_NS);
                Ok(Step::Goes)
            }
            Phase::Prefix => {
                if socket.recv_queue() >= PREFIX_BYTES {
                    return read_prefix(seat, socket, answerer, now_ns);
                }
                if !hears(socket) {
                    socket.close();
                    seat.leave(shared, &mut self.long);
                    seat.deadline_ns = now_ns + MESSAGE_MAX_NS;
                }
                Ok(Step::Waits)
            }
            Phase::Message { length, long } => {
                let length = *length;
                if !read_message(socket, length, &mut self.message, long, &mut self.long) {
                    let ends = !hears(socket);
                    return if ends { Err(LookupRefusal::Connection) } else { Ok(Step::Waits) };
                }
                let message = match long {
                    Some(long) => long.as_slice(),
                    None => self.message.get(..length).unwrap_or_default(),
                };
                answerer.message(message, &mut self.reply)?;
                self.questions += 1;
                seat.asked = self.questions;
                let reply = Phase::Reply;
                give_back(std::mem::replace(&mut seat.phase, reply), &mut self.long);
                seat.deadline_ns = now_ns + MESSAGE_MAX_NS;
                send(socket, &self.reply)?;
                Ok(Step::Answered)
            }
        }
    }

    /// Has seats whose last segments are out listen again.
    pub(super) fn listen(&mut self, sockets: &mut SocketSet<'static>) {
        for seat in &mut self.seats {
            let socket = sockets.get_mut::<Socket<'_>>(seat.handle);
            if matches!(seat.phase, Phase::Leaving) && !socket.is_open() {
                // The port is not 0 and the socket is closed: nothing can be wrong.
                let _ = socket.listen(self.lookup_port);
                seat.wait_for(Phase::Empty, u64::MAX);
            }
        }
    }

    /// The earliest deadline of all, nanoseconds.
    pub(super) fn deadline_ns(&self) -> u64 {
        self.seats.iter().map(|seat| seat.deadline_ns).min().unwrap_or(u64::MAX)
    }

    /// All connections are gone.
    pub(super) fn end(&mut self, shared: &Shared) {
        for seat in &mut self.seats {
            seat.leave(shared, &mut self.long);
        }
    }
}

impl Seat {
    fn wait_for(&mut self, phase: Phase, deadline_ns: u64) {
        (self.phase, self.deadline_ns) = (phase, deadline_ns);
    }

    /// The connection counts no more; a buffer for a long message goes back.
    fn leave(&mut self, shared: &Shared, long: &mut Vec<Vec<u8>>) {
        if matches!(self.phase, Phase::Prefix | Phase::Message { .. } | Phase::Reply) {
            shared.metrics.lookup.connections.dec();
        }
        give_back(std::mem::replace(&mut self.phase, Phase::Leaving), long);
        self.deadline_ns = u64::MAX;
    }
}

/// Whether the asker may still say something.
fn hears(socket: &Socket<'static>) -> bool {
    matches!(socket.state(), State::Established | State::FinWait1 | State::FinWait2)
}

fn give_back(phase: Phase, buffers: &mut Vec<Vec<u8>>) {
    if let Phase::Message { long: Some(mut buffer), .. } = phase {
        buffer.clear();
        buffers.push(buffer);
    }
}

/// Reads the length of a message; the question is charged to its asker's network.
fn read_prefix(
    seat: &mut Seat,
    socket: &mut Socket<'static>,
    answerer: &mut Answerer,
    now_ns: u64,
) -> Result<Step, LookupRefusal> {
    let source = socket.remote_endpoint().ok_or(LookupRefusal::Internal)?;
    answerer.admit(source.addr.into())?;
    let mut prefix = [0; PREFIX_BYTES];
    let _ = socket.recv_slice(&mut prefix);
    let length = message_bytes(prefix).map_err(LookupRefusal::Malformed)?;
    seat.wait_for(Phase::Message { length, long: None }, now_ns + MESSAGE_MAX_NS);
    Ok(Step::Goes)
}

/// Reads what is there of a message; true once it is whole: in `short`, or in `long` where it is
/// long and there was a buffer for it.
fn read_message(
    socket: &mut Socket<'static>,
    length: usize,
    short: &mut [u8],
    long: &mut Option<Vec<u8>>,
    buffers: &mut Vec<Vec<u8>>,
) -> bool {
    if length <= LOOKUP_SHORT_BYTES {
        let Some(message) = short.get_mut(..length) else { return false };
        return socket.recv_queue() >= length && socket.recv_slice(message) == Ok(length);
    }
    if long.is_none() {
        *long = buffers.pop();
    }
    let Some(message) = long else { return false };
    // At most what the ring holds, in two pieces.
    for _ in 0..2 {
        let wanted = length - message.len();
        let _ = socket.recv(|bytes| {
            let taken = bytes.get(..wanted).unwrap_or(bytes);
            message.extend_from_slice(taken);
            (taken.len(), ())
        });
    }
    message.len() == length
}

/// Hands the reply to the socket, which has room: its last reply was taken.
fn send(socket: &mut Socket<'static>, reply: &[u8]) -> Result<(), LookupRefusal> {
    let prefix = u32::try_from(reply.len()).unwrap_or(0).to_le_bytes();
    let sent = [prefix.as_slice(), reply].map(|part| socket.send_slice(part) == Ok(part.len()));
    // An asker who has closed meanwhile takes no reply.
    if sent == [true; 2] { Ok(()) } else { Err(LookupRefusal::Connection) }
}

/// One more than the connections that there may be: somebody always listens.
const SEATS_MAX: usize = LOOKUP_CONNECTIONS_MAX + 1;
/// Messages above `LOOKUP_SHORT_BYTES` that are being read at once.
const LONG_MESSAGES_MAX: usize = 2;
/// Room for the longest reply: to be handed over whole.
const REPLY_ROOM: usize = 17 << 10;
const IDLE_MAX_NS: u64 = IDLE_MAX.as_nanos() as u64;
const MESSAGE_MAX_NS: u64 = MESSAGE_MAX.as_nanos() as u64;

const _: () =
    assert!(PREFIX_BYTES + REPLY_BYTES_MIN + CANDIDATES_MAX.div_ceil(8) + SEAL_BYTES <= REPLY_ROOM);
