//! The plain `udp` link over the same pair.

use std::net::UdpSocket;

use bloomrf_lab::{Layout, Side};
use bloomrf_netio::link::PortOptions;
use bloomrf_netio::link::udp::host_losses;
use bloomrf_netio::{Burst, Framing, Link};

use crate::common::{gather, lab, open_in, options};

#[test]
fn datagrams_arrive_each_once_over_one_and_two_queues() {
    for queues in [1, 2] {
        let layout = Layout {
            queues,
            a: vec!["10.99.0.1/24".into()],
            b: vec!["10.99.0.2/24".into()],
            ..Layout::default()
        };
        let Some(lab) = lab(&layout) else { return };
        let mut links = open_in(&lab, "udp", &options(queues)).unwrap().links;
        assert_eq!(links[0].framing(), Framing::Payloads);
        let flows: Vec<UdpSocket> = (0..32)
            .map(|_| lab.inside(Side::B, || UdpSocket::bind("10.99.0.2:0").unwrap()))
            .collect();
        let mut seen = Vec::new();
        let mut take = |links: &mut [Box<dyn Link>]| {
            let mut any = true;
            while any {
                any = false;
                for link in links.iter_mut() {
                    let mut burst = Burst::new();
                    link.rx_burst(&mut burst).unwrap();
                    any |= !burst.is_empty();
                    seen.extend(burst.iter().map(|datagram| {
                        u32::from_be_bytes(*datagram.bytes.first_chunk().unwrap())
                    }));
                }
            }
            seen.len()
        };
        for n in 0..4_000_u32 {
            let socket = &flows[n as usize % flows.len()];
            socket.send_to(&n.to_be_bytes(), "10.99.0.1:7000").unwrap();
            if n % 200 == 199 {
                take(&mut links);
            }
        }
        // Over a veth pair a datagram has arrived when it has been sent, or soon after.
        for _ in 0..100 {
            if take(&mut links) >= 4_000 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        take(&mut links);
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..4_000), "{} of 4000 over {queues}", seen.len());
        let counts: Vec<u64> = links.iter().map(|link| link.stats().received).collect();
        assert_eq!(counts.iter().sum::<u64>(), 4_000);
        assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    }
}

/// A gauge looks where its thread is, not where the process began.
#[test]
fn what_a_socket_in_a_namespace_drops_is_told_there() {
    let a = vec!["10.99.0.1/24".into()];
    let b = vec!["10.99.0.2/24".into()];
    let Some(lab) = lab(&Layout { a, b, ..Layout::default() }) else { return };
    let small = PortOptions { receive_buffer: 4_096, ..options(1) };
    let port = open_in(&lab, "udp", &small).unwrap();
    let (mut link, gauge) = (port.links.into_iter().next().unwrap(), port.gauges[0]);
    let losses = || lab.inside(Side::A, || host_losses().unwrap());
    let (told, lost_before) = (|| lab.inside(Side::A, || gauge.read()), losses());
    assert_eq!(told(), Some(0));
    let sender = lab.inside(Side::B, || UdpSocket::bind("10.99.0.2:0").unwrap());
    let sent = 500;
    for _ in 0..sent {
        sender.send_to(&[7; 1_000], "10.99.0.1:7000").unwrap();
    }
    let received = gather(&mut *link, sent).len();
    assert!((1..sent).contains(&received), "{received}");
    let lost = (sent - received) as u64;
    assert_eq!((told(), losses() - lost_before), (Some(lost), lost));
}
