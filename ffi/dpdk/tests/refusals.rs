//! What cannot be had is refused by name, with DPDK's reason and what to do.
#![cfg(feature = "dpdk")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use bloomrf_dpdk::{DpdkError, Eal, PortConfig, leaked_mbufs};
use common::{eal, frame, options, pcap, pcap_of};

/// The message holds all of these.
fn says(error: &DpdkError, parts: &[&str]) {
    let text = error.to_string();
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is not in: {text}"));
}

#[test]
fn an_environment_starts_once() {
    let _ = eal();
    says(&Eal::start(&options()).unwrap_err(), &["runs already"]);
}

#[test]
fn a_device_that_is_missing_is_named_with_the_reason() {
    says(
        &eal().probe("net_none0").unwrap_err(),
        &["device `net_none0` cannot be had", "like net_null0"],
    );
    let error = eal().probe("net_pcap7,rx_pcap=/nonexistent/day.pcap").unwrap_err();
    says(
        &error,
        &["/nonexistent/day.pcap: No such file", "DPDK says:", "files or interface must exist"],
    );
    let error = eal().probe("net_af_packet7,iface=nonexistent0").unwrap_err();
    says(&error, &["device `net_af_packet7,iface=nonexistent0`", "SIOCGIFINDEX", "CAP_NET_RAW"]);
    let error = eal().probe("0000:ff:1f.7").unwrap_err();
    says(&error, &["device `0000:ff:1f.7` cannot be had", "vfio-pci"]);
    says(&eal().probe("net_\0").unwrap_err(), &["zero byte"]);
}

#[test]
fn a_device_has_one_owner_until_it_is_closed() {
    let device = eal().probe("net_null5").unwrap();
    says(&eal().probe("net_null5").unwrap_err(), &["net_null5", "open already"]);
    let port = device.open(&PortConfig::default()).unwrap();
    says(&eal().probe("net_null5").unwrap_err(), &["net_null5", "open already"]);
    drop(port);
    for _ in 0..3 {
        drop(eal().probe("net_null5").unwrap().open(&PortConfig::default()).unwrap());
    }
    assert_eq!(leaked_mbufs(), 0);
}

#[test]
fn too_few_queues_are_told_with_how_many_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    pcap(&path, &[frame(1, 60)]);
    let config = PortConfig { queues: 2, ..PortConfig::default() };
    let device = eal().probe(&pcap_of("net_pcap6", &[path])).unwrap();
    let error = device.open(&config).unwrap_err();
    says(&error, &["`net_pcap6` (net_pcap) has 1 receive queues and 2 are asked for"]);
}

#[test]
fn a_pool_that_is_too_small_or_too_large_is_refused() {
    let config = PortConfig { pool_mbufs: Some(1_000), ..PortConfig::default() };
    let error = eal().probe("net_null6").unwrap().open(&config).unwrap_err();
    says(&error, &["net_null6", "a pool of 1000 mbufs is too small", "up to 1472"]);
    let config = PortConfig { pool_mbufs: Some(1 << 20), ..PortConfig::default() };
    let error = eal().probe("net_null6").unwrap().open(&config).unwrap_err();
    says(&error, &["no memory for a pool of 1048576 mbufs (2368 MiB)", "memory_mib"]);
    // Neither leaves anything behind.
    drop(eal().probe("net_null6").unwrap().open(&PortConfig::default()).unwrap());
    assert_eq!(leaked_mbufs(), 0);
}
