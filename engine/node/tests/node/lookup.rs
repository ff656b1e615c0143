//! Questions over UDP and TCP.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bloomrf_engine::limits::{CANDIDATES_MAX, LOOKUP_BYTES_MAX};
use bloomrf_engine::predicate::Predicate;
use bloomrf_engine::wire::lookup::{
    Candidates, LookupReply, LookupStatus, PREFIX_BYTES, reply_bytes,
};
use socket2::{Domain, Socket, Type};

use crate::http::{get, metric};
use crate::world::{World, exchange, packets, wait_for};

fn ask_tcp(stream: &mut TcpStream, bytes: &[u8]) -> LookupReply {
    stream.write_all(&(bytes.len() as u32).to_le_bytes()).unwrap();
    stream.write_all(bytes).unwrap();
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).unwrap();
    let mut reply = vec![0; u32::from_le_bytes(prefix) as usize];
    stream.read_exact(&mut reply).unwrap();
    LookupReply::parse(&reply).unwrap()
}

/// Whether the node closes the connection within a while; silence is not closing.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    match stream.read(&mut [0; 1]) {
        Ok(length) => length == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn answers_over_udp_and_tcp_agree_and_are_right() {
    let mut world = World::start();
    for batch in 1..=3 {
        world.send(batch, &packets(400, 1_000 * batch as u16));
    }
    world.wait_verified(3);
    // Odd order, a duplicate, an unknown id: bit i is the i-th candidate as sent.
    let ids = [3, 1, 99, 2, 3];
    let reply = world.ask(world.port_is(2_002), &ids);
    assert_eq!(reply.status, LookupStatus::Ok);
    assert_eq!((reply.candidates, reply.evaluated, reply.no_filter), (5, 4, 1));
    let excluded: Vec<bool> = (0..5).map(|i| reply.is_excluded(i)).collect();
    assert_eq!(excluded, [true, true, false, false, true]);
    assert_eq!(reply.excluded_zone_map + reply.excluded_filter, 3);
    // Between min and max, on no packet: the exact bitmap knows.
    let reply = world.ask(world.port_is(2_003), &ids);
    assert!(reply.is_excluded(3) && reply.excluded_filter >= 1);

    let mut stream = TcpStream::connect(world.node.ports().lookup).unwrap();
    for port in [1_000, 2_002, 2_003, 3_038, 9] {
        let request = world.request(world.port_is(port), Candidates::List(ids.to_vec()));
        let mut bytes = Vec::new();
        request.encode(&mut bytes, false);
        let (tcp, udp) = (ask_tcp(&mut stream, &bytes), world.ask(world.port_is(port), &ids));
        assert_eq!((tcp.excluded, tcp.no_filter), (udp.excluded, udp.no_filter), "port {port}");
    }
}

#[test]
fn an_under_padded_datagram_gets_a_bare_too_short() {
    let world = World::start();
    // Never a reply longer than the request, for any number of candidates.
    for count in [0, 1, 8, 100, 1_000, 5_000, 11_000, 131_072] {
        let candidates = Candidates::Range { first: 1, count };
        let request = world.request(Predicate::Unknown, candidates);
        let mut bytes = Vec::new();
        request.encode(&mut bytes, false);
        let reply = exchange(world.node.ports().lookup, &bytes).unwrap();
        assert!(reply.len() <= bytes.len(), "{count} candidates");
        let reply = LookupReply::parse(&reply).unwrap();
        if count >= 1_000 {
            assert_eq!((reply.status, reply.excluded.len()), (LookupStatus::TooShort, 0));
            assert_eq!(reply.candidates, count);
        }
    }
}

#[test]
fn another_cluster_or_schema_excludes_nothing() {
    let mut world = World::start();
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
    for foreign in [true, false] {
        let mut request = world.request(world.port_is(9), Candidates::List(vec![1]));
        if foreign {
            request.cluster.0 += 1;
        } else {
            request.fingerprint.0 ^= 1;
        }
        let mut bytes = Vec::new();
        request.encode(&mut bytes, true);
        let reply = exchange(world.node.ports().lookup, &bytes).unwrap();
        let reply = LookupReply::parse(&reply).unwrap();
        assert_eq!((reply.status, reply.is_excluded(0)), (LookupStatus::OtherSchema, false));
    }
}

#[test]
fn a_slow_or_idle_tcp_asker_keeps_nobody_else_waiting() {
    let mut world = World::start();
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
    let lookup = world.node.ports().lookup;
    let mut idle: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(lookup).unwrap()).collect();
    // Half a length, and a length with half a message: neither is ever finished.
    idle[0].write_all(&[40]).unwrap();
    idle[1].write_all(&[0, 0, 16, 0, 1, 2, 3]).unwrap();
    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    let mut bytes = Vec::new();
    request.encode(&mut bytes, false);
    let mut stream = TcpStream::connect(lookup).unwrap();
    assert!(ask_tcp(&mut stream, &bytes).is_excluded(0));
    // The unfinished message is cut off.
    assert!(is_closed(&idle[1]));
}

#[test]
fn silent_tcp_connections_past_the_limit_lose_their_seats_to_those_who_ask() {
    let world = World::start();
    let lookup = world.node.ports().lookup;
    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    let mut bytes = Vec::new();
    request.encode(&mut bytes, false);
    let mut regular = TcpStream::connect(lookup).unwrap();
    assert_eq!(ask_tcp(&mut regular, &bytes).no_filter, 1);
    let silent: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(lookup).unwrap()).collect();
    let mut newcomer = TcpStream::connect(lookup).unwrap();
    for asker in [&mut newcomer, &mut regular] {
        assert_eq!(ask_tcp(asker, &bytes).no_filter, 1);
    }
    // 64 seats: both askers and the youngest 62.
    assert!(silent.iter().take(80 - 62).all(is_closed));
    assert_eq!(world.ask(world.port_is(9), &[1]).no_filter, 1);
}

#[test]
fn a_question_as_long_as_allowed_is_answered_over_tcp() {
    let mut world = World::start();
    world.send(5, &packets(100, 1_000));
    world.wait_verified(1);
    let mut stream = TcpStream::connect(world.node.ports().lookup).unwrap();
    let ids: Vec<u64> = (0..CANDIDATES_MAX as u64).rev().map(|i| i * i * 31 + 5).collect();
    let mut bytes = Vec::new();
    world.request(world.port_is(9), Candidates::List(ids)).encode(&mut bytes, false);
    assert!(bytes.len() > 128 << 10, "{} bytes", bytes.len());
    let reply = ask_tcp(&mut stream, &bytes);
    assert_eq!(reply.candidates as usize, CANDIDATES_MAX);
    let excluded: u32 = reply.excluded.iter().map(|byte| byte.count_ones()).sum();
    assert_eq!((excluded, reply.is_excluded(CANDIDATES_MAX - 1)), (1, true));
    // One byte past the limit ends the connection, before anything is reserved for it.
    stream.write_all(&(LOOKUP_BYTES_MAX as u32 + 1).to_le_bytes()).unwrap();
    assert!(is_closed(&stream));
}

#[test]
fn an_asker_that_reads_late_is_counted_like_any_other() {
    const ASKED: usize = 200;
    let world = World::start();
    let lookups = || metric(&get(&world, "/metrics").1, "lookups") as usize;
    let frame = |count| {
        let candidates = Candidates::Range { first: 1, count };
        let (mut bytes, mut frame) = (Vec::new(), Vec::new());
        world.request(Predicate::Unknown, candidates).encode(&mut bytes, false);
        frame.extend((bytes.len() as u32).to_le_bytes());
        frame.extend(bytes);
        frame
    };
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.connect(&world.node.ports().lookup.into()).unwrap();
    let mut late = TcpStream::from(socket);
    // Replies of 16 KiB each: soon one is stuck half written.
    late.write_all(&frame(131_072).repeat(ASKED)).unwrap();
    let mut stuck_at = 0;
    wait_for("a stuck reply", || {
        std::thread::sleep(Duration::from_millis(50));
        let before = std::mem::replace(&mut stuck_at, lookups());
        before > 0 && before == stuck_at
    });
    assert!(stuck_at < ASKED, "nothing is stuck");
    let mut prompt = TcpStream::connect(world.node.ports().lookup).unwrap();
    prompt.write_all(&frame(1)).unwrap();
    prompt.read_exact(&mut vec![0; PREFIX_BYTES + reply_bytes(1)]).unwrap();
    let mut replies = vec![0; ASKED * (PREFIX_BYTES + reply_bytes(131_072))];
    late.read_exact(&mut replies).unwrap();
    wait_for("every answer to be counted", || lookups() == ASKED + 1);
}

#[test]
fn reasons_are_counted_for_candidates_that_were_looked_at_and_no_others() {
    let mut world = World::start_with(|config| config.retain_batches = 1);
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
    world.send(2, &packets(100, 2_000));
    wait_for("an eviction", || world.node.status().store.evicted == 1);
    world.wait_verified(1);
    let reasons = || {
        let text = get(&world, "/metrics").1;
        ["evicted", "pending", "no_filter"]
            .map(|reason| metric(&text, &format!("lookup_no_opinion{{reason=\"{reason}\"}}")))
    };
    let request = world.request(world.port_is(9), Candidates::Range { first: 0, count: 131_072 });
    let mut bytes = Vec::new();
    request.encode(&mut bytes, false);
    let reply = exchange(world.node.ports().lookup, &bytes).unwrap();
    assert_eq!(LookupReply::parse(&reply).unwrap().status, LookupStatus::TooShort);
    let mut stream = TcpStream::connect(world.node.ports().lookup).unwrap();
    assert_eq!(ask_tcp(&mut stream, &bytes).no_filter, 131_071);
    wait_for("the reasons", || reasons() == [1.0, 0.0, 131_070.0]);
    assert_eq!(world.ask(world.port_is(9), &[1, 2, 3]).no_filter, 2);
    wait_for("the reasons", || reasons() == [2.0, 0.0, 131_071.0]);
}
