//! A node on a raw port that owns addresses, asked by ordinary sockets over a veth pair between two
//! network namespaces: the interface itself has no address. Where that is not possible (no root,
//! no namespaces) a test says so and passes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod asking;

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use bloomrf_engine::wire::lookup::LookupStatus;
use bloomrf_lab::{Lab, Layout, NoLab, Side};
use bloomrf_node::config::{PortAddress, Sandbox};
use bloomrf_node::{Config, Node};
use tempfile::TempDir;

use asking::{ask_tcp, ask_udp, question};

/// The port's, and somebody else's.
const OWN: [&str; 2] = ["10.99.0.1", "2001:db8::1"];
const NOBODY: &str = "10.99.0.9";
const LOOKUP: u16 = 6_997;

/// A lab whose side A has no address, and answers nothing by itself.
fn lab() -> Result<Lab, NoLab> {
    let b = vec!["10.99.0.2/24".to_owned(), "2001:db8::2/64".to_owned()];
    let lab = Lab::with(&Layout { b, ipv6: true, ..Layout::default() })?;
    lab.inside(Side::A, || {
        fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1").unwrap();
    });
    Ok(lab)
}

fn config(folder: &TempDir, link: &str) -> Config {
    let mut config = Config {
        listen: IpAddr::from([127, 0, 0, 1]),
        data_dir: folder.path().join("data"),
        arena_bytes: 8 << 20,
        max_kib_per_column: 64,
        lookup_budget_us: 1_000_000,
        sandbox: Sandbox::Require,
        ..Config::default()
    };
    config.link.spec = link.parse().unwrap();
    let own = |ip: &str, prefix| PortAddress { ip: ip.parse().unwrap(), prefix };
    config.link.addresses = vec![own(OWN[0], 24), own(OWN[1], 64)];
    config
}

/// Everything that a port is asked for, by the other side.
fn check_answers(lab: &Lab) {
    for own in OWN {
        let target = SocketAddr::new(own.parse().unwrap(), LOOKUP);
        let (udp, tcp) = lab.inside(Side::B, || {
            (ask_udp(target, &question(500, true)), ask_tcp(target, &question(131_072, false)))
        });
        assert_eq!((udp.status, udp.candidates), (LookupStatus::Ok, 500), "{own}");
        assert_eq!((tcp.status, tcp.candidates), (LookupStatus::Ok, 131_072), "{own}");
    }
    lab.inside(Side::B, || {
        for own in OWN {
            assert!(asking::ping(own.parse().unwrap()), "{own} answers no ping");
        }
        assert!(!asking::ping(NOBODY.parse().unwrap()));
    });
}

#[test]
fn an_af_packet_port_answers_lookups_and_pings_of_ordinary_sockets() {
    let lab = match lab() {
        Ok(lab) => lab,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, &format!("af_packet:{}", Side::A.interface()));
    let node = lab.inside(Side::A, || Node::start(config).unwrap());
    check_answers(&lab);
    // An address that nobody owns, and a port that nobody serves, stay silent.
    lab.inside(Side::B, || {
        let socket = UdpSocket::bind("10.99.0.2:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        socket.send_to(&question(8, true), (OWN[0], 53)).unwrap();
        assert!(socket.recv(&mut [0; 2_000]).is_err());
        let closed = SocketAddr::new(OWN[0].parse().unwrap(), 80);
        assert!(TcpStream::connect_timeout(&closed, Duration::from_millis(300)).is_err());
    });
    node.stop();
}

#[test]
fn many_connections_and_a_long_message_over_a_raw_port() {
    let lab = match lab() {
        Ok(lab) => lab,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, &format!("af_packet:{}", Side::A.interface()));
    let node = lab.inside(Side::A, || Node::start(config).unwrap());
    let target = SocketAddr::new(OWN[0].parse().unwrap(), LOOKUP);
    lab.inside(Side::B, || {
        let asked: Vec<TcpStream> = (0..100)
            .map(|_| {
                let mut stream = TcpStream::connect(target).unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                assert_eq!(asking::ask_over(&mut stream, &question(9, false)).candidates, 9);
                stream
            })
            .collect();
        let message = asking::long_question(131_072);
        assert!(message.len() > 512 << 10);
        assert_eq!(ask_tcp(target, &message).status, LookupStatus::Ok);
        // The oldest gave up their seats, the newest have theirs.
        let mut newest = &asked[99];
        let framed = [&100_u32.to_le_bytes(), [0; 100].as_slice()].concat();
        newest.write_all(&framed).unwrap();
        assert!(!matches!(newest.read(&mut [0; 1]), Ok(1..)), "no answer to what is no message");
    });
    node.stop();
}

/// The only test of this process that uses DPDK: an environment is started once.
#[cfg(feature = "dpdk")]
#[test]
fn a_port_of_dpdk_answers_lookups_and_pings_of_ordinary_sockets() {
    let lab = match lab() {
        Ok(lab) => lab,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let ring = "blocksz=1048576,framesz=2048,framecnt=16384";
    let device = format!("dpdk:net_af_packet0,iface={},{ring}", Side::A.interface());
    let config = config(&folder, &device);
    let node = lab.inside(Side::A, || Node::start(config).unwrap());
    check_answers(&lab);
    node.stop();
}
