//! Asking the filter node: of these batches, which cannot match? Any doubt reads everything.
//!
//! One question is one datagram each way, or one message over TCP when it does not fit (or when
//! asked so). The budget is kept here as well: an answer that is late is no answer.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use bloomrf_engine::controller::{Consultation, Mode, Unusable, check_reply};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX_IPV6, LOOKUP_BYTES_MAX};
use bloomrf_engine::wire::lookup::LookupRequest;

/// How to ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// UDP where question and reply fit a datagram, else TCP.
    #[default]
    Auto,
    /// TCP always.
    Tcp,
}

/// The asking side of an SCC.
#[derive(Clone, Copy, Debug)]
pub struct Consult {
    /// `FERMIHDI_BLOOMRF_MODE`.
    pub mode: Mode,
    /// `FERMIHDI_BLOOMRF_TIMEOUT_MS`.
    pub timeout: Duration,
    /// The node's lookup address.
    pub node: SocketAddr,
    /// How to ask.
    pub via: Via,
}

/// What to do with the batches of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPlan {
    /// Batches to read, in the order asked.
    pub read: Vec<BatchId>,
    /// Batches not read (mode active).
    pub excluded: Vec<BatchId>,
    /// Batches that would not be read (mode passive).
    pub would_exclude: Vec<BatchId>,
    /// The node's answer, where it was usable.
    pub answer: Option<Consultation>,
    /// Why it was not.
    pub doubt: Option<Unusable>,
    /// Time from question to answer, as the asker saw it.
    pub took: Duration,
}

impl Consult {
    /// Asks, and says what to read.
    #[must_use]
    pub fn plan(&self, request: &LookupRequest) -> ReadPlan {
        let asked: Vec<BatchId> = request.candidates.iter().collect();
        let mut plan = ReadPlan {
            read: asked,
            excluded: Vec::new(),
            would_exclude: Vec::new(),
            answer: None,
            doubt: None,
            took: Duration::ZERO,
        };
        if self.mode == Mode::Off {
            return plan;
        }
        let started = Instant::now();
        let answer = ask(request, self.node, self.via, self.timeout);
        plan.took = started.elapsed();
        match answer {
            Err(doubt) => plan.doubt = Some(doubt),
            Ok(answer) => {
                if self.mode == Mode::Active {
                    let excluded: std::collections::HashSet<BatchId> =
                        answer.excluded.iter().copied().collect();
                    plan.read.retain(|b| !excluded.contains(b));
                    plan.excluded.clone_from(&answer.excluded);
                } else {
                    plan.would_exclude.clone_from(&answer.excluded);
                }
                plan.answer = Some(answer);
            }
        }
        plan
    }
}

/// Asks one question and checks the reply. A node that cannot be reached is a `Timeout`.
pub fn ask(
    request: &LookupRequest,
    node: SocketAddr,
    via: Via,
    timeout: Duration,
) -> Result<Consultation, Unusable> {
    let deadline = Instant::now() + timeout;
    let datagram_max = if node.is_ipv4() { DATAGRAM_BYTES_MAX } else { DATAGRAM_BYTES_MAX_IPV6 };
    let mut message = Vec::new();
    if via == Via::Auto {
        request.encode(&mut message, true);
        if message.len() <= datagram_max {
            return ask_udp(request, &message, node, deadline);
        }
        message.clear();
    }
    request.encode(&mut message, false);
    if message.len() > LOOKUP_BYTES_MAX {
        return Err(Unusable::Malformed);
    }
    let reply = exchange_tcp(&message, node, deadline).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Unusable::Malformed,
        _ => Unusable::Timeout,
    })?;
    check_reply(request, &reply)
}

fn ask_udp(
    request: &LookupRequest,
    message: &[u8],
    node: SocketAddr,
    deadline: Instant,
) -> Result<Consultation, Unusable> {
    let lost = |_| Unusable::Timeout;
    let any: SocketAddr = match node {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).map_err(lost)?;
    socket.connect(node).map_err(lost)?;
    socket.send(message).map_err(lost)?;
    let mut reply = [0; 65_535];
    loop {
        socket.set_read_timeout(Some(left(deadline).map_err(lost)?)).map_err(lost)?;
        let count = socket.recv(&mut reply).map_err(lost)?;
        match check_reply(request, &reply[..count]) {
            // A late answer to an earlier question on the same port; ours may still come.
            Err(Unusable::OtherQuestion) => {}
            answer => return answer,
        }
    }
}

fn exchange_tcp(message: &[u8], node: SocketAddr, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&node, left(deadline)?)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(left(deadline)?))?;
    let mut framed = Vec::with_capacity(4 + message.len());
    framed.extend_from_slice(&(message.len() as u32).to_le_bytes());
    framed.extend_from_slice(message);
    stream.write_all(&framed)?;
    let mut length = [0; 4];
    read_by(&mut stream, &mut length, deadline)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LOOKUP_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "reply too long"));
    }
    let mut reply = vec![0; length];
    read_by(&mut stream, &mut reply, deadline)?;
    Ok(reply)
}

/// Fills `buffer` before `deadline`, however slowly the bytes trickle in.
fn read_by(stream: &mut TcpStream, buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(&mut buffer[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(())
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// `FERMIHDI_BLOOMRF_MODE` (off, passive, active), or `default` where it is not set.
pub fn mode_from_env(default: Mode) -> Result<Mode, String> {
    match std::env::var("FERMIHDI_BLOOMRF_MODE") {
        Err(_) => Ok(default),
        Ok(text) => text.parse().map_err(|error| format!("FERMIHDI_BLOOMRF_MODE: {error}")),
    }
}

/// `FERMIHDI_BLOOMRF_TIMEOUT_MS`, or 10 ms where it is not set.
pub fn timeout_from_env() -> Result<Duration, String> {
    match std::env::var("FERMIHDI_BLOOMRF_TIMEOUT_MS") {
        Err(_) => Ok(TIMEOUT_DEFAULT),
        Ok(text) => match text.parse::<u32>() {
            Ok(ms @ 1..=60_000) => Ok(Duration::from_millis(u64::from(ms))),
            _ => Err(format!(
                "FERMIHDI_BLOOMRF_TIMEOUT_MS = {text:?}: expected milliseconds, 1 to 60000"
            )),
        },
    }
}

/// The budget of a lookup, from question to answer.
const TIMEOUT_DEFAULT: Duration = Duration::from_millis(10);
