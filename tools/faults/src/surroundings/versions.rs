//! Peers of other versions: version bytes below ours, the next one and 255, everything else right,
//! checksum included. Refused and counted; the next right message is taken.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_engine::wire::frame;
use bloomrf_engine::wire::stream::StreamMessage;
use bloomrf_engine::wire::{lookup, stream};
use bloomrf_netio::Link;
use bloomrf_netio::link::mem::{self, MemSender};
use bloomrf_node::{Node, Surroundings};
use bloomrf_report::Report;

use super::case;
use crate::cluster::{Cluster, config, exchange, wait_for};

/// Where the version stands in frames and lookups: behind four bytes of magic.
const VERSION_AT: usize = 4;
/// Where it stands in Welcome: behind length, kind and magic.
const STREAM_VERSION_AT: usize = 9;

/// Versions that are not spoken, where `oldest` to `newest` are.
fn others(oldest: u8, newest: u8) -> impl Iterator<Item = u8> {
    (0..oldest).chain([newest + 1, u8::MAX])
}

pub(super) fn run(report: &mut Report) {
    let (sender, link) = mem::pair(4_096);
    let links: Vec<Box<dyn Link>> = vec![Box::new(link)];
    let surroundings = Surroundings { links: Some(links), ..Surroundings::default() };
    match Cluster::start(|_| {}, surroundings) {
        Ok(cluster) => {
            for version in others(frame::VERSION, frame::VERSION) {
                let outcome = frames(&cluster, &sender, version);
                case(report, &format!("frames of version {version}"), outcome);
            }
            for version in others(lookup::VERSION, lookup::VERSION) {
                let outcome = lookups(&cluster, version);
                case(report, &format!("lookups of version {version}"), outcome);
                let outcome = lookups_over_tcp(&cluster, version);
                case(report, &format!("lookups over TCP of version {version}"), outcome);
            }
        }
        Err(reason) => case(report, "a node for other versions", Err(reason)),
    }
    for version in others(stream::VERSION_OLDEST, stream::VERSION) {
        let outcome = welcome(version);
        case(report, &format!("a controller of version {version}"), outcome);
    }
}

/// All frames of a batch in another version: counted by that reason, and the batch has no filter;
/// the same batch in our version is taken.
fn frames(cluster: &Cluster, sender: &MemSender, version: u8) -> Result<(), String> {
    let batch = 100 + u64::from(version);
    let frames = cluster.batch(batch, 30);
    let refused =
        || cluster.metric("frames_refused{reason=\"version\"}").unwrap_or_default() as u64;
    let before = refused();
    for datagram in &frames.datagrams {
        let mut other = datagram.clone();
        other[VERSION_AT] = version;
        sum_frame(&mut other);
        sender.send(&other);
    }
    let all = before + frames.datagrams.len() as u64;
    wait_for("frames of another version to be counted", || refused() == all)?;
    let reply = cluster.ask(batch, &[batch]).ok_or("no answer")?;
    if reply.no_filter != 1 {
        return Err(format!("a batch of another version has a filter: {reply:?}"));
    }
    let verified = cluster.node.status().store.verified;
    frames.datagrams.iter().for_each(|datagram| {
        sender.send(datagram);
    });
    cluster.wait_verified(verified + 1)?;
    cluster.judge_answers(&[batch])
}

/// The checksum of a frame: over all of it, with its own field read as zero.
fn sum_frame(bytes: &mut [u8]) {
    let at = frame::HEADER_BYTES - 4;
    bytes[at..at + 4].fill(0);
    let sum = crc32c::crc32c(bytes);
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
}

/// The checksum of a lookup or a stream message: of all before it, at its end.
fn sum_message(bytes: &mut [u8]) {
    let at = bytes.len() - 4;
    let sum = crc32c::crc32c(&bytes[..at]);
    bytes[at..].copy_from_slice(&sum.to_le_bytes());
}

fn question(cluster: &Cluster, version: u8) -> (Vec<u8>, Vec<u8>) {
    let mut right = Vec::new();
    cluster.question(1, &[1]).encode(&mut right, true);
    let mut other = right.clone();
    other[VERSION_AT] = version;
    sum_message(&mut other);
    (right, other)
}

fn lookups_refused(cluster: &Cluster) -> u64 {
    cluster.metric("lookup_refused{reason=\"version\"}").unwrap_or_default() as u64
}

/// A question of another version gets no answer and is counted; the next one is answered.
fn lookups(cluster: &Cluster, version: u8) -> Result<(), String> {
    let (right, other) = question(cluster, version);
    let before = lookups_refused(cluster);
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let lookup = cluster.node.ports().lookup;
    socket.send_to(&other, lookup).map_err(|e| e.to_string())?;
    wait_for("the question to be counted", || lookups_refused(cluster) == before + 1)?;
    socket.set_nonblocking(true).map_err(|e| e.to_string())?;
    if socket.recv_from(&mut [0; 2_048]).is_ok() {
        return Err("it was answered".to_owned());
    }
    exchange(lookup, &right).map(|_| ()).ok_or_else(|| "the next one is not answered".to_owned())
}

fn lookups_over_tcp(cluster: &Cluster, version: u8) -> Result<(), String> {
    let (right, other) = question(cluster, version);
    let before = lookups_refused(cluster);
    if ask_tcp(cluster, &other).is_some() {
        return Err("it was answered".to_owned());
    }
    wait_for("the question to be counted", || lookups_refused(cluster) == before + 1)?;
    ask_tcp(cluster, &right).map(|_| ()).ok_or_else(|| "the next one is not answered".to_owned())
}

/// `None` where the node closes the connection.
fn ask_tcp(cluster: &Cluster, message: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(cluster.node.ports().lookup).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.write_all(&(message.len() as u32).to_le_bytes()).ok()?;
    stream.write_all(message).ok()?;
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).ok()?;
    let mut reply = vec![0; u32::from_le_bytes(prefix) as usize];
    stream.read_exact(&mut reply).ok()?;
    Some(reply)
}

/// A controller that welcomes in another version: the node takes no hash of it, counts, comes back,
/// and is content with one that speaks as it does.
fn welcome(version: u8) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let listener = TcpListener::bind("127.0.0.1:0").map_err(io)?;
    let folder = tempfile::tempdir().map_err(io)?;
    let mut config = config(folder.path());
    config.scc = Some(listener.local_addr().map_err(io)?);
    let node = Node::start(config).map_err(|e| e.to_string())?;
    let metric = |name| crate::cluster::metric(node.ports().http, name).unwrap_or_default();
    let (mut first, _) = listener.accept().map_err(io)?;
    let mut other = welcome_to(&mut first).map_err(io)?;
    other[STREAM_VERSION_AT] = version;
    sum_message(&mut other);
    first.write_all(&other).map_err(io)?;
    wait_for("the broken stream to be counted", || metric("scc_failures") as u64 == 1)?;
    if metric("scc_connected") != 0.0 {
        return Err("the node holds itself for welcomed".to_owned());
    }
    let (mut second, _) = listener.accept().map_err(io)?;
    let right = welcome_to(&mut second).map_err(io)?;
    second.write_all(&right).map_err(io)?;
    wait_for("the node to be welcomed", || metric("scc_connected") as u64 == 1)
}

/// The welcome that fits the greeting of a node: after a failure it may try an older version.
fn welcome_to(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut greeting = [0; STREAM_VERSION_AT + 1];
    stream.read_exact(&mut greeting)?;
    let repairs = (greeting[STREAM_VERSION_AT] > stream::VERSION_OLDEST).then_some(true);
    let mut right = Vec::new();
    StreamMessage::Welcome { hash: HashAlgorithm::Xxh3, repairs }.encode(&mut right);
    Ok(right)
}
