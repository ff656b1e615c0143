use std::net::{Ipv4Addr, UdpSocket};
use std::time::Instant;

use super::*;
use crate::burst::BUFFER_BYTES;

const SECOND: Duration = Duration::from_secs(1);

fn config(listen: &str, queues: usize) -> UdpConfig {
    UdpConfig { listen: listen.parse().unwrap(), groups: vec![], receive_buffer: 1 << 20, queues }
}

/// Everything that arrives on `links` until `count` datagrams have, or a while has passed.
fn receive(links: &mut [UdpLink], count: usize) -> Vec<(usize, Vec<u8>)> {
    let (mut seen, begin) = (Vec::new(), Instant::now());
    while seen.len() < count && begin.elapsed() < 10 * SECOND {
        for (queue, link) in links.iter_mut().enumerate() {
            link.wait(Duration::from_millis(2)).unwrap();
            let mut burst = Burst::new();
            link.rx_burst(&mut burst).unwrap();
            seen.extend(burst.iter().map(|r| (queue, r.bytes.to_vec())));
        }
    }
    seen
}

#[test]
fn datagrams_cross_the_loopback_on_ipv4_and_ipv6() {
    for listen in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(mut links) = UdpLink::open(&config(listen, 1)) else {
            println!("skipped: no {listen}");
            continue;
        };
        let mut sender = UdpSender::connect(&[links[0].local_addr()]).unwrap();
        for i in 0..200_u8 {
            sender.send(&[i; 100]).unwrap();
        }
        let seen = receive(&mut links, 200);
        assert_eq!(seen, (0..200_u8).map(|i| (0, vec![i; 100])).collect::<Vec<_>>());
        let expected = LinkStats { received: 200, bytes: 20_000, ..LinkStats::default() };
        assert_eq!(links[0].stats(), expected);
        assert_eq!(sender.stats().sent, 200);
    }
}

#[test]
fn a_port_of_a_foreign_process_is_an_error_even_where_it_could_be_shared() {
    let foreign =
        Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, Some(socket2::Protocol::UDP))
            .unwrap();
    foreign.set_reuse_port(true).unwrap();
    foreign.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    let port = foreign.local_addr().unwrap().as_socket().unwrap().port();
    for queues in [1, 4] {
        let error = UdpLink::open(&config(&format!("127.0.0.1:{port}"), queues)).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(&format!("udp 127.0.0.1:{port}: address in use; ")), "{text}");
    }
}

#[test]
fn a_second_node_cannot_join_the_queues_of_the_first() {
    for queues in [1, 4] {
        let first = UdpLink::open(&config("127.0.0.1:0", queues)).unwrap();
        let same = first[0].local_addr().to_string();
        for other in [1, 4] {
            assert!(UdpLink::open(&config(&same, other)).is_err(), "{queues} {other}");
        }
        drop(first);
        assert_eq!(UdpLink::open(&config(&same, queues)).unwrap().len(), queues);
    }
}

#[test]
fn queues_share_one_port_and_a_flow_stays_on_one_queue() {
    let mut links = UdpLink::open(&config("127.0.0.1:0", 4)).unwrap();
    let target = links[0].local_addr();
    assert!(links.iter().all(|l| l.local_addr() == target && target.port() != 0));
    for lane in 0..32_u8 {
        let mut sender = UdpSender::connect(&[target]).unwrap();
        (0..5).for_each(|_| sender.send(&[lane]).unwrap());
    }
    let seen = receive(&mut links, 160);
    assert_eq!(seen.len(), 160);
    for lane in 0..32_u8 {
        let mut queues = seen.iter().filter(|(_, d)| d[0] == lane).map(|(q, _)| *q);
        let first = queues.next().unwrap();
        assert!(queues.all(|q| q == first));
    }
    let used = (0..4).filter(|q| seen.iter().any(|(queue, _)| queue == q)).count();
    assert!(used >= 2, "32 flows on {used} of 4 queues");
}

#[test]
fn each_multicast_datagram_reaches_exactly_one_queue() {
    let group = Ipv4Addr::new(239, 255, 71, 9);
    let mut config = config("127.0.0.1:0", 3);
    config.groups = vec![group.into()];
    let mut links = match UdpLink::open(&config) {
        Ok(links) => links,
        Err(error) => return println!("skipped: {error}"),
    };
    let port = links[0].local_addr().port();
    let targets = [(group, port).into(), (Ipv4Addr::LOCALHOST, port).into()];
    for lane in 0..20_u8 {
        for (kind, target) in targets.iter().enumerate() {
            let mut sender = UdpSender::connect(&[*target]).unwrap();
            sender.set_multicast_interface(Ipv4Addr::LOCALHOST).unwrap();
            sender.send(&[kind as u8, lane]).unwrap();
        }
    }
    let mut seen: Vec<_> = receive(&mut links, 40).into_iter().map(|(_, d)| d).collect();
    seen.extend(receive_more(&mut links));
    seen.sort();
    let expected = |kind: u8| (0..20).map(move |lane| vec![kind, lane]);
    assert_eq!(seen, expected(0).chain(expected(1)).collect::<Vec<_>>());
}

/// What else is there: copies, where there should be none.
fn receive_more(links: &mut [UdpLink]) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    for link in links {
        link.wait(Duration::from_millis(20)).unwrap();
        let mut burst = Burst::new();
        link.rx_burst(&mut burst).unwrap();
        seen.extend(burst.iter().map(|r| r.bytes.to_vec()));
    }
    seen
}

#[test]
fn a_datagram_longer_than_a_buffer_is_counted_and_not_delivered() {
    let mut links = UdpLink::open(&config("127.0.0.1:0", 1)).unwrap();
    let mut sender = UdpSender::connect(&[links[0].local_addr()]).unwrap();
    for length in [BUFFER_BYTES + 1, BUFFER_BYTES, 0, 60_000] {
        sender.send(&vec![7; length]).unwrap();
    }
    let lengths: Vec<_> = receive(&mut links, 2).iter().map(|(_, d)| d.len()).collect();
    assert_eq!(lengths, [BUFFER_BYTES, 0]);
    receive_more(&mut links);
    assert_eq!(links[0].stats().oversize, 2);
    let error = sender.send(&vec![0; 70_000]).unwrap_err().to_string();
    assert!(error.contains("70000 bytes"), "{error}");
}

#[test]
fn a_wait_ends_by_datagram_by_waker_and_by_time() {
    let mut links = UdpLink::open(&config("127.0.0.1:0", 1)).unwrap();
    let (waker, target, begin) = (links[0].waker(), links[0].local_addr(), Instant::now());
    (0..1_000).for_each(|_| waker.wake());
    for _ in 0..5 {
        links[0].wait(60 * SECOND).unwrap();
        waker.wake();
    }
    // The wakes are used up (a read may leave some of a thousand): then only time ends a wait.
    (0..10).for_each(|_| links[0].wait(Duration::ZERO).unwrap());
    let idle = Instant::now();
    links[0].wait(Duration::from_millis(20)).unwrap();
    assert!(idle.elapsed() >= Duration::from_millis(19));
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"x", target).unwrap();
    });
    links[0].wait(60 * SECOND).unwrap();
    other.join().unwrap();
    assert_eq!(receive(&mut links, 1), [(0, b"x".to_vec())]);
    assert!(begin.elapsed() < 30 * SECOND);
}

#[test]
fn nobody_listening_does_not_stop_a_sender() {
    let gone = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut links = UdpLink::open(&config("127.0.0.1:0", 1)).unwrap();
    let mut sender = UdpSender::connect(&[gone, links[0].local_addr()]).unwrap();
    (0..10).for_each(|_| sender.send(b"still here").unwrap());
    assert_eq!(receive(&mut links, 10).len(), 10);
}

#[test]
fn what_the_kernel_drops_is_told_by_the_gauge() {
    let mut config = config("127.0.0.1:0", 1);
    config.receive_buffer = 4_096;
    let mut links = UdpLink::open(&config).unwrap();
    let Some(gauge) = links[0].drop_gauge().filter(|g| g.read().is_some()) else {
        return println!("skipped: no drop count on this system");
    };
    let mut sender = UdpSender::connect(&[links[0].local_addr()]).unwrap();
    (0..200).for_each(|_| sender.send(&[0; 1_000]).unwrap());
    let received = receive_more(&mut links).len() as u64;
    assert_eq!(received + gauge.read().unwrap(), 200);
    assert!(received < 200);
}

#[test]
fn impossible_settings_are_named() {
    let text = |config: &UdpConfig| UdpLink::open(config).unwrap_err().to_string();
    assert!(text(&config("127.0.0.1:0", 0)).contains("0 queues"));
    assert!(text(&config("127.0.0.1:0", 65)).contains("65 queues"));
    assert!(text(&config("192.0.2.77:0", 1)).contains("no interface of this machine"));
    let mut other = config("0.0.0.0:0", 1);
    other.groups = vec!["ff02::77".parse().unwrap()];
    assert!(text(&other).contains("the other IP family"));
    other.groups = vec!["10.1.1.1".parse().unwrap()];
    assert!(text(&other).contains("10.1.1.1: not a multicast address"));
}

#[test]
fn sources_are_told_once_they_are_asked_for() {
    let config = UdpConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        groups: Vec::new(),
        receive_buffer: 0,
        queues: 1,
    };
    let mut link = UdpLink::open(&config).unwrap().remove(0);
    let senders =
        ["127.0.0.1", "127.9.8.7"].map(|address| std::net::UdpSocket::bind((address, 0)).unwrap());
    let received = |link: &mut UdpLink| {
        senders.iter().for_each(|s| _ = s.send_to(b"x", link.local_addr()).unwrap());
        link.wait(Duration::from_secs(10)).unwrap();
        let mut sources = Vec::new();
        while sources.len() < 2 {
            let mut burst = Burst::new();
            link.rx_burst(&mut burst).unwrap();
            sources.extend(burst.iter().map(|r| r.source));
        }
        sources
    };
    assert_eq!(received(&mut link), [0, 0]);
    assert!(link.keep_sources());
    let mapped = |text: &str| text.parse::<std::net::Ipv6Addr>().unwrap().to_bits();
    let expected = [mapped("::ffff:127.0.0.1"), mapped("::ffff:127.9.8.7")];
    assert_eq!(received(&mut link), expected);
}

#[test]
fn one_call_per_burst_gives_what_one_call_per_datagram_gives() {
    let mut seeded =
        crate::seeded::Seeded::new("one_call_per_burst_gives_what_one_call_per_datagram_gives");
    let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
    let (many, each): (Socket, Socket) = (bind().into(), bind().into());
    let targets = [&many, &each].map(|s| s.local_addr().unwrap().as_socket().unwrap());
    let senders = ["127.0.0.1", "127.3.2.1"].map(|ip| UdpSocket::bind((ip, 0)).unwrap());
    let (mut by_many, mut by_each) = (receive::Receiver::new(), receive_each::Receiver::new());
    let (mut stats_many, mut stats_each) = (LinkStats::default(), LinkStats::default());
    let lengths = [0, 1, 64, 1_472, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 20_000];
    for round in 0..60 {
        // None, some, a full burst, and more than one; a receive buffer holds few long ones.
        let count = [0, 1, 5, 64, 70][seeded.below(5)];
        let kinds = if count > 5 { 4 } else { lengths.len() };
        for _ in 0..count {
            let length = lengths[seeded.below(kinds)];
            let datagram = seeded.bytes(length);
            let sender = &senders[seeded.below(2)];
            targets.iter().for_each(|target| _ = sender.send_to(&datagram, target).unwrap());
        }
        let keeps = round % 2 == 0;
        for _ in 0..2 {
            let (mut burst_many, mut burst_each) = (Burst::new(), Burst::new());
            by_many.rx_burst(&many, keeps, &mut burst_many, &mut stats_many).unwrap();
            by_each.rx_burst(&each, keeps, &mut burst_each, &mut stats_each).unwrap();
            assert!(burst_many.iter().eq(burst_each.iter()), "round {round}");
            assert_eq!(stats_many, stats_each);
        }
    }
    assert!(stats_many.oversize > 0 && stats_many.received > 100);
}

#[test]
fn an_icmp_answer_to_what_was_sent_from_the_port_is_no_error() {
    let gone = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut link = UdpLink::open(&config("127.0.0.1:0", 1)).unwrap().remove(0);
    // A socket that is connected hears of such answers.
    link.socket.connect(&gone.into()).unwrap();
    let mut burst = Burst::new();
    for _ in 0..3 {
        let _ = link.socket.send(b"nobody");
    }
    link.rx_burst(&mut burst).unwrap();
    assert!(burst.is_empty());
}
