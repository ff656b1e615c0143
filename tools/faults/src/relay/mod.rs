//! Row 1: a seeded relay between sender and a real node, over real sockets.
//!
//! Checked: every datagram that was passed on is counted as ingested, refused or dropped, to the
//! unit; no batch of which a frame is missing is ever verified; of the verified ones no lookup
//! excludes what they hold; and batches that nothing happened to are verified.

mod harm;

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::wire::lookup::{LookupReply, LookupRequest};
use bloomrf_engine::wire::stream::Verdict;
use bloomrf_node::Surroundings;
use bloomrf_report::Report;

use crate::chance::Chance;
use crate::cluster::{Cluster, wait_for};
use harm::{Mix, Relay, stranger};

/// What to send.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Datagrams that reach the node.
    #[arg(long, default_value = "1e6", value_parser = bloomrf_report::count)]
    datagrams: u64,
    /// Seed of every mix and every choice.
    #[arg(long, env = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Sends, asks and counts.
pub(crate) fn run(args: &Args) -> ExitCode {
    let mut report = Report::new(1, "datagrams");
    let repeat =
        format!("bloomrf-faults relay --datagrams {} --seed {}", args.datagrams, args.seed);
    match World::start(args.seed) {
        Err(why) => report.fail(why, &repeat),
        Ok(mut world) => {
            while world.sent < args.datagrams {
                if let Err(why) = world.batch() {
                    report.fail(why, &repeat);
                    break;
                }
            }
            if let Err(why) = world.settle() {
                report.fail(why, &repeat);
            }
            world.wrong.iter().for_each(|wrong| report.fail(wrong, &repeat));
            report.add(world.sent);
            report.note(world.note());
        }
    }
    report.finish()
}

struct World {
    cluster: Cluster,
    relay: Relay,
    chance: Chance,
    /// One per lane: a flow each.
    lanes: Vec<UdpSocket>,
    asker: UdpSocket,
    batch: BatchId,
    /// Datagrams passed on to the node.
    sent: u64,
    /// Not asked about yet.
    unasked: Vec<BatchId>,
    broken: BTreeSet<BatchId>,
    /// Batches that nothing happened to, and those of them that were verified.
    harmless: u64,
    verified: u64,
    harmless_verified: u64,
    harmless_batches: BTreeSet<BatchId>,
    lookups: u64,
    wrong: Vec<String>,
}

impl World {
    fn start(seed: u64) -> Result<Self, String> {
        let change = |config: &mut bloomrf_node::Config| {
            config.queues = 2;
            (config.batch_idle_ms, config.close_grace_ms) = (2_000, 20);
        };
        let cluster = Cluster::start(change, Surroundings::default())?;
        let socket = |target| -> std::io::Result<UdpSocket> {
            let socket = UdpSocket::bind(("127.0.0.1", 0))?;
            socket.connect(target)?;
            Ok(socket)
        };
        let ports = cluster.node.ports();
        let lanes: Result<Vec<_>, _> = (0..LANES).map(|_| socket(ports.ingest)).collect();
        let asker = socket(ports.lookup).map_err(|e| e.to_string())?;
        asker.set_read_timeout(Some(Duration::from_secs(2))).map_err(|e| e.to_string())?;
        Ok(World {
            cluster,
            relay: Relay::default(),
            chance: Chance::new(seed),
            lanes: lanes.map_err(|e| e.to_string())?,
            asker,
            batch: 0,
            sent: 0,
            unasked: Vec::new(),
            broken: BTreeSet::new(),
            harmless: 0,
            verified: 0,
            harmless_verified: 0,
            harmless_batches: BTreeSet::new(),
            lookups: 0,
            wrong: Vec::new(),
        })
    }

    /// One batch on its way; after some, questions about them.
    fn batch(&mut self) -> Result<(), String> {
        self.batch += 1;
        let packets = 300 + self.chance.below(1_400);
        let frames = self.cluster.batch(self.batch, packets);
        let size = self.cluster.schema.record_bytes();
        let mix = Mix::draw(&mut self.chance);
        let mut passed = self.relay.pass(&frames.datagrams, size, mix, &mut self.chance);
        if mix.is_harmless() {
            self.harmless += 1;
            self.harmless_batches.insert(self.batch);
        } else if self.chance.below(12) == 0 {
            let like = &frames.datagrams[0];
            passed.datagrams.push(stranger(like, size, u64::MAX - self.batch));
        }
        if !passed.is_whole {
            self.broken.insert(self.batch);
        }
        for datagram in &passed.datagrams {
            self.send(datagram)?;
        }
        self.unasked.push(self.batch);
        self.wait_sealed();
        if self.unasked.len() >= ASK_EVERY {
            self.ask()?;
        }
        Ok(())
    }

    fn send(&mut self, datagram: &[u8]) -> Result<(), String> {
        let lane = match datagram.get(44) {
            // The lane says which flow; what has none left takes any.
            Some(lane) => usize::from(*lane) % self.lanes.len(),
            None => 0,
        };
        self.lanes[lane].send(datagram).map_err(|e| format!("send: {e}"))?;
        self.sent += 1;
        if self.sent.is_multiple_of(LOOK_EVERY) {
            wait_for("the node to keep up", || self.arrived() + AHEAD_MAX >= self.sent)?;
        }
        Ok(())
    }

    fn arrived(&self) -> u64 {
        let status = self.cluster.node.status();
        status.ingest.frames_in + status.dropped
    }

    /// Lets the sealer keep up: so far behind is what it is made for, and no more is tried.
    fn wait_sealed(&self) {
        let end = Instant::now() + Duration::from_millis(300);
        let done = || {
            let status = self.cluster.node.status();
            let store = status.store;
            let left = store.evicted + store.rejected;
            status.incomplete + store.verified + store.pending + left + BATCHES_AHEAD >= self.batch
        };
        while !done() && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Asks of every batch sent since the last time what only it holds, and judges its verdict.
    fn ask(&mut self) -> Result<(), String> {
        let batches = std::mem::take(&mut self.unasked);
        // All that arrived is sealed or given up: idle ones after a grace, at the latest here.
        let ledger = std::sync::Arc::clone(self.cluster.scc.ledger());
        let end = Instant::now() + Duration::from_millis(300);
        let judged = |batch: &BatchId| ledger.verdict(*batch).is_some();
        while !batches.iter().all(judged) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        for (index, &batch) in batches.iter().enumerate() {
            let verified = ledger.verdict(batch) == Some(Verdict::Verified);
            if verified && self.broken.contains(&batch) {
                self.wrong.push(format!("batch {batch} lacks a frame and is verified"));
            }
            self.verified += u64::from(verified);
            self.harmless_verified += u64::from(verified && self.harmless_batches.contains(&batch));
            let request = self.cluster.question(batch, &batches);
            let reply = self.exchange(&request)?;
            self.lookups += 1;
            if reply.is_excluded(index) {
                self.wrong.push(format!("batch {batch} holds what is asked for and is excluded"));
            }
        }
        Ok(())
    }

    fn exchange(&mut self, request: &LookupRequest) -> Result<LookupReply, String> {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 2_048]);
        request.encode(&mut bytes, true);
        for _ in 0..3 {
            self.asker.send(&bytes).map_err(|e| format!("ask: {e}"))?;
            while let Ok(length) = self.asker.recv(&mut buffer) {
                let reply = LookupReply::parse(buffer.get(..length).unwrap_or_default());
                match reply {
                    Ok(reply) if reply.query_id == request.query_id => return Ok(reply),
                    Ok(_) => {}
                    Err(error) => return Err(format!("no reply but {error:?}")),
                }
            }
        }
        Err(format!("no answer about batch {}", request.query_id))
    }

    /// The end: everything has arrived, and every datagram is somewhere.
    fn settle(&mut self) -> Result<(), String> {
        wait_for("the last datagrams", || self.arrived() >= self.sent)?;
        // Frames that come twice would show as more.
        std::thread::sleep(Duration::from_millis(200));
        let status = self.cluster.node.status();
        let (arrived, accounted) = (self.arrived(), status.ingest.accounted());
        if arrived != self.sent || accounted != status.ingest.frames_in {
            return Err(format!(
                "{} sent; {} frames in and {} dropped; {accounted} accounted for",
                self.sent, status.ingest.frames_in, status.dropped
            ));
        }
        self.ask()?;
        // Strangers and old frames push healthy batches out now and then, and a busy machine does
        // not always judge in time.
        if self.harmless_verified * 2 < self.harmless {
            let (verified, harmless) = (self.harmless_verified, self.harmless);
            return Err(format!("only {verified} of {harmless} unharmed batches were verified"));
        }
        Ok(())
    }

    fn note(&self) -> String {
        let status = self.cluster.node.status();
        let ingest = status.ingest;
        format!(
            "{} batches, {} verified, {} broken on the way; {} in = {} data + {} close + {} \
             duplicate + {} refused, {} dropped; {} lookups",
            self.batch,
            self.verified,
            self.broken.len(),
            ingest.frames_in,
            ingest.data,
            ingest.close,
            ingest.duplicate,
            ingest.refused_sum(),
            status.dropped,
            self.lookups
        )
    }
}

const LANES: usize = 2;
/// Datagrams between two looks at the node's counters.
const LOOK_EVERY: u64 = 32;
/// As far as the sender may be ahead: what a socket's buffer holds by default.
const AHEAD_MAX: u64 = 96;
/// Batches that the sealer may be behind.
const BATCHES_AHEAD: u64 = 3;
/// Batches asked about at a time.
const ASK_EVERY: usize = 48;
