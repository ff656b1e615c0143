//! Claims about whatever else arrives: nothing that a frame says makes the port shout, stop or
//! forget to count.

use super::*;

/// splitmix64, by a seed that is printed and that `SEED=` repeats.
struct Seeded(u64);

impl Seeded {
    fn new(test: &str) -> Self {
        let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(1, |since| since.as_nanos() as u64)
        });
        println!("{test}: SEED={seed}");
        Seeded(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn mostly<T: Copy>(&mut self, usual: T, others: &[T]) -> T {
        if self.below(6) > 0 { usual } else { self.one_of(others) }
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// A lookup with some of it wrong, or right.
fn datagram(seeded: &mut Seeded) -> Vec<u8> {
    let candidates = seeded.one_of(&[0, 1, 8, 100, 900, 5_000, 11_000, 12_000]);
    let mut payload = question(candidates, seeded.below(3) > 0);
    payload.truncate(1_480);
    if seeded.below(4) == 0 {
        let (at, bit) = (seeded.below(payload.len()), seeded.below(8));
        payload[at] ^= 1 << bit;
    }
    let mut group = [0; 16];
    (group[0], group[1], group[15]) = (0xff, 2, 1);
    let macs = [OWN_MAC, [0xff; 6], [0; 6], [0x33, 0x33, 0, 0, 0, 1]];
    let own_macs = [MAC, [0xff; 6], [1, 0, 0x5e, 0, 0, 1]];
    let ips = [OWN, [0; 4], [255; 4], [10, 99, 0, 255], [224, 0, 0, 1], [8, 8, 8, 8]];
    let own_ips = [IP, [255; 4], [10, 99, 0, 255], [224, 0, 0, 1]];
    let ips = match seeded.below(3) {
        0 => Ips::V6(
            seeded.mostly(IP_6, &[OWN_6, group, [0; 16]]),
            seeded.mostly(OWN_6, &[IP_6, group]),
        ),
        _ => Ips::V4(seeded.mostly(IP, &ips), seeded.mostly(OWN, &own_ips)),
    };
    let ports = (seeded.mostly(PORT, &[LOOKUP, 0, 53]), seeded.mostly(LOOKUP, &[53]));
    let macs = (seeded.mostly(MAC, &macs), seeded.mostly(OWN_MAC, &own_macs));
    let vlan = seeded.mostly(None, &[Some(0), Some(77)]);
    Datagram { macs, vlan, ips, ports, payload }.frame()
}

/// What a reply must be, whatever was asked.
fn check(request: &[u8], sent: &[Vec<u8>]) {
    assert!(sent.len() <= 1, "{} frames for one datagram", sent.len());
    let Some(reply) = sent.first() else { return };
    let (asked, told) = (read(request), read(reply));
    assert!(reply.len() <= request.len(), "{} bytes for {}", reply.len(), request.len());
    assert!(told.payload.len() <= asked.payload.len());
    assert_eq!((told.macs, asked.macs.1), ((OWN_MAC, asked.macs.0), OWN_MAC));
    assert_eq!((told.ports, told.vlan), ((LOOKUP, asked.ports.0), asked.vlan));
    assert!(told.macs.1[0] & 1 == 0 && told.ports.1 != LOOKUP && told.ports.1 != 0);
    match (asked.ips, told.ips) {
        (Ips::V4(source, _), Ips::V4(from, to)) => {
            assert_eq!((from, to), (OWN, source));
            assert!(to == IP || to == [8, 8, 8, 8], "{to:?}");
        }
        (Ips::V6(source, _), Ips::V6(from, to)) => {
            assert_eq!((from, to, source), (OWN_6, IP_6, IP_6));
        }
        _ => panic!("another family"),
    }
}

#[test]
fn no_random_datagram_raises_a_longer_reply_or_one_to_others_than_its_sender() {
    let mut seeded = Seeded::new("no_random_datagram_raises_a_longer_reply");
    let mut bench = Bench::new();
    let (mut frames, mut answered) = (0, 0);
    for _ in 0..4_000 {
        let mut frame = datagram(&mut seeded);
        if seeded.below(4) == 0 {
            let (at, bit) = (seeded.below(frame.len()), seeded.below(8));
            frame[at] ^= 1 << bit;
        }
        if seeded.below(8) == 0 {
            frame.truncate(seeded.below(frame.len()));
        }
        let sent = bench.give(&frame);
        frames += 1;
        if bench.counted(PortOutcome::Answered) > answered {
            answered += 1;
            check(&frame, &sent);
            assert_eq!(sent.len(), 1);
        } else {
            let longest = sent.iter().map(Vec::len).max().unwrap_or(0);
            assert!(longest <= frame.len().max(60), "{longest} bytes for {}", frame.len());
        }
    }
    assert!(answered > 300, "only {answered} were answered");
    assert_eq!(bench.shared.metrics.port.frames(), frames);
}

#[test]
fn a_full_ring_refuses_and_what_was_in_it_is_answered() {
    let mut bench = Bench::new();
    let frame = Datagram::of(question(8, true)).frame();
    let pushed = (0..TO_PORT_MAX + 5).filter(|_| bench.push(&frame)).count();
    assert_eq!(pushed, TO_PORT_MAX);
    assert_eq!(bench.rest().len(), TO_PORT_MAX);
}

#[test]
fn a_frame_longer_than_a_slot_is_not_pushed() {
    let mut bench = Bench::new();
    assert!(!bench.push(&[0; slot::SLOT_BYTES + 1]));
    assert!(bench.push(&[0; slot::SLOT_BYTES]));
}

#[test]
fn a_flood_for_the_stack_delays_a_lookup_by_no_more_than_a_turn() {
    let mut bench = Bench::new();
    let ping = super::stack::ping(MAC, IP, 1_400);
    let lookup = Datagram::of(question(8, true)).frame();
    for _ in 0..20 {
        while bench.push(&ping) {}
        // As fast as the ring empties: the lookup is behind at most a turn's frames each time.
        bench.turn();
    }
    bench.sent();
    let waiting = TO_PORT_MAX - bench.port.frames[0].slots();
    assert!(bench.push(&lookup), "{waiting} free");
    let turns = (1..).find(|_| {
        bench.turn();
        bench.sent().iter().any(|frame| frame[23] == 17)
    });
    assert!(turns.unwrap() <= TO_PORT_MAX.div_ceil(FRAMES_PER_TURN));
    assert!(bench.port.waiting.len() <= WAITING_MAX);
    bench.rest();
    let counted = [PortOutcome::Stack, PortOutcome::StackFull, PortOutcome::Answered];
    let counted: u64 = counted.iter().map(|outcome| bench.counted(*outcome)).sum();
    assert_eq!(bench.shared.metrics.port.frames(), counted);
    assert!(bench.counted(PortOutcome::StackFull) > 0);
}
