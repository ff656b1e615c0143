//! Starting, failing to start, and stopping.

use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

use bloomrf_engine::wire::lookup::{Candidates, LookupReply};
use bloomrf_node::config::Idle;
use bloomrf_node::{Config, Node, StartError};

use crate::http::get;
use crate::world::{World, config, packets, receive, wait_for};

fn error(config: Config) -> StartError {
    match Node::start(config) {
        Ok(_) => panic!("this node must not start"),
        Err(error) => error,
    }
}

#[test]
fn a_held_port_stops_the_start_and_the_error_says_what_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp_port = udp.local_addr().unwrap().port();
    let tcp_port = tcp.local_addr().unwrap().port();
    let base = || config(&folder, None);
    for (config, protocol, port, key, env) in [
        (
            Config { production_port: udp_port, ..base() },
            "UDP",
            udp_port,
            "production_port",
            "FERMIHDI_PRODUCTION_PORT",
        ),
        (
            Config { lookup_port: Some(udp_port), ..base() },
            "UDP",
            udp_port,
            "lookup_port",
            "BLOOMRF_LOOKUP_PORT",
        ),
        (
            Config { lookup_port: Some(tcp_port), ..base() },
            "TCP",
            tcp_port,
            "lookup_port",
            "BLOOMRF_LOOKUP_PORT",
        ),
        (
            Config { observability_port: tcp_port, ..base() },
            "TCP",
            tcp_port,
            "observability_port",
            "FERMIHDI_OBSERVABILITY_PORT",
        ),
    ] {
        let text = error(config).to_string();
        for part in [protocol, &port.to_string(), key, env, "in use"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn a_data_folder_that_cannot_be_written_is_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    // A file where the folder should be: also refused to a superuser.
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let data_dir = file.join("data");
    let text = error(Config { data_dir: data_dir.clone(), ..config(&folder, None) }).to_string();
    for part in [data_dir.to_str().unwrap(), "data_dir", "FERMIHDI_BLOOMRF_DATA_DIR"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_core_that_does_not_exist_is_named_and_nothing_keeps_running() {
    let folder = tempfile::tempdir().unwrap();
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let base = Config { production_port: port, lookup_port: Some(0), ..config(&folder, None) };
    let text = error(Config { cores: vec![1_000], ..base.clone() }).to_string();
    assert!(text.contains("core 1000") && text.contains("BLOOMRF_CORES"), "{text}");
    // The port is free again: the failed start has ended its threads and sockets.
    Node::start(base).unwrap().stop();
}

#[test]
fn more_polling_queues_than_cores_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut many = Config { queues: 64, ..config(&folder, None) };
    many.link.idle = Idle::Pause;
    if core_affinity::get_core_ids().is_none_or(|ids| ids.len() >= 64) {
        return println!("skipped: 64 cores");
    }
    let text = error(many.clone()).to_string();
    assert!(text.contains("64 ingest queues") && text.contains("BLOOMRF_QUEUES"), "{text}");
    assert!(!many.data_dir.exists(), "nothing was touched");
    many.link.idle = Idle::Sleep;
    Node::start(many).unwrap().stop();
}

#[test]
fn queues_that_pause_or_poll_on_ingest_and_end_with_the_node() {
    for idle in [Idle::Pause, Idle::Busy] {
        let mut world = World::start_with(|config| {
            config.queues = 1;
            config.link.idle = idle;
        });
        world.send(1, &packets(100, 1_000));
        world.wait_verified(1);
        world.node.stop();
    }
}

#[test]
fn a_node_pinned_to_a_core_ingests() {
    let Some(core) = core_affinity::get_core_ids().and_then(|ids| ids.first().copied()) else {
        return println!("skipped: no core can be pinned here");
    };
    let mut world = World::start_with(|config| config.cores = vec![core.id]);
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
}

#[test]
fn stop_frees_every_port_and_a_second_start_uses_them() {
    let world = World::start();
    let ports = world.node.ports();
    let folder = tempfile::tempdir().unwrap();
    let again = Config {
        production_port: ports.ingest.port(),
        lookup_port: Some(ports.lookup.port()),
        observability_port: ports.http.port(),
        ..config(&folder, None)
    };
    assert!(matches!(error(again.clone()), StartError::PortInUse { .. }));
    world.node.stop();
    let node = Node::start(again).unwrap();
    assert_eq!(node.ports(), ports);
    // Dropping stops as well.
    drop(node);
    UdpSocket::bind(ports.ingest).unwrap();
}

#[test]
fn the_lookup_port_is_ten_above_production() {
    let folder = tempfile::tempdir().unwrap();
    // Any port whose tenth successor is free, too.
    let started = (0..20).find_map(|_| {
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = Config { production_port: port.min(65_000), ..config(&folder, None) };
        Node::start(config).ok()
    });
    let ports = started.unwrap().ports();
    assert_eq!(ports.lookup.port(), ports.ingest.port() + 10);
}

#[test]
fn the_hash_seed_is_kept_across_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, None);
    let seeds = || {
        let entries = std::fs::read_dir(&config.data_dir).unwrap();
        let mut files: Vec<_> = entries
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.clone(), std::fs::read(path).unwrap())
            })
            .collect();
        files.sort();
        files
    };
    Node::start(config.clone()).unwrap().stop();
    let first = seeds();
    assert_eq!(first.len(), 1);
    Node::start(config.clone()).unwrap().stop();
    assert_eq!(seeds(), first);
}

#[test]
fn an_arena_of_few_batches_evicts_the_oldest() {
    let mut world = World::start_with(|config| config.retain_batches = 2);
    for batch in 1..=4 {
        world.send(batch, &packets(100, 1_000));
        wait_for("the verdict", || world.scc.with(|scc| scc.seen.len() as u64 == batch));
    }
    wait_for("evictions", || world.node.status().store.evicted == 2);
    world.wait_verified(2);
    let reply = world.ask(world.port_is(9), &[1, 2, 3, 4]);
    let excluded: Vec<bool> = (0..4).map(|i| reply.is_excluded(i)).collect();
    assert_eq!(excluded, [false, false, true, true]);
}

#[test]
fn an_ipv6_node_verifies_answers_and_serves() {
    if UdpSocket::bind("[::1]:0").is_err() {
        return println!("skipped: no IPv6 loopback here");
    }
    let mut world = World::start_with(|config| config.listen = "::1".parse().unwrap());
    world.send(1, &packets(100, 1_000));
    world.wait_verified(1);
    let socket = UdpSocket::bind("[::1]:0").unwrap();
    let request = world.request(world.port_is(9), Candidates::List(vec![1]));
    let mut bytes = Vec::new();
    request.encode(&mut bytes, true);
    socket.send_to(&bytes, world.node.ports().lookup).unwrap();
    let reply = receive(&socket, Duration::from_secs(10)).unwrap();
    assert!(LookupReply::parse(&reply).unwrap().is_excluded(0));
    assert_eq!(get(&world, "/readyz").0, 200);
}
