//! Ways over raw ports: `af_packet` over a cable between two namespaces, and DPDK's virtual
//! devices. All ports of a process share one environment of DPDK, on ordinary pages here.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use bloomrf_lab::{Lab, Layout, Side};
use bloomrf_netio::link::af_packet::AfPacketSender;
use bloomrf_netio::link::{self, Port, PortOptions};
use bloomrf_netio::{FrameSender, LinkSpec};
use bloomrf_node::Config;

use super::{Site, Traffic, Underway, over_link, over_links};

/// Two namespaces whose ends have no address: nobody sends but the test.
pub(crate) fn cable(queues: usize) -> Result<Site, String> {
    laid(&Layout { queues, ..Layout::default() })
}

/// A cable as it is wanted.
pub(crate) fn laid(layout: &Layout) -> Result<Site, String> {
    let lab = Lab::with(layout).map_err(|reason| reason.to_string())?;
    Ok(Site { lab: Some(lab), ..Site::plain(layout.queues)? })
}

/// Without privilege and without huge pages.
pub(crate) fn dpdk(queues: usize) -> Result<Site, String> {
    match cfg!(feature = "dpdk") {
        true => Site::plain(queues),
        false => Err("these tests were built without `--features dpdk`".into()),
    }
}

pub(crate) fn dpdk_cable(queues: usize) -> Result<Site, String> {
    dpdk(queues).and_then(|_| cable(queues))
}

pub(crate) fn over_af_packet(traffic: &Traffic, config: Config, site: &Site) -> Underway {
    let underway = over_link(AF_PACKET, config);
    send_over(site, traffic);
    underway
}

pub(crate) fn over_net_af_packet(traffic: &Traffic, config: Config, site: &Site) -> Underway {
    let device = net_af_packet(config.queue_count());
    let underway = over_link(&device, with_dpdk(config));
    send_over(site, traffic);
    underway
}

/// A file per queue; the device plays each as fast as it is asked.
pub(crate) fn over_net_pcap(traffic: &Traffic, config: Config, site: &Site) -> Underway {
    let queues = config.queue_count();
    let files = (0..queues).map(|queue| {
        let file = site.folder.path().join(format!("capture.{queue}"));
        traffic.write_share(&file, queue, queues);
        format!(",rx_pcap={}", file.display())
    });
    let files: String = files.collect();
    let device = format!("dpdk:net_pcap{}{files}", next());
    // How far one queue is ahead of the other is the system's choice.
    over_link(&device, with_dpdk(Config { close_grace_ms: 10_000, ..config }))
}

/// What its sender sends comes back on the first queue, whatever lane it is of.
pub(crate) fn over_net_ring(traffic: &Traffic, config: Config, _: &Site) -> Underway {
    let spec: LinkSpec = format!("dpdk:net_ring{}", next()).parse().unwrap();
    let options = PortOptions {
        queues: config.queue_count(),
        listen: ([127, 0, 0, 1], 0).into(),
        groups: Vec::new(),
        receive_buffer: 0,
        busy_poll_us: 0,
        sends: true,
        dpdk_args: DPDK_ARGS.map(str::to_owned).to_vec(),
    };
    let Port { links, sender, .. } = link::open(&spec, &options).unwrap();
    let (node, mut sender) = (over_links(links, config), sender.unwrap());
    traffic.frames().for_each(|(_, frame)| send(&mut *sender, &frame));
    Underway { node, _feed: Box::new(sender) }
}

/// A port of DPDK's own on the cable's end.
pub(crate) fn net_af_packet(queues: usize) -> String {
    let ring = "blocksz=1048576,framesz=2048,framecnt=4096";
    let (number, interface) = (next(), Side::A.interface());
    format!("dpdk:net_af_packet{number},iface={interface},qpairs={queues},{ring}")
}

/// Devices of one process have names of their own.
fn next() -> u32 {
    static DEVICES: AtomicU32 = AtomicU32::new(0);
    DEVICES.fetch_add(1, Ordering::Relaxed)
}

/// The process's first port of DPDK settles its memory: all ask for the same.
pub(crate) fn with_dpdk(mut config: Config) -> Config {
    config.link.dpdk_args = DPDK_ARGS.map(str::to_owned).to_vec();
    config
}

/// Everything, from the other end of the cable.
pub(crate) fn send_over(site: &Site, traffic: &Traffic) {
    let Some(lab) = &site.lab else { return };
    lab.inside(Side::B, || {
        let mut sender = AfPacketSender::open(Side::B.interface()).unwrap();
        traffic.frames().for_each(|(_, frame)| send(&mut sender, &frame));
    });
}

/// Again, as long as there is no room.
fn send(sender: &mut dyn FrameSender, frame: &[u8]) {
    for _ in 0..10_000 {
        if sender.send(frame).unwrap() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("no room for a frame");
}

/// Small rings, which hold all that a test sends.
pub(crate) const AF_PACKET: &str = "af_packet:veth-a,block_kib=256,blocks=32";
const DPDK_ARGS: [&str; 4] = ["--no-huge", "-m", "320", "--no-shconf"];
