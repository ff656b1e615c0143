//! Claims about the way from a poll loop to the port's thread.

use std::time::Instant;

use bloomrf_netio::parse;

use super::*;

#[test]
fn a_sleeping_port_is_woken_for_every_burst() {
    let (running, mut to_port) = Bench::new().run();
    let frame = Datagram::of(question(8, true)).frame();
    let start = Instant::now();
    for burst in 1..=200 {
        assert!(to_port.push(&frame));
        to_port.wake();
        while running.sent() < burst {
            assert!(start.elapsed() < Duration::from_secs(60), "burst {burst} is not answered");
            thread::yield_now();
        }
        // Now and then it has gone to sleep by then.
        thread::sleep(Duration::from_micros(if burst % 10 == 0 { 3_000 } else { 0 }));
    }
    // A lost wake-up costs a whole sleep of 100 ms.
    assert!(start.elapsed() < SLEEP_MAX * 100, "{:?}", start.elapsed());
    running.end();
}

#[test]
fn only_frames_that_the_port_answers_are_wanted() {
    let (running, to_port) = Bench::new().run();
    let good = Datagram::of(question(8, true));
    let wants = |frame: &[u8]| {
        let parsed = parse::udp(&Received::ethernet(frame, 0), Checksums::Verify);
        to_port.wants(frame, &parsed)
    };
    assert!(wants(&good.frame()));
    assert!(wants(&Datagram { ips: Ips::V6(IP_6, OWN_6), ..good.clone() }.frame()));
    assert!(wants(&super::stack::arp(IP, OWN, [0xff; 6])));
    assert!(wants(&super::stack::ping(MAC, IP, 8)));
    assert!(!wants(&Datagram { ports: (PORT, 6_987), ..good.clone() }.frame()));
    assert!(!wants(&Datagram { ips: Ips::V4(IP, [10, 99, 0, 255]), ..good.clone() }.frame()));
    assert!(!wants(&super::stack::arp(IP, [10, 99, 0, 7], [0xff; 6])));
    assert!(!wants(&super::stack::ping(MAC, OWN, 8)));
    assert!(!wants(&good.frame()[..50]));
    assert!(!wants(&[]));
    running.end();
}
