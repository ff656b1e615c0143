//! A port that does not open says why, and what to do.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use bloomrf_lab::{Lab, Layout, Side};

use crate::common::{frame, gather, lab, open_in, options, port, send, sender};

fn said(lab: &Lab, link: &str, queues: usize) -> String {
    match open_in(lab, link, &options(queues)) {
        Ok(_) => "opened".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_missing_down_or_too_large_is_named() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let check = |link: &str, queues: usize, expected: &str| {
        let said = said(&lab, link, queues);
        assert!(said.contains(expected), "{link}, {queues} queues: {said}");
    };
    check("af_packet:veth-a,blocks=2", 1, "opened");
    check("af_packet:lo,blocks=2", 1, "opened");
    check("af_packet:veth-x", 1, "af_packet:veth-x: there is no interface `veth-x`; there are: ");
    check("af_packet:veth-x", 1, "veth-a");
    check("af_packet:veth-a,blocks=0", 1, "blocks=2 to 4096");
    check("af_packet:veth-a", 0, "0 queues: a port has 1 to 64");
    check("af_packet:veth-a", 65, "65 queues: a port has 1 to 64");
    check("af_packet:veth-a,blocks=4096", 2, "are more than 4096 MiB: lower blocks");
    lab.set_up(Side::A, false).unwrap();
    check("af_packet:veth-a", 1, "interface `veth-a` is down: `ip link set veth-a up`");
    check("af_packet:veth-a", 2, "is down");
}

#[test]
fn an_interface_that_is_not_ethernet_is_refused_by_name() {
    let Some(lab) = lab(&Layout::default()) else { return };
    if let Err(reason) = lab.ip(Side::A, &["tuntap", "add", "dev", "tun9", "mode", "tun"]) {
        println!("skipped: {reason}");
        return;
    }
    lab.ip(Side::A, &["link", "set", "tun9", "up"]).unwrap();
    let said = said(&lab, "af_packet:tun9", 1);
    assert!(said.contains("interface `tun9` is no Ethernet interface"), "{said}");
}

#[test]
fn without_the_right_to_it_says_which_is_needed() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let said = lab.inside(Side::A, || {
        // Of this thread alone.
        let all = rustix::thread::capabilities(None).unwrap();
        let none = rustix::thread::CapabilitySets { effective: all.effective, ..all };
        let mut none = none;
        none.effective.remove(rustix::thread::CapabilitySet::NET_RAW);
        rustix::thread::set_capabilities(None, none).unwrap();
        match bloomrf_netio::link::open(&"af_packet:veth-a".parse().unwrap(), &options(1)) {
            Ok(_) => "opened".into(),
            Err(error) => error.to_string(),
        }
    });
    assert!(said.contains("need CAP_NET_RAW: run as root, or `setcap"), "{said}");
}

#[test]
fn a_closed_port_leaves_nothing_and_opens_again() {
    let Some(lab) = lab(&Layout { queues: 2, ..Layout::default() }) else { return };
    let promiscuous = || {
        let shown = lab.command(Side::A, "ip").args(["-d", "link", "show", "veth-a"]).output();
        String::from_utf8(shown.unwrap().stdout).unwrap().contains("promiscuity 1")
    };
    for _ in 0..3 {
        let port = open_in(&lab, "af_packet:veth-a,blocks=2", &options(2)).unwrap();
        assert!(promiscuous());
        drop(port);
        assert!(!promiscuous());
    }
    let port = open_in(&lab, "af_packet:veth-a,blocks=2,promiscuous=0", &options(2)).unwrap();
    assert!(!promiscuous());
    drop(port);
}

/// While queues join one by one, a socket that has not joined yet would see every frame.
#[test]
fn a_port_opened_under_traffic_gives_no_frame_twice() {
    let Some(lab) = lab(&Layout { queues: 2, ..Layout::default() }) else { return };
    for _ in 0..2 {
        let mut sender = sender(&lab, Side::B);
        let (sent, stop) = (AtomicU32::new(0), AtomicBool::new(false));
        let mut links = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    send(&mut sender, &frame(sent.fetch_add(1, Relaxed), None, 50));
                }
            });
            let links = port(&lab, 3, ",block_kib=64");
            let opened = sent.load(Relaxed);
            while sent.load(Relaxed) < opened + 200 {
                std::thread::sleep(Duration::from_millis(1));
            }
            stop.store(true, Relaxed);
            links
        });
        let frames: Vec<_> =
            links.iter_mut().flat_map(|link| gather(&mut **link, 100_000)).collect();
        let mut numbers: Vec<_> = frames.iter().map(|(bytes, _)| bytes[42..46].to_vec()).collect();
        numbers.sort_unstable();
        let count = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "some came twice");
        assert!(count > 0);
    }
}
