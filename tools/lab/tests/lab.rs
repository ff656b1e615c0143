//! What a lab promises.

use std::net::UdpSocket;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bloomrf_lab::{Lab, Layout, Side};

fn lab(layout: &Layout) -> Option<Lab> {
    Lab::with(layout).map_err(|reason| println!("skipped: {reason}")).ok()
}

fn exists(name: &str) -> bool {
    std::path::Path::new("/run/netns").join(name).exists()
}

#[test]
fn datagrams_cross_between_the_sides_and_nowhere_else() {
    let layout = Layout {
        queues: 2,
        a: vec!["10.99.0.1/24".into()],
        b: vec!["10.99.0.2/24".into()],
        ..Layout::default()
    };
    let Some(lab) = lab(&layout) else { return };
    // Threads and sockets made inside stay inside.
    let receiver = lab.inside(Side::A, || UdpSocket::bind("10.99.0.1:7000").unwrap());
    assert!(UdpSocket::bind("10.99.0.1:7001").is_err(), "the host has the address");
    lab.inside(Side::B, || {
        let sender = std::thread::spawn(|| UdpSocket::bind("10.99.0.2:0").unwrap()).join().unwrap();
        sender.send_to(b"hello", "10.99.0.1:7000").unwrap();
    });
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut buffer = [0; 16];
    let (length, source) = receiver.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..length], source.ip().to_string().as_str()), (&b"hello"[..], "10.99.0.2"));
}

#[test]
fn labs_live_side_by_side_and_go_when_a_test_panics() {
    let (Some(first), Some(second)) = (lab(&Layout::default()), lab(&Layout::default())) else {
        return;
    };
    let names = Side::BOTH.map(|side| first.name(side).to_owned());
    assert!(names.iter().all(|name| exists(name) && name != second.name(Side::A)));
    assert!(first.is_up(Side::A) && second.is_up(Side::B));
    let panicked = catch_unwind(AssertUnwindSafe(move || {
        first.inside(Side::A, || panic!("on purpose"));
    }));
    let said = panicked.unwrap_err().downcast_ref::<&str>().copied();
    assert_eq!(said, Some("on purpose"));
    assert!(!names.iter().any(|name| exists(name)), "{names:?} are left");
    assert!(exists(second.name(Side::A)));
}

#[test]
fn a_raw_lab_is_silent() {
    let Some(lab) = lab(&Layout::default()) else { return };
    std::thread::sleep(Duration::from_millis(50));
    for side in Side::BOTH {
        let device = side.interface();
        let table =
            lab.inside(side, || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap());
        let line = table.lines().find(|line| line.trim_start().starts_with(device)).unwrap();
        let packets: Vec<&str> = line.split_ascii_whitespace().collect();
        assert_eq!((packets[2], packets[10]), ("0", "0"), "{line}");
    }
}
