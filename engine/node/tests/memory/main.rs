//! Threads that poll raw links, and the one that answers for a port, ask for no memory once they
//! run. The allocator of this program counts by thread; its tests run one after the other, since
//! threads are told apart by name.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]
#![allow(dead_code, reason = "the node's tests share more than is used here")]

#[path = "../../../../bench/src/bin/soak/alloc.rs"]
mod alloc;
#[path = "../../../../bench/src/bin/soak/count.rs"]
mod count;
#[path = "../node/scc.rs"]
mod scc;
#[path = "../node/ways.rs"]
mod ways;
#[path = "../node/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bloomrf_engine::schema::Schema;
use bloomrf_lab::{Layout, Side};
use bloomrf_node::config::{LinkUse, PortAddress};
use bloomrf_node::{Config, Node};

use ways::raw::{AF_PACKET, cable, dpdk_cable, laid, net_af_packet, send_over, with_dpdk};
use ways::{Site, Traffic, over_link};
use world::{config, wait_for};

fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Requests of the threads that must make none, by name.
fn asked() -> BTreeMap<String, u64> {
    let watched =
        |name: &String| ["bloomrf-rx", "bloomrf-port"].iter().any(|p| name.starts_with(p));
    let all = count::by_name().into_iter().map(|(name, asked)| (name, asked.requests));
    all.filter(|(name, _)| watched(name)).collect()
}

/// So many batches to come to know the work, and as many that are looked at.
const BATCHES: u64 = 25;

/// Two halves of one stream.
fn halves() -> [Traffic; 2] {
    let mut first = Traffic::of(&Schema::packet(), 2 * BATCHES, 200);
    let second = Traffic { batches: first.batches.split_off(BATCHES as usize), foreign: vec![] };
    [first, second]
}

fn arrived(node: &Node) -> u64 {
    node.status().frames.arrived
}

/// Sends one half, then the other, and compares; `more` is done after each.
fn check(site: &Site, node: &Node, mut more: impl FnMut()) {
    let mut before = BTreeMap::new();
    for (at, traffic) in halves().iter().enumerate() {
        let wanted = arrived(node) + traffic.frames().count() as u64;
        if at == 1 {
            before = asked();
            count::watch("bloomrf-rx");
            count::watch("bloomrf-port");
        }
        send_over(site, traffic);
        wait_for("the frames", || arrived(node) >= wanted);
        more();
    }
    // Also the work after the last frame.
    std::thread::sleep(Duration::from_millis(300));
    let frames = node.status().frames;
    assert_eq!((frames.accounted(), frames.dropped), (frames.arrived, 0), "{frames:?}");
    assert!(before.keys().any(|name| name == "bloomrf-rx-0"), "{before:?}");
    assert_eq!(asked(), before, "requests for memory");
}

/// A node on a cable of two queues, polled and looked at.
fn check_on(site: Result<Site, String>, link: &str, change: impl FnOnce(&mut Config) + Send) {
    let site = match site {
        Ok(site) => site,
        Err(reason) => return println!("skipped: {link}: {reason}"),
    };
    site.inside(|| {
        let mut config = config(&site.folder, None);
        change(&mut config);
        let node = over_link(link, config).node;
        check(&site, &node, || {});
        node.stop();
    });
}

#[test]
fn polling_af_packet_asks_for_no_memory() {
    let _alone = alone();
    check_on(cable(2), AF_PACKET, |_| {});
}

#[test]
fn polling_a_port_of_dpdk_asks_for_no_memory() {
    let _alone = alone();
    check_on(dpdk_cable(2), &net_af_packet(2), |config| *config = with_dpdk(config.clone()));
}

#[test]
fn a_tap_asks_for_no_memory() {
    let _alone = alone();
    check_on(cable(2), AF_PACKET, |config| config.link.link_use = LinkUse::Tap);
}

#[test]
fn replaying_a_capture_asks_for_no_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let traffic = Traffic::of(&Schema::packet(), 2 * BATCHES, 200);
    let file = folder.path().join("capture.pcap");
    traffic.write(&file);
    let all = traffic.frames().count() as u64;
    let config = Config { queues: 1, ..config(&folder, None) };
    let node = over_link(&format!("pcap:{},speed=500", file.display()), config).node;
    wait_for("half of it", || arrived(&node) >= all / 2);
    let before = asked();
    count::watch("bloomrf-rx");
    // At its very end it says so in the log, which takes memory.
    wait_for("most of it", || arrived(&node) >= all * 4 / 5);
    let after = asked();
    assert!(arrived(&node) < all, "the capture was over before it was looked at");
    assert_eq!((before.len(), after), (1, before));
    node.stop();
}

/// A lookup takes memory for its question; nothing else that a port is told does.
#[test]
fn what_a_port_of_its_own_is_told_asks_for_no_memory() {
    let _alone = alone();
    let layout = Layout { queues: 2, b: vec!["10.99.0.2/24".into()], ..Layout::default() };
    let site = match laid(&layout) {
        Ok(site) => site,
        Err(reason) => return println!("skipped: {reason}"),
    };
    site.inside(|| {
        let mut config = config(&site.folder, None);
        config.link.addresses = vec![PortAddress { ip: [10, 99, 0, 1].into(), prefix: 24 }];
        let node = over_link(AF_PACKET, config).node;
        let target = SocketAddr::from(([10, 99, 0, 1], node.ports().lookup.port()));
        let lab = site.lab.as_ref().unwrap();
        check(&site, &node, || {
            lab.inside(Side::B, || knock(target));
        });
        assert!(node.status().frames.handed_over > 300, "{:?}", node.status().frames);
        assert!(asked().contains_key("bloomrf-port"));
        node.stop();
    });
}

/// No lookup among datagrams, and connections that say nothing.
fn knock(target: SocketAddr) {
    let socket = UdpSocket::bind("10.99.0.2:0").unwrap();
    for n in 0..100 {
        socket.send_to(&[n; 200], target).unwrap();
        drop(TcpStream::connect_timeout(&target, Duration::from_secs(10)).unwrap());
    }
}
