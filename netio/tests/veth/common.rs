//! What the tests share: a lab or a word about why not, frames by number, and gathering.
#![allow(clippy::unwrap_used, reason = "a test may panic; its support code, too")]

use std::net::IpAddr;
use std::time::{Duration, Instant};

use bloomrf_lab::{Lab, Layout, Side};
use bloomrf_netio::frame::{Endpoint, write_udp};
use bloomrf_netio::link::af_packet::AfPacketSender;
use bloomrf_netio::link::{Port, PortOptions, open};
use bloomrf_netio::{Burst, FrameSender, Link, LinkError};

pub(crate) fn lab(layout: &Layout) -> Option<Lab> {
    Lab::with(layout).map_err(|reason| println!("skipped: {reason}")).ok()
}

pub(crate) fn options(queues: usize) -> PortOptions {
    PortOptions {
        queues,
        listen: "0.0.0.0:7000".parse().unwrap(),
        groups: Vec::new(),
        receive_buffer: 8 << 20,
        busy_poll_us: 0,
        sends: false,
        dpdk_args: Vec::new(),
    }
}

/// Opens a port inside side A.
pub(crate) fn open_in(lab: &Lab, link: &str, options: &PortOptions) -> Result<Port, LinkError> {
    lab.inside(Side::A, || open(&link.parse().unwrap(), options))
}

/// A port of this many queues with small rings, and what follows `af_packet:veth-a`.
pub(crate) fn port(lab: &Lab, queues: usize, more: &str) -> Vec<Box<dyn Link>> {
    let small = format!("af_packet:veth-a,block_kib=256,blocks=32{more}");
    open_in(lab, &small, &options(queues)).unwrap().links
}

pub(crate) fn sender(lab: &Lab, side: Side) -> AfPacketSender {
    lab.inside(side, || AfPacketSender::open(side.interface()).unwrap())
}

fn endpoint(side: Side, port: u16) -> Endpoint {
    let ip = if side == Side::A { [10, 99, 0, 1] } else { [10, 99, 0, 2] };
    Endpoint { mac: side.mac(), ip: IpAddr::from(ip), port }
}

/// The frame number `n` from B to A: its flow and length follow from the number, which its payload
/// begins with.
pub(crate) fn frame(n: u32, vlan: Option<u16>, payload_bytes: usize) -> Vec<u8> {
    let mut payload = n.to_be_bytes().to_vec();
    payload.extend((payload.len()..payload_bytes).map(|at| (at as u32 ^ n) as u8));
    let mut frame = Vec::new();
    let from = endpoint(Side::B, 20_000 + (n % 97) as u16);
    write_udp(&mut frame, &from, &endpoint(Side::A, 7_000), vlan, &payload);
    frame
}

/// Sends a frame, again as long as there is no room.
pub(crate) fn send(sender: &mut dyn FrameSender, frame: &[u8]) {
    for _ in 0..10_000 {
        if sender.send(frame).unwrap() {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    panic!("no room for a frame within a second");
}

/// Frames as they came, with their lengths on the wire, until there are `count` or none comes for
/// half a second.
pub(crate) fn gather(link: &mut dyn Link, count: usize) -> Vec<(Vec<u8>, u32)> {
    let mut frames = Vec::new();
    let mut deadline = Instant::now() + QUIET;
    while frames.len() < count && Instant::now() < deadline {
        let mut burst = Burst::new();
        link.rx_burst(&mut burst).unwrap();
        frames.extend(burst.iter().map(|frame| (frame.bytes.to_vec(), frame.wire_bytes)));
        let is_empty = burst.is_empty();
        drop(burst);
        if is_empty {
            link.wait(Duration::from_millis(20)).unwrap();
        } else {
            deadline = Instant::now() + QUIET;
        }
    }
    frames
}

const QUIET: Duration = Duration::from_millis(500);

/// Nothing comes.
pub(crate) fn assert_quiet(link: &mut dyn Link) {
    let frames = gather(link, 1);
    assert!(frames.is_empty(), "{frames:?}");
}
