//! Ways of frames into a node: one capture, through every kind of link.

use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::Path;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::{PacketFields, Schema};
use bloomrf_lab::{Lab, Side};
use bloomrf_netio::capture::writer::PcapWriter;
use bloomrf_netio::frame::{Endpoint, write_udp};
use bloomrf_netio::link::mem;
use bloomrf_netio::link::udp::UdpSender;
use bloomrf_netio::{Framing, Link, LinkSpec};
use bloomrf_node::{Config, Node, Surroundings};
use tempfile::TempDir;

use crate::scc::Scc;
use crate::world::{Frames, LANES, packets};

#[path = "ways/raw.rs"]
pub(crate) mod raw;

/// Port of the ingest broadcast in captures.
pub(crate) const PORT: u16 = 6_987;

/// Batches, each with what the SCC thinks of it.
pub(crate) struct Traffic {
    pub(crate) batches: Vec<(BatchId, Frames, Vec<PacketFields>)>,
    /// Frames of an Ethernet that no node takes for records, each with the lane it goes with.
    pub(crate) foreign: Vec<(u8, Vec<u8>)>,
}

impl Traffic {
    /// Batches 1, 2, ... of `records` each: to ports `1,000 * batch` and the next 19 even ones.
    pub(crate) fn of(schema: &Schema, batches: u64, records: usize) -> Self {
        let batch = |id: u64| {
            let packets = packets(records, 1_000 * id as u16);
            (id, Frames::of(schema, id, &packets), packets)
        };
        let mut arp = vec![0xff; 12];
        arp.extend([0x08, 0x06]);
        arp.extend([0; 46]);
        let cut = ethernet(0, PORT, b"whole on the wire")[..50].to_vec();
        let foreign = vec![(0, arp), (0, ethernet(0, PORT + 1, b"another port")), (0, cut)];
        Traffic { batches: (1..=batches).map(batch).collect(), foreign }
    }

    /// Tells the SCC which hashes are right.
    pub(crate) fn tell(&self, scc: &Scc) {
        let right = self.batches.iter().map(|(id, frames, _)| (*id, frames.hash));
        scc.with(|scc| scc.right.extend(right));
    }

    /// Payloads with their lanes, in order.
    pub(crate) fn payloads(&self) -> impl Iterator<Item = (u8, &[u8])> {
        let frames = self.batches.iter().flat_map(|(_, f, _)| f.data.iter().chain(&f.close));
        frames.map(|(lane, payload)| (*lane, payload.as_slice()))
    }

    /// The same as Ethernet frames, foreign ones first.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (u8, Vec<u8>)> + '_ {
        let own = self.payloads().map(|(lane, payload)| (lane, ethernet(lane, PORT, payload)));
        self.foreign.iter().cloned().chain(own)
    }

    /// The same in a file.
    pub(crate) fn write(&self, path: &Path) {
        self.write_share(path, 0, 1);
    }

    /// The share of one of `queues` queues in a file.
    pub(crate) fn write_share(&self, path: &Path, queue: usize, queues: usize) {
        let mut writer = PcapWriter::new(BufWriter::new(File::create(path).unwrap()), 1).unwrap();
        let share = self.frames().filter(|(lane, _)| usize::from(*lane) % queues == queue);
        for (i, (_, frame)) in share.enumerate() {
            let ts_ns = 1_700_000_000_000_000_000 + 1_000 * i as i64;
            writer.write(ts_ns, &frame, frame.len() as u32).unwrap();
        }
        writer.finish().unwrap();
    }
}

/// A datagram of a lane to `port` of the ingest group.
fn ethernet(lane: u8, port: u16, payload: &[u8]) -> Vec<u8> {
    let from = Endpoint {
        mac: [2, 0, 0, 0, 0, 1],
        ip: "10.9.0.1".parse().unwrap(),
        port: 40_000 + u16::from(lane),
    };
    let to = Endpoint { mac: [1, 0, 0x5e, 1, 2, 3], ip: "239.1.2.3".parse().unwrap(), port };
    let mut frame = Vec::new();
    // Every second lane is tagged.
    write_udp(&mut frame, &from, &to, (lane % 2 == 1).then_some(7), payload);
    frame
}

/// A node with traffic on its way to it.
pub(crate) struct Underway {
    pub(crate) node: Node,
    /// Kept until the node has stopped.
    _feed: Box<dyn std::any::Any>,
}

/// Where a way begins and ends: a folder, and namespaces with a cable where it takes them.
pub(crate) struct Site {
    pub(crate) folder: TempDir,
    pub(crate) lab: Option<Lab>,
}

impl Site {
    fn plain(_queues: usize) -> Result<Self, String> {
        Ok(Site { folder: tempfile::tempdir().unwrap(), lab: None })
    }

    /// Works where the node runs: its sockets are in reach.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.lab {
            Some(lab) => lab.inside(Side::A, work),
            None => work(),
        }
    }
}

/// A way into a node.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    /// Whether foreign frames reach the node, too.
    pub(crate) is_raw: bool,
    /// What it takes for so many queues, or what this machine lacks.
    pub(crate) site: fn(usize) -> Result<Site, String>,
    /// Starts a node, `config` being ready but for its link, and sends it everything. Called
    /// inside the site.
    pub(crate) start: fn(&Traffic, Config, &Site) -> Underway,
}

/// All ways.
pub(crate) const WAYS: &[Way] = &[
    Way { name: "mem, payloads", is_raw: false, site: Site::plain, start: over_payloads },
    Way { name: "mem, frames", is_raw: true, site: Site::plain, start: over_frames },
    Way { name: "udp", is_raw: false, site: Site::plain, start: over_udp },
    Way { name: "pcap", is_raw: true, site: Site::plain, start: over_pcap },
    Way { name: "af_packet", is_raw: true, site: raw::cable, start: raw::over_af_packet },
    Way { name: "dpdk, net_pcap", is_raw: true, site: raw::dpdk, start: raw::over_net_pcap },
    Way { name: "dpdk, net_ring", is_raw: true, site: raw::dpdk, start: raw::over_net_ring },
    Way {
        name: "dpdk, net_af_packet",
        is_raw: true,
        site: raw::dpdk_cable,
        start: raw::over_net_af_packet,
    },
];

fn over_payloads(traffic: &Traffic, config: Config, _: &Site) -> Underway {
    let payloads = traffic.payloads().map(|(lane, payload)| (lane, payload.to_vec()));
    over_memory(payloads, config, Framing::Payloads)
}

fn over_frames(traffic: &Traffic, config: Config, _: &Site) -> Underway {
    over_memory(traffic.frames(), config, Framing::Frames)
}

fn over_memory(
    datagrams: impl Iterator<Item = (u8, Vec<u8>)>,
    config: Config,
    framing: Framing,
) -> Underway {
    let pair = match framing {
        Framing::Payloads => mem::pair,
        Framing::Frames => mem::frame_pair,
    };
    let queues = config.queue_count();
    let (senders, links): (Vec<_>, Vec<_>) = (0..queues).map(|_| pair(1 << 16)).unzip();
    let links: Vec<Box<dyn Link>> =
        links.into_iter().map(|link| Box::new(link) as Box<dyn Link>).collect();
    let node = over_links(links, config);
    for (lane, datagram) in datagrams {
        assert!(senders[usize::from(lane) % queues].send(&datagram));
    }
    Underway { node, _feed: Box::new(senders) }
}

/// A node on links that are open already.
fn over_links(links: Vec<Box<dyn Link>>, config: Config) -> Node {
    let surroundings = Surroundings { links: Some(links), ..Surroundings::default() };
    let config = Config { production_port: PORT, lookup_port: Some(0), ..config };
    Node::start_in(config, surroundings).unwrap()
}

fn over_udp(traffic: &Traffic, config: Config, _: &Site) -> Underway {
    let node = Node::start(config).unwrap();
    let target: [SocketAddr; 1] = [node.ports().ingest];
    let mut lanes: Vec<UdpSender> =
        (0..LANES).map(|_| UdpSender::connect(&target).unwrap()).collect();
    for (lane, payload) in traffic.payloads() {
        lanes[usize::from(lane)].send(payload).unwrap();
    }
    Underway { node, _feed: Box::new(lanes) }
}

fn over_pcap(traffic: &Traffic, config: Config, site: &Site) -> Underway {
    let file = site.folder.path().join("capture.pcap");
    traffic.write(&file);
    // A few thousand a second: queues keep step, and batches end one after the other.
    let spec = format!("pcap:{},speed=4000", file.display());
    over_link(&spec, config)
}

/// A node on a link that brings the traffic by itself.
pub(crate) fn over_link(spec: &str, mut config: Config) -> Underway {
    config.link.spec = spec.parse::<LinkSpec>().unwrap();
    config.production_port = PORT;
    config.lookup_port = Some(0);
    Underway { node: Node::start(config).unwrap(), _feed: Box::new(()) }
}
