//! A tiny SCC: welcomes the node, judges each batch by the hash that the test says is right.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::frame::Frame;
use bloomrf_engine::wire::stream::{Missing, StreamDecoder, StreamMessage, VERSION, Verdict};

#[derive(Debug, Default)]
pub(crate) struct SccState {
    /// Hash of each batch that the SCC holds.
    pub(crate) right: HashMap<BatchId, BatchHash>,
    /// Reports heard, in order.
    pub(crate) seen: Vec<(BatchId, u64, BatchHash)>,
    /// Names of nodes that said hello.
    pub(crate) hellos: Vec<String>,
    /// Do not judge for now.
    pub(crate) silent: bool,
    /// Messages to send.
    pub(crate) outbox: Vec<StreamMessage>,
    /// Frames with their lanes that it sends again, of each batch that it keeps.
    pub(crate) kept: HashMap<BatchId, Vec<(u8, Vec<u8>)>>,
    /// Says that it sends frames again.
    pub(crate) repairs: bool,
    /// What it was asked for.
    pub(crate) asked: Vec<Missing>,
    /// Knows no version but the first, and hangs up on others.
    pub(crate) is_old: bool,
    /// Close the connection once.
    pub(crate) hang_up: bool,
}

pub(crate) struct Scc {
    pub(crate) address: SocketAddr,
    pub(crate) state: Arc<Mutex<SccState>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scc {
    pub(crate) fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap()).unwrap()
    }

    /// `None` where the port is taken.
    pub(crate) fn start_at(address: SocketAddr) -> Option<Self> {
        let listener = TcpListener::bind(address).ok()?;
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (state, stop) = (Arc::<Mutex<SccState>>::default(), Arc::<AtomicBool>::default());
        let (inner, ends) = (Arc::clone(&state), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !ends.load(Ordering::Acquire) {
                match listener.accept() {
                    Ok((stream, _)) => serve(stream, &inner, &ends),
                    Err(_) => std::thread::sleep(Duration::from_millis(2)),
                }
            }
        });
        Some(Scc { address, state, stop, thread: Some(thread) })
    }

    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut SccState) -> T) -> T {
        f(&mut self.state.lock().unwrap())
    }
}

impl Drop for Scc {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<SccState>, stop: &AtomicBool) {
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
    let mut decoder = StreamDecoder::default();
    let mut buffer = [0; 4_096];
    while !stop.load(Ordering::Acquire) {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => decoder.push(&buffer[..length]),
            Err(_) => {}
        }
        let mut out = Vec::new();
        let mut state = state.lock().unwrap();
        if std::mem::take(&mut state.hang_up) {
            return;
        }
        while let Some(message) = decoder.next_message().unwrap() {
            let version = |m: &StreamMessage| matches!(m, StreamMessage::Hello { version: 2, .. });
            if state.is_old && version(&message) {
                return;
            }
            for reply in state.judge(message) {
                reply.encode(&mut out);
            }
        }
        for message in state.outbox.drain(..) {
            message.encode(&mut out);
        }
        drop(state);
        if stream.write_all(&out).is_err() {
            return;
        }
    }
}

impl SccState {
    fn judge(&mut self, message: StreamMessage) -> Vec<StreamMessage> {
        match message {
            StreamMessage::Hello { node, version, .. } => {
                self.hellos.push(node);
                let repairs = (version == VERSION).then_some(self.repairs);
                vec![StreamMessage::Welcome { hash: HashAlgorithm::Xxh3, repairs }]
            }
            StreamMessage::Seen { batch, records, hash } => {
                self.seen.push((batch, records, hash));
                if self.silent {
                    return vec![];
                }
                let verdict = match self.right.get(&batch) {
                    Some(right) if *right == hash => Verdict::Verified,
                    Some(_) => Verdict::Mismatch,
                    None => Verdict::Unknown,
                };
                vec![StreamMessage::Verdict { batch, verdict, hash }]
            }
            StreamMessage::Missing(missing) => self.repair(missing),
            other => panic!("a node does not send {other:?}"),
        }
    }

    fn repair(&mut self, missing: Missing) -> Vec<StreamMessage> {
        assert!(!self.is_old, "asked for what it does not know");
        let record_bytes = Schema::packet().record_bytes();
        let wanted = |bytes: &[u8]| match Frame::parse(bytes, record_bytes).unwrap() {
            Frame::Close { header, .. } => missing.close && header.lane == 0,
            Frame::Data { header, .. } => missing.ranges.iter().any(|range| {
                range.lane == header.lane
                    && (range.first..range.first + range.count).contains(&header.sequence)
            }),
        };
        let kept = self.kept.get(&missing.batch).into_iter().flatten();
        let frames = kept.filter(|(_, bytes)| wanted(bytes));
        let mut out: Vec<StreamMessage> =
            frames.map(|(_, bytes)| StreamMessage::Frame { bytes: bytes.clone() }).collect();
        if (out.len() as u64) < missing.frames() + u64::from(missing.close) {
            out.push(StreamMessage::NotKept { batch: missing.batch });
        }
        self.asked.push(missing);
        out
    }
}
