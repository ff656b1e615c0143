//! Keys, allow-lists and the rate limit over real sockets: who is not let in is counted, and
//! learns nothing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use bloomrf_engine::controller::{check_keyed_reply, check_reply, keyed_question};
use bloomrf_engine::limits::DATAGRAM_BYTES_MAX;
use bloomrf_engine::predicate::{CompareOp, Literal, Predicate};
use bloomrf_engine::schema::TimeUnit;
use bloomrf_engine::wire::frame;
use bloomrf_engine::wire::lookup::{Candidates, LookupReply};
use bloomrf_engine::wire::mac::{KeyRing, MacKey};
use bloomrf_node::Node;
use socket2::{Domain, Protocol, Socket, Type};

use crate::http::{get, get_from, metric};
use crate::world::{self, Frames, World, packets, receive, wait_for};

/// As long as a reply may take that must not come.
const SILENCE: Duration = Duration::from_millis(50);

fn line(id: u32) -> String {
    format!("{id} {:032x}\n", u128::from(id) << 64 | 7)
}

fn key(id: u32) -> MacKey {
    KeyRing::parse(&line(id)).unwrap().signer().clone()
}

/// As a secret store would write it: aside, then renamed.
fn write_keys(path: &Path, ids: &[u32]) {
    let text: String = ids.iter().map(|&id| line(id)).collect();
    let aside = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&aside).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    std::fs::rename(aside, path).unwrap();
}

fn refused(world: &World, reason: &str) -> u64 {
    let name = format!("lookup_refused{{reason=\"{reason}\"}}");
    metric(&get(world, "/metrics").1, &name) as u64
}

fn frames_refused(world: &World, reason: &str) -> u64 {
    let name = format!("frames_refused{{reason=\"{reason}\"}}");
    metric(&get(world, "/metrics").1, &name) as u64
}

fn from(address: &str) -> UdpSocket {
    UdpSocket::bind((address, 0)).unwrap()
}

/// Asks about batch 1 with a seal; how many of its candidates a checked reply excludes.
fn ask_keyed(world: &World, key: &MacKey) -> Option<usize> {
    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    let (question, seal) = keyed_question(&request, DATAGRAM_BYTES_MAX, key).unwrap();
    let socket = from("127.0.0.1");
    socket.send_to(&question.bytes, world.node.ports().lookup).unwrap();
    let reply = receive(&socket, Duration::from_millis(300))?;
    assert!(reply.len() <= question.bytes.len());
    Some(check_keyed_reply(&request, &reply, key, seal).unwrap().excluded.len())
}

fn ask_tcp(world: &World, message: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(world.node.ports().lookup).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let prefix = (message.len() as u32).to_le_bytes();
    // The connection may be closed before either is written.
    let _ = stream.write_all(&prefix).and_then(|()| stream.write_all(message));
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).ok()?;
    let mut reply = vec![0; u32::from_le_bytes(prefix) as usize];
    stream.read_exact(&mut reply).unwrap();
    Some(reply)
}

#[test]
fn a_node_with_keys_answers_their_holders_alone_and_rotates_them_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lookup.keys");
    write_keys(&path, &[1]);
    let mut world = World::start_with(|config| config.lookup_keys = Some(path.clone()));
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
    assert_eq!(ask_keyed(&world, &key(1)), Some(1));
    // Unkeyed, of an unknown key, and of the right id with another secret.
    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    let mut unkeyed = Vec::new();
    request.encode(&mut unkeyed, true);
    let socket = from("127.0.0.1");
    socket.send_to(&unkeyed, world.node.ports().lookup).unwrap();
    assert_eq!(receive(&socket, SILENCE), None);
    assert_eq!(ask_keyed(&world, &key(2)), None);
    assert_eq!(ask_keyed(&world, &MacKey::new(1, &[9; 16])), None);
    assert_eq!(ask_tcp(&world, &unkeyed), None);
    wait_for("the refusals to be counted", || refused(&world, "key") == 4);
    let (question, seal) = keyed_question(&request, 0, &key(1)).unwrap();
    let reply = ask_tcp(&world, &question.bytes[4..]).unwrap();
    assert_eq!(check_keyed_reply(&request, &reply, &key(1), seal).unwrap().excluded, [1]);
    // Rotation: both, then the new one alone. The old one is good until it is removed.
    write_keys(&path, &[2, 1]);
    wait_for("the new key", || ask_keyed(&world, &key(2)) == Some(1));
    assert_eq!(ask_keyed(&world, &key(1)), Some(1));
    write_keys(&path, &[2]);
    wait_for("the old key to go", || ask_keyed(&world, &key(1)).is_none());
    assert_eq!(ask_keyed(&world, &key(2)), Some(1));
}

#[test]
fn a_node_without_keys_does_not_answer_those_who_would_not_believe_it() {
    let world = World::start();
    assert_eq!(ask_keyed(&world, &key(1)), None);
    wait_for("it to be counted", || refused(&world, "key") == 1);
    assert_eq!(world.ask(world.port_is(9), &[1]).no_filter, 1);
}

#[test]
fn a_key_file_that_others_may_read_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    std::fs::write(&path, line(1)).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o640);
    std::fs::set_permissions(&path, mode).unwrap();
    for ingest in [false, true] {
        let mut config = world::config(&folder, None);
        let keys = if ingest { &mut config.ingest_keys } else { &mut config.lookup_keys };
        *keys = Some(path.clone());
        let error = Node::start(config).err().unwrap().to_string();
        assert!(error.contains("chmod 600") && error.contains("640"), "{error}");
    }
}

#[test]
fn a_node_with_ingest_keys_takes_signed_frames_alone_and_replays_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ingest.keys");
    write_keys(&path, &[1, 2]);
    let mut world = World::start_with(|config| config.ingest_keys = Some(path.clone()));
    let plain = Frames::of(&world.schema, 1, &packets(100, 1_000));
    world.scc.with(|scc| scc.right.insert(1, plain.hash));
    world.broadcast(&plain);
    let unkeyed = (plain.data.len() + plain.close.len()) as u64;
    wait_for("unkeyed frames to be refused", || frames_refused(&world, "key") == unkeyed);
    // Either key; a frame whose records were exchanged behind a right checksum is refused.
    let sign = |frames: &mut Frames, id: u32| {
        frames.data.iter_mut().chain(&mut frames.close).for_each(|(_, f)| frame::sign(f, &key(id)));
    };
    let mut signed = Frames::of(&world.schema, 1, &packets(100, 1_000));
    sign(&mut signed, 2);
    let mut forged = Frames::of(&world.schema, 1, &packets(100, 5_000));
    forged.data.iter_mut().for_each(|(_, f)| frame::sign(f, &MacKey::new(1, &[3; 16])));
    forged.close.clear();
    world.broadcast(&forged);
    world.broadcast(&signed);
    world.wait_verified(1);
    let mut next = Frames::of(&world.schema, 2, &packets(100, 2_000));
    sign(&mut next, 1);
    world.scc.with(|scc| scc.right.insert(2, next.hash));
    world.broadcast(&next);
    world.wait_verified(2);
    let before = world.node.status();
    let forged = unkeyed + forged.data.len() as u64;
    wait_for("the forged to be counted", || frames_refused(&world, "key") == forged);
    // Everything again, in another order.
    let replayed = signed.data.iter().rev().chain(&signed.close).chain(&next.data).cloned();
    let replayed: Vec<_> = replayed.collect();
    for (lane, frame) in &replayed {
        world.send_frame(*lane, frame);
    }
    let expected = before.ingest.frames_in.max(forged) + replayed.len() as u64;
    wait_for("the replay", || world.node.status().ingest.frames_in >= expected);
    let after = world.node.status();
    assert_eq!(after.ingest.records, before.ingest.records, "no row was inserted again");
    assert_eq!(after.store.verified, 2);
    let answer = world.ask(world.port_is(9), &[1, 2]);
    assert_eq!((answer.no_filter, answer.is_excluded(0), answer.is_excluded(1)), (0, true, true));
    let answer = world.ask(world.port_is(1_002), &[1, 2]);
    assert!(!answer.is_excluded(0) && answer.is_excluded(1));
}

#[test]
fn sources_beside_the_allow_lists_are_counted_and_not_heard() {
    let allow = |text: &str| {
        let env = vec![("BLOOMRF_LOOKUP_ALLOW".into(), text.into())];
        bloomrf_node::Config::load(None, env).unwrap().0.lookup_allow
    };
    let mut world = World::start_with(|config| {
        config.lookup_allow = allow("127.0.0.1,127.3.0.0/16");
        config.ingest_allow = allow("127.0.0.1");
    });
    let stranger = from("127.2.0.1");
    let plain = Frames::of(&world.schema, 1, &packets(100, 1_000));
    for (_, frame) in plain.data.iter().chain(&plain.close) {
        stranger.send_to(frame, world.node.ports().ingest).unwrap();
    }
    let strange = (plain.data.len() + plain.close.len()) as u64;
    wait_for("strange frames to be refused", || frames_refused(&world, "source") == strange);
    assert_eq!(world.node.status().ingest.frames_in, strange);
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);

    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    let mut bytes = Vec::new();
    request.encode(&mut bytes, true);
    stranger.send_to(&bytes, world.node.ports().lookup).unwrap();
    assert_eq!(receive(&stranger, SILENCE), None);
    assert_eq!(refused(&world, "not_allowed"), 1);
    let friend = from("127.3.200.1");
    friend.send_to(&bytes, world.node.ports().lookup).unwrap();
    let reply = receive(&friend, Duration::from_secs(10)).unwrap();
    assert!(LookupReply::parse(&reply).unwrap().is_excluded(0));
    // Over TCP the connection is closed at once.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
    socket.bind(&SocketAddr::from(([127, 2, 0, 1], 0)).into()).unwrap();
    socket.connect(&world.node.ports().lookup.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert!(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_)));
    wait_for("it to be counted", || refused(&world, "not_allowed") == 2);
    assert!(ask_tcp(&world, &bytes).is_some());
}

#[test]
fn a_network_that_asks_too_much_is_dropped_and_another_is_not() {
    let world = World::start_with(|config| config.lookup_rate = 4);
    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    let mut bytes = Vec::new();
    request.encode(&mut bytes, true);
    let (greedy, neighbour, honest) = (from("127.5.5.1"), from("127.5.5.2"), from("127.5.6.1"));
    for socket in [&greedy, &neighbour] {
        (0..50).for_each(|_| _ = socket.send_to(&bytes, world.node.ports().lookup).unwrap());
    }
    honest.send_to(&bytes, world.node.ports().lookup).unwrap();
    assert!(receive(&honest, Duration::from_secs(10)).is_some());
    // The burst is two; a slow machine may add a few of the rate.
    let answered = 100 - refused(&world, "rate");
    assert!((1..=20).contains(&answered), "{answered} of 100 answered");
    // Over TCP connections count, and so do questions.
    let mut answers = 0;
    for _ in 0..10 {
        answers += usize::from(ask_tcp(&world, &bytes).is_some());
    }
    assert!((1..10).contains(&answers), "{answers} of 10 connections answered");
}

#[test]
fn a_datagram_is_answered_at_the_limit_of_its_length_and_not_past_it() {
    let world = World::start();
    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    for (length, answered) in [(DATAGRAM_BYTES_MAX, true), (DATAGRAM_BYTES_MAX + 1, false)] {
        let mut bytes = Vec::new();
        request.encode(&mut bytes, false);
        let padding = length - bytes.len();
        bytes[60..64].copy_from_slice(&(padding as u32).to_le_bytes());
        bytes.truncate(bytes.len() - 4);
        bytes.resize(length - 4, 0);
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        let socket = from("127.0.0.1");
        socket.send_to(&bytes, world.node.ports().lookup).unwrap();
        let patience = if answered { Duration::from_secs(10) } else { SILENCE };
        assert_eq!(receive(&socket, patience).is_some(), answered, "{length} bytes");
    }
    assert_eq!(refused(&world, "length"), 1);
}

#[test]
fn a_lookup_past_its_budget_answers_found_for_the_rest_over_udp_and_tcp() {
    let mut world = World::start_with(|config| config.lookup_budget_us = 100);
    for batch in 1..=64 {
        world.send(batch, &packets(60, 1_000));
        world.wait_verified(batch);
    }
    // Ranges that no record is in, column after column: all of them excluded, had it the time.
    let column = world.schema.ordinal("ts").unwrap();
    let at = |i: i64| Literal::Timestamp(1_700_000_000_000_000_000 + 1_000_000 * i, TimeUnit::Ns);
    let leaf = |i| Predicate::Between { column, low: at(i), high: at(i) };
    let mut timed_out = 0;
    for leaves in [40, 1_000] {
        let predicate = Predicate::Or((1..=leaves).map(leaf).collect());
        let ids = Candidates::List((1..=64).collect());
        let request = world.request(predicate, ids);
        let mut bytes = Vec::new();
        request.encode(&mut bytes, true);
        let reply = match bytes.len() > DATAGRAM_BYTES_MAX {
            true => ask_tcp(&world, &bytes).unwrap(),
            false => world::exchange(world.node.ports().lookup, &bytes).unwrap(),
        };
        let answer = check_reply(&request, &reply).unwrap();
        let excluded = answer.excluded.len();
        println!("{leaves} leaves: {excluded} excluded, timed out: {}", answer.timed_out);
        assert!(answer.timed_out || excluded == 64);
        timed_out += u32::from(answer.timed_out);
    }
    println!("{timed_out} of 2 ran out of time");
    // And what holds the record is never excluded, however little time there is.
    for i in 0..60 {
        let held = Literal::Timestamp(1_700_000_000_000_000_000 + i, TimeUnit::Ns);
        let predicate = Predicate::Compare { column, op: CompareOp::Eq, literal: held };
        let ids: Vec<u64> = (1..=64).collect();
        assert!(world.ask(predicate, &ids).excluded.iter().all(|byte| *byte == 0));
    }
}

/// Sends a UDP datagram whose source is somebody else's socket. `None` where that is not allowed.
fn spoof(source: SocketAddr, target: SocketAddr, payload: &[u8]) -> Option<()> {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP)).ok()?;
    socket.bind(&SocketAddr::new(source.ip(), 0).into()).unwrap();
    let mut datagram = source.port().to_be_bytes().to_vec();
    datagram.extend(target.port().to_be_bytes());
    datagram.extend((8 + payload.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    socket.send_to(&datagram, &SocketAddr::new(target.ip(), 0).into()).unwrap();
    Some(())
}

#[test]
fn two_nodes_facing_each_other_exchange_at_most_one_packet_after_a_spoofed_one() {
    // On the same port of two addresses, as two real nodes; then on two ports.
    for same_port in [true, false] {
        let one = World::start();
        let port = if same_port { one.node.ports().lookup.port() } else { 0 };
        let other = World::start_with(|config| {
            config.listen = "127.0.0.2".parse().unwrap();
            config.lookup_port = Some(port);
        });
        let (a, b) = (one.node.ports().lookup, other.node.ports().lookup);
        let request = one.request(one.port_is(9), Candidates::List(vec![1]));
        let (mut question, mut answer) = (Vec::new(), Vec::new());
        request.encode(&mut question, true);
        LookupReply::nothing_excluded(7, bloomrf_engine::wire::lookup::LookupStatus::Ok, 1)
            .encode(&mut answer);
        for (n, payload) in [&question, &answer, &b"noise".to_vec()].into_iter().enumerate() {
            if spoof(b, a, payload).is_none() {
                return println!("skipped: no raw sockets for this user");
            }
            let heard = |world: &World| {
                let text = get_from(world.node.ports().http, "/metrics").1;
                let sum = |name: &str| {
                    let name = format!("fermihdi_bloomrf_{name}");
                    let lines = text.lines().filter(|l| l.starts_with(&name));
                    lines
                        .map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
                        .sum::<u64>()
                };
                let answered = metric(&text, "lookups") as u64;
                (answered + sum("lookup_refused{"), answered)
            };
            wait_for("the first to hear it", || heard(&one).0 == n as u64 + 1);
            std::thread::sleep(SILENCE);
            // A question from a port of its own is answered, once; the answer is not.
            let follows = u64::from(!same_port);
            assert_eq!(heard(&one), (n as u64 + 1, follows), "same port: {same_port}");
            assert_eq!(heard(&other), (follows, 0), "same port: {same_port}");
        }
    }
}
