//! The whole node with one ingest core: receive, parse, check, ingest, every column of the 64-byte
//! bench schema filtered. What a record costs the poll thread, and in which of its stages.
//!
//! The frames are those of one cluster: batches of 65,536 records, 22 in a frame. They come from
//! where they lie in memory (as from a card that has put them there), from a capture file, and,
//! with DPDK, from its `net_pcap`. All else that the node does is kept off the ingest core.

mod frames;
mod gate;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_bench::flows::{self, CLUSTER};
use bloomrf_engine::store::StoreStats;
use bloomrf_netio::Link;
use bloomrf_netio::link::{PortOptions, open};
use bloomrf_node::config::LinkConfig;
use bloomrf_node::{Config, Node, Surroundings};
use rustix::process::Pid;
use rustix::thread::gettid;
use tempfile::TempDir;

use crate::cores::{Cores, pin, tasks};
use crate::frames::PORT;
use crate::turn::{Count, Turn};
use frames::{BATCH_FRAMES, BATCH_RECORDS, Frames, InPlace};
use gate::{Gate, Marks};

/// Where the frames come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Memory,
    Pcap,
    #[cfg(feature = "dpdk")]
    Dpdk,
}

/// A node on one of the links.
struct Pipeline {
    source: Source,
    common: Arc<Common>,
    turns: usize,
}

/// What all of them share.
struct Common {
    frames: Arc<Frames>,
    warm: u64,
    records: u64,
    capture: PathBuf,
    folder: TempDir,
    cores: Cores,
}

/// So many batches are measured, after a few that warm the node up.
pub(crate) fn turns(cores: Cores, batches: u64) -> Result<Vec<Box<dyn Turn>>, String> {
    let schema = flows::schema();
    let folder = tempfile::tempdir().map_err(|why| format!("temporary folder: {why}"))?;
    let frames = Frames::make(&schema, WARM_BATCHES + batches);
    let capture = folder.path().join("batches.pcap");
    frames.write(&capture)?;
    let common = Arc::new(Common {
        warm: WARM_BATCHES * BATCH_FRAMES,
        records: BATCH_RECORDS as u64 * batches,
        frames: Arc::new(frames),
        capture,
        folder,
        cores,
    });
    let sources = [
        Source::Memory,
        Source::Pcap,
        #[cfg(feature = "dpdk")]
        Source::Dpdk,
    ];
    let pipeline = |source| Pipeline { source, common: Arc::clone(&common), turns: 0 };
    Ok(sources.into_iter().map(|source| Box::new(pipeline(source)) as Box<dyn Turn>).collect())
}

impl Turn for Pipeline {
    fn name(&self) -> (&str, &str) {
        let variant = match self.source {
            Source::Memory => "frames in memory",
            Source::Pcap => "pcap",
            #[cfg(feature = "dpdk")]
            Source::Dpdk => "dpdk net_pcap",
        };
        ("pipeline", variant)
    }

    /// The node pins its own thread, and all that it starts inherit what the caller may use.
    fn is_pinned(&self) -> bool {
        false
    }

    fn turn(&mut self, _: Duration) -> Result<Count, String> {
        self.turns += 1;
        let Common { frames, warm, records, .. } = &*self.common;
        let (gate, marks) = Gate::new(self.link()?);
        let node = self.start(gate)?;
        self.keep_off();
        let outcome = (|| {
            let before = pass(&node, &marks, *warm)?;
            let after = pass(&node, &marks, frames.count())?;
            let status = node.status();
            if status.ingest.records != *records + WARM_BATCHES * BATCH_RECORDS as u64 {
                return Err(format!("not every record was taken: {status:?}"));
            }
            let stages = before.1.into_iter().zip(after.1);
            let stages = stages.map(|((name, before), (_, after))| (name, after - before));
            Ok(Count {
                packets: *records,
                thread_ns: after.0 - before.0,
                stages: stages.collect(),
                ..Count::default()
            })
        })();
        node.stop();
        outcome
    }
}

/// Lets frames through up to this one, never more than some batches ahead of the sealer (which on
/// a busy machine has no core of its own); returns the poll thread's time and its ticks by stage,
/// both since the start.
fn pass(node: &Node, marks: &Marks, frames: u64) -> Result<(u64, Vec<(String, u64)>), String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let (status, (passed, thread_ns)) = (node.status(), marks.passed());
        // The poll thread publishes its numbers when it has found nothing more.
        if passed >= frames && status.frames.arrived >= frames {
            return Ok((thread_ns, stages(&metrics(node.ports().http)?)));
        }
        let StoreStats { verified, pending, rejected, evicted, .. } = status.store;
        let sealed = verified + pending + rejected + evicted + status.incomplete;
        marks.allow(frames.min((sealed + AHEAD_BATCHES) * BATCH_FRAMES));
        if Instant::now() > end {
            return Err(format!("the node does not take all frames: {status:?}"));
        }
        std::thread::sleep(NAP);
    }
}

impl Pipeline {
    fn link(&self) -> Result<Box<dyn Link>, String> {
        let capture = self.common.capture.display();
        let text = match self.source {
            Source::Memory => return Ok(Box::new(InPlace::new(&self.common.frames))),
            Source::Pcap => format!("pcap:{capture},speed=max"),
            // A device's name serves once in a process.
            #[cfg(feature = "dpdk")]
            Source::Dpdk => format!("dpdk:net_pcap{},rx_pcap={capture}", self.turns),
        };
        let options = PortOptions {
            queues: 1,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            groups: Vec::new(),
            receive_buffer: 0,
            busy_poll_us: 0,
            sends: false,
            dpdk_args: Vec::new(),
        };
        let spec = text.parse().map_err(|why| format!("{text}: {why}"))?;
        let mut port = open(&spec, &options).map_err(|why| why.to_string())?;
        port.links.pop().ok_or_else(|| format!("{text}: no queue"))
    }

    fn start(&self, gate: Gate) -> Result<Node, String> {
        let Common { cores, folder, .. } = &*self.common;
        let config = Config {
            listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
            production_port: PORT,
            lookup_port: Some(0),
            observability_port: 0,
            data_dir: folder.path().join(format!("{:?}-{}", self.source, self.turns)),
            retain_batches: 16,
            arena_bytes: 64 << 20,
            expected_records: BATCH_RECORDS as u64,
            cores: vec![cores.receiver],
            cluster: CLUSTER,
            schema: flows::schema(),
            schema_source: "flows".to_owned(),
            link: LinkConfig::default(),
            ..Config::default()
        };
        let links: Vec<Box<dyn Link>> = vec![Box::new(gate)];
        let surroundings = Surroundings { links: Some(links), ..Surroundings::default() };
        Node::start_in(config, surroundings).map_err(|why| why.to_string())
    }

    /// Moves all threads of this process but the ingest queue's and our own, which sleeps, to the
    /// other core.
    fn keep_off(&self) {
        let Some(other) = self.common.cores.sender else { return };
        for (number, name) in tasks(std::process::id()) {
            let thread = i32::try_from(number).ok().and_then(Pid::from_raw);
            let stays = thread == Some(gettid()) || name.starts_with("bloomrf-rx");
            if let Some(thread) = thread.filter(|_| !stays) {
                // One that has ended meanwhile is in nobody's way.
                let _ = pin(Some(thread), other);
            }
        }
    }
}

/// The node's metrics, as text.
fn metrics(address: SocketAddr) -> Result<String, String> {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    ask().map_err(|why| format!("http://{address}/metrics: {why}"))
}

/// Ticks by stage.
fn stages(metrics: &str) -> Vec<(String, u64)> {
    let ticks = |line: &str| {
        let (name, value) = line.split_once("} ")?;
        let (metric, labels) = name.split_once('{')?;
        if !metric.contains("_queue_cycles") || metric.contains("per_frame") {
            return None;
        }
        let stage = labels.split_once("stage=\"")?.1.split('"').next()?;
        Some((stage.to_owned(), value.trim().parse().ok()?))
    };
    metrics.lines().filter(|line| !line.starts_with('#')).filter_map(ticks).collect()
}

/// Batches that may be ahead of the sealer.
const AHEAD_BATCHES: u64 = 6;
/// Between two looks at the sealer.
const NAP: Duration = Duration::from_millis(1);
/// Batches before those that count.
const WARM_BATCHES: u64 = 4;
/// For everything that takes a second.
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::stages;

    #[test]
    fn ticks_are_read_by_stage_and_averages_are_not() {
        let text = "# TYPE x_queue_cycles counter\n\
                    x_queue_cycles{queue=\"0\",stage=\"ingest\"} 700\n\
                    x_queue_cycles{queue=\"0\",stage=\"sort\"} 80\n\
                    x_queue_cycles_per_frame{queue=\"0\",stage=\"sort\"} 8\n\
                    x_queue_bytes{queue=\"0\"} 9\n";
        assert_eq!(stages(text), [("ingest".to_owned(), 700), ("sort".to_owned(), 80)]);
    }
}
