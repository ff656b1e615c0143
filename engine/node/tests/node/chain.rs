//! The whole way over one raw port: frames of records in, batches verified by an SCC, lookups asked
//! of the port's own address and answered by it.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bloomrf_engine::schema::Schema;
use bloomrf_lab::{Layout, Side};
use bloomrf_node::Config;
use bloomrf_node::config::PortAddress;

use crate::http::{get_from, metric};
use crate::links::excludes_what_is_not_there_and_nothing_else;
use crate::scc::Scc;
use crate::ways::raw::{AF_PACKET, dpdk, laid, net_af_packet, over_net_pcap, send_over, with_dpdk};
use crate::ways::{Site, Traffic, over_link};
use crate::world::{config, receive, wait_for};

#[test]
fn an_af_packet_port_takes_batches_and_answers_for_them() {
    for queues in [1, 2] {
        match site(queues) {
            Ok(site) => check(&site, queues, AF_PACKET, |config| config),
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}

#[test]
fn a_port_of_dpdk_takes_batches_and_answers_for_them() {
    for queues in [1, 2] {
        match dpdk(queues).and_then(|_| site(queues)) {
            Ok(site) => check(&site, queues, &net_af_packet(queues), with_dpdk),
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}

/// Frames over 2,048 bytes come in several mbufs.
#[test]
fn a_frame_that_no_mbuf_holds_is_counted_as_dropped_and_hurts_no_other() {
    let site = match dpdk(2) {
        Ok(site) => site,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let mut traffic = Traffic::of(&Schema::packet(), 2, 400);
    traffic.foreign = [3_000, 2_049].map(|bytes| (1, vec![0x0b; bytes])).to_vec();
    let scc = Scc::start();
    traffic.tell(&scc);
    let config = Config { queues: 2, ..config(&site.folder, Some(scc.address)) };
    let node = over_net_pcap(&traffic, config, &site).node;
    wait_for("batches to be verified", || node.status().store.verified == 2);
    let all = traffic.frames().count() as u64;
    wait_for("all frames", || node.status().frames.arrived == all);
    let status = node.status();
    assert_eq!((status.frames.accounted(), status.frames.dropped), (all, 2));
    assert_eq!(status.dropped, 2);
    let text = get_from(node.ports().http, "/metrics").1;
    assert_eq!(metric(&text, "queue_dropped{place=\"oversize\",queue=\"1\"}"), 2.0, "{text}");
    node.stop();
}

/// Side A has no address of the system's: the port's is the node's own.
fn site(queues: usize) -> Result<Site, String> {
    laid(&Layout { queues, b: vec!["10.99.0.2/24".into()], ..Layout::default() })
}

fn check(site: &Site, queues: usize, link: &str, finish: fn(Config) -> Config) {
    let schema = Schema::packet();
    let traffic = Traffic::of(&schema, 3, 400);
    let payloads = traffic.payloads().count() as u64;
    site.inside(|| {
        let scc = Scc::start();
        traffic.tell(&scc);
        let mut config = Config { queues, ..config(&site.folder, Some(scc.address)) };
        config.link.addresses = vec![PortAddress { ip: [10, 99, 0, 1].into(), prefix: 24 }];
        let node = over_link(link, finish(config)).node;
        send_over(site, &traffic);
        wait_for("batches to be verified", || node.status().store.verified == 3);
        let target = SocketAddr::from(([10, 99, 0, 1], node.ports().lookup.port()));
        let asked = ask_from_the_other_side(site, &schema, &traffic, target);
        // The counters of a busy queue follow within a moment.
        wait_for("all frames", || node.status().frames.handed_over >= asked);
        let frames = node.status().frames;
        assert_eq!(frames.accounted(), frames.arrived, "{link}: {frames:?}");
        // A lane's CLOSE may come when its batch is sealed already, and is refused then. Of the
        // foreign frames a question for nobody here and half a datagram are refused.
        assert_eq!(frames.ingested + frames.refused, payloads + 2, "{link}: {frames:?}");
        assert_eq!((frames.dropped, frames.ignored), (0, 1), "{link}: {frames:?}");
        assert_eq!(node.status().ingest.records, 1_200);
        node.stop();
    });
}

/// By an ordinary socket; how many times.
fn ask_from_the_other_side(
    site: &Site,
    schema: &Schema,
    traffic: &Traffic,
    target: SocketAddr,
) -> u64 {
    let lab = site.lab.as_ref().unwrap();
    lab.inside(Side::B, || {
        let socket = UdpSocket::bind("10.99.0.2:0").unwrap();
        socket.connect(target).unwrap();
        excludes_what_is_not_there_and_nothing_else(schema, traffic, |request| {
            socket.send(request).unwrap();
            receive(&socket, Duration::from_secs(10)).expect("the port answers")
        })
    })
}
