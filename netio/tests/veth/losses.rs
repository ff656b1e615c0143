//! What is lost is counted; what goes away is said.

use std::time::{Duration, Instant};

use bloomrf_lab::{Layout, Side};
use bloomrf_netio::{Burst, Link};

use crate::common::{frame, gather, lab, port, send, sender};

#[test]
fn a_full_ring_drops_and_counts_each_frame() {
    let Some(lab) = lab(&Layout { queues: 2, ..Layout::default() }) else { return };
    for queues in [1, 2] {
        let mut links = port(&lab, queues, ",block_kib=64,blocks=2");
        let mut sender = sender(&lab, Side::B);
        let sent = 10_000;
        (0..sent).for_each(|n| send(&mut sender, &frame(n, None, 200)));
        let mut received = 0;
        for link in &mut links {
            let marked = link.stats().loss_mark;
            received += gather(&mut **link, sent as usize).len() as u64;
            assert!(marked > 0, "{queues} queues");
        }
        let stats: Vec<_> = links.iter().map(|link| link.stats()).collect();
        let dropped: u64 = stats.iter().map(|stats| stats.dropped.sum()).sum();
        assert_eq!(received + dropped, u64::from(sent), "{stats:?}");
        assert!(stats.iter().all(|stats| stats.dropped.ring == stats.dropped.sum()), "{stats:?}");
        assert!(received > 0 && dropped > 1_000, "{stats:?}");
        // With room again, nothing more is lost. One by one: two blocks are soon handed over with
        // little in them.
        for n in 0..20 {
            send(&mut sender, &frame(n, None, 200));
            let deadline = Instant::now() + Duration::from_secs(20);
            while links.iter_mut().map(|link| take(&mut **link)).sum::<usize>() == 0 {
                assert!(Instant::now() < deadline, "frame {n} was lost");
            }
        }
        let after: Vec<_> = links.iter().map(|link| link.stats().dropped.ring).collect();
        let before: Vec<_> = stats.iter().map(|stats| stats.dropped.ring).collect();
        assert_eq!(after, before);
    }
}

/// What is there now.
fn take(link: &mut dyn Link) -> usize {
    link.wait(Duration::from_millis(2)).expect("the link sleeps");
    let mut burst = Burst::new();
    link.rx_burst(&mut burst).expect("the link receives");
    burst.len()
}

#[test]
fn an_interface_that_comes_back_goes_on_and_the_gap_is_marked() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let mut link = port(&lab, 1, "").remove(0);
    let mut sender = sender(&lab, Side::B);
    send(&mut sender, &frame(0, None, 50));
    assert_eq!(gather(&mut *link, 1).len(), 1);
    let before = link.stats();
    lab.set_up(Side::A, false).unwrap();
    let started = Instant::now();
    link.wait(Duration::from_millis(1)).unwrap();
    // Told once: the next sleep is a sleep.
    link.wait(Duration::from_millis(50)).unwrap();
    assert!(started.elapsed() >= Duration::from_millis(50));
    assert!(link.stats().loss_mark > before.loss_mark);
    lab.set_up(Side::A, true).unwrap();
    (1..50).for_each(|n| send(&mut sender, &frame(n, None, 50)));
    assert_eq!(gather(&mut *link, 49).len(), 49);
    assert_eq!(link.stats().received, 50);
}

#[test]
fn a_removed_interface_is_an_error_that_says_so() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let mut link = port(&lab, 1, "").remove(0);
    lab.ip(Side::A, &["link", "del", "veth-a"]).unwrap();
    let said = link.wait(Duration::from_secs(5)).unwrap_err().to_string();
    assert!(said.contains("interface `veth-a` was removed"), "{said}");
    assert!(link.rx_burst(&mut Burst::new()).is_err());
}

#[test]
fn a_wake_ends_a_sleep() {
    let Some(lab) = lab(&Layout::default()) else { return };
    let mut link = port(&lab, 1, "").remove(0);
    let (waker, started) = (link.waker(), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(move || waker.wake());
        link.wait(Duration::from_secs(10)).unwrap();
    });
    assert!(started.elapsed() < Duration::from_secs(5));
}
