//! Frames arrive as they were sent, each once.

use std::net::UdpSocket;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bloomrf_lab::{Layout, Side};
use bloomrf_netio::parse::{Checksums, udp};
use bloomrf_netio::{Burst, Framing};

use crate::common::{assert_quiet, frame, gather, lab, open_in, options, port, send, sender};

#[test]
fn every_frame_arrives_once_in_order_with_its_bytes() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let mut link = port(&lab, 1, "").remove(0);
    assert_eq!(link.framing(), Framing::Frames);
    let mut sender = sender(&lab, Side::B);
    let sent: Vec<Vec<u8>> = (0..20_000).map(|n| frame(n, None, 4 + n as usize % 1_400)).collect();
    let mut received = Vec::new();
    for part in sent.chunks(2_000) {
        part.iter().for_each(|frame| send(&mut sender, frame));
        received.extend(gather(&mut *link, part.len()));
    }
    assert_eq!(received.len(), sent.len());
    for (received, sent) in received.iter().zip(&sent) {
        assert_eq!((&received.0, received.1 as usize), (sent, sent.len()));
    }
    assert_quiet(&mut *link);
    let stats = link.stats();
    let bytes: usize = sent.iter().map(Vec::len).sum();
    assert_eq!((stats.received, stats.bytes), (sent.len() as u64, bytes as u64));
    assert_eq!((stats.dropped.sum(), stats.oversize, stats.loss_mark), (0, 0, 0));
}

#[test]
fn two_queues_share_the_frames_and_flows_stay_together() {
    let Some(lab) = lab(&Layout { queues: 2, ..Layout::default() }) else { return };
    let mut links = port(&lab, 2, "");
    // Another node on the same interface sees everything for itself.
    let mut other = port(&lab, 1, "").remove(0);
    let mut sender = sender(&lab, Side::B);
    let sent: Vec<Vec<u8>> = (0..5_000).map(|n| frame(n, None, 64)).collect();
    sent.iter().for_each(|frame| send(&mut sender, frame));
    let received = [0, 1].map(|queue| gather(&mut *links[queue], sent.len()));
    let counts = received.each_ref().map(Vec::len);
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
    assert_eq!(counts[0] + counts[1], sent.len());
    let of_queue = |queue: usize| received[queue].iter().map(|(bytes, _)| bytes.clone());
    let flow = |frame: &Vec<u8>| [frame[34], frame[35]];
    let mut flows =
        [0, 1].map(|queue| of_queue(queue).map(|frame| flow(&frame)).collect::<Vec<_>>());
    flows.iter_mut().for_each(|flows| flows.sort_unstable());
    assert!(flows[0].iter().all(|flow| flows[1].binary_search(flow).is_err()));
    let mut union: Vec<Vec<u8>> = of_queue(0).chain(of_queue(1)).collect();
    // Of one flow, in order; between flows of two queues there is none.
    for queue in 0..2 {
        assert!(of_queue(queue).is_sorted_by_key(|frame| frame[42..46].to_vec()));
    }
    union.sort_by_key(|frame| frame[42..46].to_vec());
    assert_eq!(union, sent);
    assert_eq!(gather(&mut *other, sent.len()).len(), sent.len());
}

#[test]
fn a_node_does_not_receive_what_it_sends() {
    for queues in [1, 2] {
        let Some(lab) = lab(&Layout { queues, ..Layout::default() }) else { return };
        let own = open_in(&lab, "af_packet:veth-a", &{
            let mut options = options(queues);
            options.sends = true;
            options
        });
        let (mut links, mut own) = own.map(|port| (port.links, port.sender.unwrap())).unwrap();
        assert_eq!(own.mac(), Side::A.mac());
        let mut sender = sender(&lab, Side::B);
        for n in 0..100 {
            send(&mut *own, &frame(n, None, 50));
        }
        send(&mut sender, &frame(100, None, 50));
        let received: Vec<_> = links.iter_mut().flat_map(|link| gather(&mut **link, 2)).collect();
        assert_eq!(received, [(frame(100, None, 50), 92)], "{queues} queues");
    }
}

#[test]
fn tags_are_where_they_were() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let mut link = port(&lab, 1, "").remove(0);
    let mut sender = sender(&lab, Side::B);
    let single = frame(1, Some(0xa123), 100);
    // An outer tag of the provider's kind around a customer's.
    let double = [&single[..12], &[0x88, 0xa8, 0x00, 0x07], &single[12..]].concat();
    let sent = [frame(0, None, 100), single, double];
    sent.iter().for_each(|frame| send(&mut sender, frame));
    let received = gather(&mut *link, 4);
    assert_eq!(received.iter().map(|(bytes, _)| bytes.clone()).collect::<Vec<_>>(), sent);
    for (bytes, wire_bytes) in received {
        assert_eq!(bytes.len(), wire_bytes as usize);
    }
}

#[test]
fn a_jumbo_frame_is_whole_and_a_cut_one_says_so() {
    let Some(lab) = lab(&Layout { mtu: 9_000, ..Layout::default() }) else { return };
    let mut whole = port(&lab, 1, "").remove(0);
    let mut cut = port(&lab, 1, ",snap_bytes=128").remove(0);
    let mut sender = sender(&lab, Side::B);
    let sent = [frame(0, None, 8_972), frame(1, Some(5), 500), frame(2, None, 60)];
    sent.iter().for_each(|frame| send(&mut sender, frame));
    let expected = |most: usize| {
        let tagged = |frame: &Vec<u8>| if frame[12] == 0x81 { most + 4 } else { most };
        let cut = |frame: &Vec<u8>| frame[..frame.len().min(tagged(frame))].to_vec();
        sent.iter().map(|frame| (cut(frame), frame.len() as u32)).collect::<Vec<_>>()
    };
    assert_eq!(gather(&mut *whole, 3), expected(9_216));
    assert_eq!(gather(&mut *cut, 3), expected(128));
}

#[test]
fn frames_say_when_they_came() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let mut link = port(&lab, 1, "").remove(0);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64;
    let before = now();
    send(&mut sender(&lab, Side::B), &frame(0, None, 50));
    let mut burst = Burst::new();
    link.wait(Duration::from_secs(5)).unwrap();
    link.rx_burst(&mut burst).unwrap();
    let ts_ns = burst.iter().next().map(|frame| frame.ts_ns);
    assert!(ts_ns.is_some_and(|ts_ns| (before..=now()).contains(&ts_ns)), "{ts_ns:?} {before}");
}

#[test]
fn the_hosts_stack_is_kept_away_while_asked_for() {
    let Some(lab) = lab(&Layout { a: vec!["10.99.0.1/24".into()], ..Layout::default() }) else {
        return;
    };
    let socket = lab.inside(Side::A, || UdpSocket::bind("10.99.0.1:7000").unwrap());
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut sender = sender(&lab, Side::B);
    let mut check = |more: &str, stack_sees: bool| {
        let mut link = port(&lab, 1, more).remove(0);
        (0..10).for_each(|n| send(&mut sender, &frame(n, None, 50)));
        assert_eq!(gather(&mut *link, 10).len(), 10, "{more}");
        let seen = (0..10).filter(|_| socket.recv(&mut [0; 100]).is_ok()).count();
        assert_eq!(seen, if stack_sees { 10 } else { 0 }, "{more}");
        assert_eq!((link.stats().dropped.sum(), link.stats().loss_mark), (0, 0));
    };
    check("", true);
    check(",host_stack=0", false);
    check(",host_stack=1", true);
}

/// What a socket on this host sends over a veth pair has half a checksum only.
#[test]
fn checksums_left_to_an_interface_are_finished() {
    let (v4, v6) = ("10.99.0.2", "fd99::2");
    let b = vec![format!("{v4}/24"), format!("{v6}/64")];
    let layout = Layout { b, offloads: true, ipv6: true, ..Layout::default() };
    let Some(lab) = lab(&layout) else { return };
    lab.neighbour(Side::B, "10.99.0.1").unwrap();
    lab.neighbour(Side::B, "fd99::1").unwrap();
    let mut link = port(&lab, 1, "").remove(0);
    lab.inside(Side::B, || {
        for (from, to) in [(v4, "10.99.0.1:7000"), (v6, "[fd99::1]:7000")] {
            let socket = UdpSocket::bind((from, 0)).unwrap();
            for length in [0, 1, 50, 51, 1_400] {
                socket.send_to(&vec![0xa7; length], to).unwrap();
            }
        }
    });
    let mut lengths = Vec::new();
    for (bytes, _) in gather(&mut *link, 1_000) {
        let received = bloomrf_netio::Received::ethernet(&bytes, 0);
        // IPv6 says things of its own.
        let Ok(datagram) = udp(&received, Checksums::Trust) else { continue };
        if datagram.target_port == 7_000 {
            assert_eq!(udp(&received, Checksums::Verify).map(|_| ()), Ok(()));
            lengths.push(datagram.payload.len());
        }
    }
    assert_eq!(lengths, [0, 1, 50, 51, 1_400, 0, 1, 50, 51, 1_400]);
}
