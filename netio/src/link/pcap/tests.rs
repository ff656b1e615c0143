use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use etherparse::PacketBuilder;

use super::*;
use crate::burst::BUFFER_BYTES;
use crate::capture::writer::PcapWriter;
use crate::parse;
use crate::rss::Flow;
use crate::seeded::Seeded;

/// A clock that stands still until told otherwise.
#[derive(Default)]
struct Hands(Mutex<u64>);

impl Hands {
    fn set(&self, now_ns: u64) {
        *self.0.lock().unwrap() = now_ns;
    }
}

impl Clock for Hands {
    fn now_ns(&self) -> u64 {
        *self.0.lock().unwrap()
    }
}

/// A frame as it was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    ts_ns: i64,
    bytes: Vec<u8>,
    wire_bytes: u32,
}

const FIRST_NS: i64 = 1_700_000_000_000_000_000;

/// Frames of some flows, with ARP between them, 1 ms apart.
fn frames(seeded: &mut Seeded, count: usize) -> Vec<Frame> {
    let frame = |i: usize| {
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let mut bytes = Vec::new();
        match seeded.below(10) {
            0 => bytes.extend([vec![0xff; 12], vec![8, 6], seeded.bytes(28)].concat()),
            1 => builder
                .ipv6([0x20; 16], [0xfd; 16], 9)
                .udp(seeded.below(99) as u16, 6987)
                .write(&mut bytes, b"over IPv6")
                .unwrap(),
            _ => {
                let length = seeded.below(1_400);
                let payload = seeded.bytes(length);
                let port = 40_000 + seeded.below(20) as u16;
                let builder = builder.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9).udp(port, 6987);
                builder.write(&mut bytes, &payload).unwrap();
            }
        }
        let wire_bytes = bytes.len() as u32 + 4;
        Frame { ts_ns: FIRST_NS + 1_000_000 * i as i64, bytes, wire_bytes }
    };
    (0..count).map(frame).collect()
}

fn written(folder: &Path, frames: &[Frame]) -> PathBuf {
    let mut writer = PcapWriter::new(Vec::new(), 1).unwrap();
    for frame in frames {
        writer.write(frame.ts_ns, &frame.bytes, frame.wire_bytes).unwrap();
    }
    let path = folder.join("written.pcap");
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

fn config(path: &Path, looped: bool, speed: Speed, queues: usize) -> PcapConfig {
    PcapConfig { path: path.to_owned(), looped, speed, queues }
}

fn open(config: &PcapConfig) -> Vec<PcapLink> {
    PcapLink::open(config, Arc::new(Monotonic::new())).unwrap().0
}

/// One burst.
fn burst(link: &mut PcapLink) -> Vec<Frame> {
    let mut burst = Burst::new();
    link.rx_burst(&mut burst).unwrap();
    let frame = |r: &Received<'_>| {
        assert_eq!((r.source, r.link_type), (0, 1));
        Frame { ts_ns: r.ts_ns, bytes: r.bytes.to_vec(), wire_bytes: r.wire_bytes }
    };
    burst.iter().map(frame).collect()
}

/// All bursts, to the end or until there are `count` frames.
fn play(link: &mut PcapLink, count: usize) -> Vec<Frame> {
    let mut seen = Vec::new();
    while !link.is_exhausted() && seen.len() < count {
        seen.extend(burst(link));
    }
    seen
}

#[test]
fn one_queue_delivers_the_file_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded::new("one_queue_delivers_the_file_and_ends");
    for count in [0, 1, 63, 64, 65, 500] {
        let frames = frames(&mut seeded, count);
        let path = written(folder.path(), &frames);
        let mut link = open(&config(&path, false, Speed::Max, 1)).remove(0);
        assert!(!link.is_exhausted());
        assert_eq!(play(&mut link, usize::MAX), frames);
        assert!(burst(&mut link).is_empty() && link.is_exhausted());
        let bytes = frames.iter().map(|f| f.bytes.len() as u64).sum();
        let expected = LinkStats { received: count as u64, bytes, ..LinkStats::default() };
        assert_eq!(link.stats(), expected);
    }
}

#[test]
fn queues_share_the_file_by_flow_each_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded::new("queues_share_the_file_by_flow_each_in_its_order");
    let frames = frames(&mut seeded, 700);
    let path = written(folder.path(), &frames);
    for (queues, looped) in [(2, false), (2, true), (5, false), (5, true), (64, true)] {
        let rss = Rss::symmetric(queues);
        let queue_of = |frame: &Frame| {
            let flow = Flow::of(&parse::headers(1, &frame.bytes).0);
            flow.map_or(0, |flow| rss.queue(&flow))
        };
        let mut sum = 0;
        let mut links = open(&config(&path, looped, Speed::Max, queues));
        for (queue, link) in links.iter_mut().enumerate() {
            let mine: Vec<_> = frames.iter().filter(|f| queue_of(f) == queue).cloned().collect();
            let seen = match mine.len() {
                0 if looped => burst(link),
                count => play(link, count),
            };
            assert_eq!(seen[..mine.len()], mine[..], "queue {queue} of {queues}");
            sum += mine.len();
        }
        assert_eq!(sum, frames.len());
        assert!(queues > 20 || links.iter().all(|link| link.stats().received > 0));
    }
}

#[test]
fn rounds_repeat_the_file_at_the_same_place_with_times_that_grow() {
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded::new("rounds_repeat_the_file_at_the_same_place_with_times_that_grow");
    let frames = frames(&mut seeded, 100);
    let path = written(folder.path(), &frames);
    let mut link = open(&config(&path, true, Speed::Max, 1)).remove(0);
    let mut places = Vec::new();
    let mut seen = Vec::new();
    while seen.len() < 1_000 {
        let mut burst = Burst::new();
        link.rx_burst(&mut burst).unwrap();
        assert!(burst.is_full());
        places.extend(burst.iter().map(|r| r.bytes.as_ptr() as usize));
        seen.extend(burst.iter().map(|r| (r.ts_ns, r.bytes.to_vec())));
    }
    for (i, (ts_ns, bytes)) in seen.iter().enumerate() {
        // 100 packets 1 ms apart: the next pass begins 1 ms behind the last.
        assert_eq!(*ts_ns, FIRST_NS + 1_000_000 * i as i64);
        assert_eq!((bytes, places[i]), (&frames[i % 100].bytes, places[i % 100]));
    }
    assert!(!link.is_exhausted() && link.describe().ends_with("100 frames looped"));
}

#[test]
fn frames_are_due_as_the_file_says_or_at_a_fixed_rate() {
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded::new("frames_are_due_as_the_file_says_or_at_a_fixed_rate");
    let mut frames = frames(&mut seeded, 40);
    // A pause of a minute before the second half; in all 60,039 ms.
    frames[20..].iter_mut().for_each(|f| f.ts_ns += 60_000_000_000);
    let path = written(folder.path(), &frames);
    let ms = 1_000_000_u64;
    let by_file = |i: u64| if i < 20 { i * ms } else { (i + 60_000) * ms };
    let length = 60_039 * ms + 60_039 * ms / 39;
    for (speed, due) in [
        (Speed::Original, Box::new(by_file) as Box<dyn Fn(u64) -> u64>),
        (Speed::Rate(250.0), Box::new(|i| i * 4 * ms)),
        (Speed::Rate(0.5), Box::new(|i| i * 2_000 * ms)),
    ] {
        for (looped, rounds) in [(false, 1), (true, 3)] {
            let clock = Arc::new(Hands::default());
            let config = config(&path, looped, speed, 2);
            let (mut links, _) = PcapLink::open(&config, clock.clone()).unwrap();
            // Some time passes before anybody asks.
            let start = 77_000 * ms;
            clock.set(start);
            let mut seen: Vec<Frame> = Vec::new();
            for i in 0..40 * rounds {
                let round_ns = match speed {
                    Speed::Original => i / 40 * length,
                    _ => i / 40 * (due(40) - due(0)),
                };
                let due_ns = start + round_ns + due(i % 40);
                if i > 0 {
                    clock.set(due_ns - 1);
                    links.iter_mut().for_each(|l| assert!(burst(l).is_empty(), "{speed:?} {i}"));
                }
                clock.set(due_ns);
                links.iter_mut().for_each(|l| seen.extend(burst(l)));
                assert_eq!(seen.len() as u64, i + 1, "{speed:?}");
                assert_eq!(seen.last().unwrap().bytes, frames[i as usize % 40].bytes);
            }
        }
    }
}

#[test]
fn what_became_due_meanwhile_is_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded::new("what_became_due_meanwhile_is_waiting");
    let frames = frames(&mut seeded, 200);
    let path = written(folder.path(), &frames);
    let clock = Arc::new(Hands::default());
    let config = config(&path, false, Speed::Original, 1);
    let mut link = PcapLink::open(&config, clock.clone()).unwrap().0.remove(0);
    assert_eq!(burst(&mut link), frames[..1]);
    clock.set(150_500_000);
    assert_eq!(burst(&mut link), frames[1..65]);
    assert_eq!(burst(&mut link), frames[65..129]);
    assert_eq!(burst(&mut link), frames[129..151]);
    assert!(burst(&mut link).is_empty());
}

#[test]
fn a_wait_lasts_until_the_next_frame_is_due() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &frames(&mut Seeded::new("wait"), 3));
    let second = Duration::from_secs(1);
    for looped in [false, true] {
        let mut link = open(&config(&path, looped, Speed::Rate(20.0), 1)).remove(0);
        let begin = std::time::Instant::now();
        let mut seen = 0;
        while seen < 3 {
            link.wait(60 * second).unwrap();
            seen += burst(&mut link).len();
        }
        // Two distances of 50 ms.
        assert!(begin.elapsed() >= second / 10 && begin.elapsed() < 30 * second);
    }
    // Nothing more comes: only the waker, or time, ends the wait.
    let mut link = open(&config(&path, false, Speed::Max, 1)).remove(0);
    assert_eq!(play(&mut link, usize::MAX).len(), 3);
    let begin = std::time::Instant::now();
    link.waker().wake();
    link.wait(60 * second).unwrap();
    link.wait(second / 50).unwrap();
    assert!(begin.elapsed() >= second / 50 && begin.elapsed() < 30 * second);
}

#[test]
fn a_cut_file_plays_what_is_before_and_the_damage_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let frames = frames(&mut Seeded::new("cut"), 300);
    let path = written(folder.path(), &frames);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 7]).unwrap();
    for looped in [false, true] {
        let config = config(&path, looped, Speed::Max, 2);
        let (mut links, warnings) = PcapLink::open(&config, Arc::new(Monotonic::new())).unwrap();
        let one: usize = links.iter_mut().map(|link| play(link, 40).len()).sum();
        assert!(one > 0);
        if looped {
            assert!(warnings[0].contains("cut at byte "), "{warnings:?}");
            assert!(warnings[0].ends_with("the packets before it are played"), "{warnings:?}");
        } else {
            let rest: usize = links.iter_mut().map(|link| play(link, usize::MAX).len()).sum();
            assert_eq!(one + rest, 299);
            assert!(links.iter().all(|link| link.describe().contains(", cut at byte ")));
            assert!(links.iter().all(|link| link.stats().loss_mark == 1));
        }
        let errors: Vec<_> = links.iter().map(|link| link.stats().dropped.errors).collect();
        assert_eq!(errors, [1, 0]);
    }
}

#[test]
fn a_frame_longer_than_a_buffer_is_counted_on_one_queue_and_marked_on_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut frames = frames(&mut Seeded::new("oversize"), 90);
    frames[30].bytes.resize(BUFFER_BYTES + 1, 0);
    frames[60].bytes.resize(BUFFER_BYTES, 0);
    let path = written(folder.path(), &frames);
    for looped in [false, true] {
        let clock = Arc::new(Hands::default());
        let config = config(&path, looped, Speed::Original, 2);
        let (mut links, _) = PcapLink::open(&config, clock.clone()).unwrap();
        // The first burst begins the replay; 89 ms later one pass is over.
        let mut seen: usize = links.iter_mut().map(|l| burst(l).len()).sum();
        clock.set(89_000_000);
        for link in &mut links {
            (0..4).for_each(|_| seen += burst(link).len());
        }
        assert_eq!(seen, 89);
        assert_eq!(links.iter().map(|l| l.stats().oversize).sum::<u64>(), 1);
        assert!(links.iter().all(|l| l.stats().loss_mark == 1));
    }
}

#[test]
fn a_file_that_is_too_large_to_loop_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let frames = frames(&mut Seeded::new("large"), 100);
    let path = written(folder.path(), &frames);
    let open = |looped, bytes_max| {
        let config = config(&path, looped, Speed::Max, 2);
        PcapLink::open_within(&config, Arc::new(Monotonic::new()), bytes_max)
    };
    let error = open(true, 10_000).unwrap_err().to_string();
    for part in [path.to_str().unwrap(), "up to 10000 bytes", "play it once, without `loop`"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(open(false, 10_000).is_ok() && open(true, 200_000).is_ok());
}

#[test]
fn what_is_no_capture_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    std::fs::File::create(&path).unwrap().write_all(b"no capture at all").unwrap();
    let open = |path: &Path, looped, queues| {
        let config = config(path, looped, Speed::Max, queues);
        PcapLink::open(&config, Arc::new(Monotonic::new())).unwrap_err().to_string()
    };
    for looped in [false, true] {
        assert!(open(&path, looped, 1).contains("not a capture file"));
        assert!(open(&folder.path().join("none"), looped, 1).contains("No such file"));
        assert!(open(folder.path(), looped, 1).contains("not a file"));
        assert!(open(&path, looped, 0).contains("0 queues"));
        assert!(open(&path, looped, 65).contains("65 queues"));
    }
}
