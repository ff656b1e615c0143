//! The end of DPDK's environment in a process: orderly, and for good.
#![cfg(feature = "dpdk")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::net::SocketAddr;

use bloomrf_netio::Burst;
use bloomrf_netio::link::{self, PortOptions};

#[test]
fn all_mbufs_are_back_at_the_end_which_is_for_good() {
    let options = PortOptions {
        queues: 2,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        groups: Vec::new(),
        receive_buffer: 0,
        busy_poll_us: 0,
        sends: true,
        dpdk_args: vec!["memory_mib=128".into()],
    };
    let open = || link::open(&"dpdk:net_null0".parse().unwrap(), &options);
    link::shutdown().unwrap();
    // A thread that has polled keeps the environment until it ends.
    std::thread::scope(|scope| {
        let poller = scope.spawn(|| {
            let mut port = open().unwrap();
            for link in &mut port.links {
                let mut burst = Burst::new();
                link.rx_burst(&mut burst).unwrap();
                assert!(burst.is_full());
            }
            assert!(port.sender.unwrap().send(&[0; 64]).unwrap());
            link::shutdown().unwrap();
            drop(port.links);
            // Called too early it is taken back.
            drop(open().unwrap());
        });
        poller.join().unwrap();
    });
    assert!(open().is_ok());
    link::shutdown().unwrap();
    let error = open().err().unwrap().to_string();
    assert!(error.contains("has ended"), "{error}");
}
