//! Asking the filter node: of these batches, which cannot match? Any doubt reads everything.
//!
//! One question is one datagram each way, or one message over TCP when it does not fit (or when
//! asked so). The budget is kept here as well: an answer that is late is no answer.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use bloomrf_engine::controller::{
    Consultation, Mode, Question, Transport, Unusable, check_keyed_reply, check_reply,
    keyed_question, question,
};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX_IPV6};
use bloomrf_engine::wire::lookup::{LookupRequest, PREFIX_BYTES, message_bytes};
use bloomrf_engine::wire::mac::MacKey;

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
    ask_with(None, request, node, via, timeout)
}

/// The same, sealed with a key where there is one: then only a reply sealed in return counts.
pub fn ask_with(
    key: Option<&MacKey>,
    request: &LookupRequest,
    node: SocketAddr,
    via: Via,
    timeout: Duration,
) -> Result<Consultation, Unusable> {
    let deadline = Instant::now() + timeout;
    let datagram_bytes_max = match via {
        Via::Tcp => 0,
        Via::Auto if node.is_ipv4() => DATAGRAM_BYTES_MAX,
        Via::Auto => DATAGRAM_BYTES_MAX_IPV6,
    };
    let Some(key) = key else {
        let question = question(request, datagram_bytes_max).map_err(|_| Unusable::Question)?;
        return exchange(&question, node, deadline, |reply| check_reply(request, reply));
    };
    let (question, seal) =
        keyed_question(request, datagram_bytes_max, key).map_err(|_| Unusable::Question)?;
    exchange(&question, node, deadline, |reply| check_keyed_reply(request, reply, key, seal))
}

type Checked = Result<Consultation, Unusable>;

fn exchange(
    question: &Question,
    node: SocketAddr,
    deadline: Instant,
    check: impl Fn(&[u8]) -> Checked,
) -> Checked {
    match question.transport {
        Transport::Datagram => ask_udp(&question.bytes, node, deadline, check),
        Transport::Stream => {
            let reply = exchange_tcp(&question.bytes, node, deadline);
            check(&reply.map_err(|e| match e.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Unusable::Malformed,
                _ => Unusable::Timeout,
            })?)
        }
    }
}

fn ask_udp(
    message: &[u8],
    node: SocketAddr,
    deadline: Instant,
    check: impl Fn(&[u8]) -> Checked,
) -> Checked {
    let lost = |_| Unusable::Timeout;
    let any: SocketAddr = match node {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).map_err(lost)?;
    socket.connect(node).map_err(lost)?;
    socket.send(message).map_err(lost)?;
    let mut reply = [0; 65_535];
    let mut doubt = Unusable::Timeout;
    loop {
        let left = left(deadline).map_err(|_| doubt)?;
        socket.set_read_timeout(Some(left)).map_err(lost)?;
        let count = socket.recv(&mut reply).map_err(|_| doubt)?;
        match check(&reply[..count]) {
            // A late answer to an earlier question on the same port; ours may still come.
            Err(Unusable::OtherQuestion) => {}
            // Nobody can tell that from a forged one, which must not keep the true one out.
            Err(Unusable::Forged) => doubt = Unusable::Forged,
            answer => return answer,
        }
    }
}

/// Sends `question`, which begins with its length, and reads the reply without its own.
fn exchange_tcp(question: &[u8], node: SocketAddr, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&node, left(deadline)?)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(left(deadline)?))?;
    stream.write_all(question)?;
    let mut prefix = [0; PREFIX_BYTES];
    read_by(&mut stream, &mut prefix, deadline)?;
    let length = message_bytes(prefix).map_err(|_| io::ErrorKind::InvalidData)?;
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
    let name = "FERMIHDI_BLOOMRF_MODE";
    let read = |text: String| text.parse().map_err(|error| format!("{name}: {error}"));
    variable(name)?.map_or(Ok(default), read)
}

/// `FERMIHDI_BLOOMRF_TIMEOUT_MS`, or 10 ms where it is not set.
pub fn timeout_from_env() -> Result<Duration, String> {
    let name = "FERMIHDI_BLOOMRF_TIMEOUT_MS";
    let read = |text: String| match text.parse::<u32>() {
        Ok(ms @ 1..=60_000) => Ok(Duration::from_millis(u64::from(ms))),
        _ => Err(format!("{name} = {text:?}: expected milliseconds, 1 to 60000")),
    };
    variable(name)?.map_or(Ok(TIMEOUT_DEFAULT), read)
}

/// `None` where it is not set. One that is set and no text must not pass for one that is not.
fn variable(name: &str) -> Result<Option<String>, String> {
    let utf8 = |text: OsString| text.into_string().map_err(|_| format!("{name}: expected UTF-8"));
    std::env::var_os(name).map(utf8).transpose()
}

/// The budget of a lookup, from question to answer.
const TIMEOUT_DEFAULT: Duration = Duration::from_millis(10);
