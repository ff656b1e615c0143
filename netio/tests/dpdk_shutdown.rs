//! The end of DPDK's environment in a process: orderly, and for good.
#![cfg(feature = "dpdk")]

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
    link::shutdown().unwrap();
    let mut port = link::open(&"dpdk:net_null0".parse().unwrap(), &options).unwrap();
    for link in &mut port.links {
        let mut burst = Burst::new();
        link.rx_burst(&mut burst).unwrap();
        assert!(burst.is_full());
    }
    // Called too early it waits for the port, which ends the environment with its last part.
    link::shutdown().unwrap();
    assert!(port.sender.unwrap().send(&[0; 64]).unwrap());
    drop(port.links);
    link::shutdown().unwrap();
    let error = link::open(&"dpdk:net_null0".parse().unwrap(), &options).err().unwrap();
    assert!(error.to_string().contains("has ended"), "{error}");
}
