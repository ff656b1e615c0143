//! The data folder of a whole node: what is there after a restart, what leaves it, what a broken
//! one costs.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::wire::stream::StreamMessage;
use bloomrf_netio::link::udp::UdpSender;
use bloomrf_node::{Config, Node, StartError};
use tempfile::TempDir;

use crate::http::{get_from, metric};
use crate::scc::Scc;
use crate::world::{LANES, World, config, packets, wait_for};

/// A folder, and what a node on it is started with.
struct Place {
    folder: TempDir,
    config: Config,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = config(&folder, None);
        Place { folder, config }
    }

    /// A node on the folder, with an SCC that is new, and knows what `before` knew.
    fn start(&self, before: Option<Scc>) -> World {
        let scc = Scc::start();
        if let Some(before) = before {
            scc.with(|scc| scc.right = before.with(|before| before.right.clone()));
        }
        let config = Config { scc: Some(scc.address), ..self.config.clone() };
        let schema = Arc::new(config.schema.clone());
        let node = Node::start(config).unwrap();
        let target = [node.ports().ingest];
        let lanes = (0..LANES).map(|_| UdpSender::connect(&target).unwrap()).collect();
        World::of(node, scc, schema, lanes)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Names of the batches' files.
    fn files(&self) -> Vec<String> {
        names(&self.data()).into_iter().filter(|name| name.starts_with("batch-")).collect()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).map(|entries| {
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    });
    let mut names: Vec<String> = entries.unwrap_or_default();
    names.sort();
    names
}

/// Verifies batches `ids` and waits for their files.
fn store(world: &mut World, ids: impl Iterator<Item = u64>) {
    for id in ids {
        let count = world.node.status().store.verified + 1;
        world.send(id, &packets(100, 1_000));
        wait_for("the verdict", || world.node.status().store.verified >= count);
    }
    wait_for("files", || {
        let status = world.node.status();
        status.persist.files == status.store.verified && status.persist.waiting == 0
    });
}

fn stop(world: World) -> Scc {
    let (node, scc) = world.into_parts();
    node.stop();
    scc
}

fn text(world: &World, path: &str) -> String {
    get_from(world.node.ports().http, path).1
}

#[test]
fn a_restart_answers_its_first_lookup_with_every_verified_filter() {
    let place = Place::new();
    let mut world = place.start(None);
    store(&mut world, 1..=5);
    let scc = stop(world);
    assert_eq!(place.files().len(), 5);
    // No SCC at all: what was verified is verified.
    drop(scc);
    let config = Config { scc: None, ..place.config.clone() };
    let node = Node::start(config).unwrap();
    assert_eq!(node.status().store.verified, 5);
    assert_eq!(node.status().persist.recovered, 5);
    let (scc, schema) = (Scc::start(), Arc::new(place.config.schema.clone()));
    let world = World::of(node, scc, schema, vec![]);
    let reply = world.ask(world.port_is(9), &[1, 2, 3, 4, 5]);
    assert_eq!((reply.evaluated, reply.no_filter), (5, 0));
    assert!((0..5).all(|i| reply.is_excluded(i)));
    let reply = world.ask(world.port_is(1_000), &[1, 2, 3, 4, 5]);
    assert_eq!((reply.evaluated, reply.excluded_zone_map + reply.excluded_filter), (5, 0));
    let batches: serde_json::Value = serde_json::from_str(&text(&world, "/batches")).unwrap();
    assert_eq!(batches["files"], 5);
    assert!(batches["batches"].as_array().unwrap().iter().all(|batch| batch["stored"] == true));
}

#[test]
fn after_a_restart_the_scc_hears_of_stored_batches_and_what_it_denies_is_dropped() {
    let place = Place::new();
    let mut world = place.start(None);
    store(&mut world, 1..=3);
    let scc = stop(world);
    scc.with(|scc| {
        scc.right.remove(&2);
        scc.right.get_mut(&3).unwrap().digest[0] ^= 1;
    });
    let world = place.start(Some(scc));
    wait_for("verdicts", || world.node.status().store.verified == 1);
    wait_for("files to go", || place.files().len() == 1);
    let reply = world.ask(world.port_is(9), &[1, 2, 3]);
    assert_eq!((reply.evaluated, reply.no_filter), (1, 2));
    assert!(place.files()[0].contains("0000000000000001-"), "{:?}", place.files());
}

#[test]
fn a_batch_that_the_scc_deletes_leaves_the_folder() {
    let place = Place::new();
    let mut world = place.start(None);
    store(&mut world, 1..=3);
    world.scc.with(|scc| scc.outbox.push(StreamMessage::Deleted { batches: vec![2] }));
    wait_for("the file to go", || place.files().len() == 2);
    assert!(!place.files().iter().any(|name| name.contains("0000000000000002-0")));
    assert_eq!(world.node.status().persist.files, 2);
}

#[test]
fn retention_holds_for_files_at_run_time_and_at_start() {
    let mut place = Place::new();
    place.config.retain_batches = 3;
    let mut world = place.start(None);
    store(&mut world, 1..=3);
    for id in 4..=6 {
        world.send(id, &packets(100, 1_000));
        wait_for("the batch", || world.scc.with(|scc| scc.seen.len() as u64 == id));
    }
    wait_for("three files", || {
        let files = place.files();
        files.len() == 3 && files[0].contains("0000000000000004-")
    });
    let scc = stop(world);
    place.config.retain_batches = 2;
    let world = place.start(Some(scc));
    assert_eq!(world.node.status().store.verified, 2);
    wait_for("two files", || place.files().len() == 2);
    assert!(place.files()[0].contains("0000000000000005-"), "{:?}", place.files());
}

#[test]
fn a_damaged_file_is_reported_and_its_batch_reads_found() {
    let place = Place::new();
    let mut world = place.start(None);
    store(&mut world, 1..=3);
    let scc = stop(world);
    let path = place.data().join(&place.files()[1]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let world = place.start(Some(scc));
    let reply = world.ask(world.port_is(9), &[1, 2, 3]);
    assert_eq!([0, 1, 2].map(|i| reply.is_excluded(i)), [true, false, true]);
    assert_eq!((reply.evaluated, reply.no_filter), (2, 1));
    assert_eq!(world.node.status().persist.refused, 1);
    let metrics = text(&world, "/metrics");
    assert_eq!(metric(&metrics, "persist_refused{reason=\"checksum\"}"), 1.0);
    assert_eq!(metric(&metrics, "persist_recovered"), 2.0);
    assert_eq!(names(&place.data()).iter().filter(|name| name.starts_with("bad-")).count(), 1);
}

#[test]
fn another_schema_or_cluster_discards_every_stored_filter() {
    let mut place = Place::new();
    let mut world = place.start(None);
    store(&mut world, 1..=2);
    drop(stop(world));
    place.config.cluster = ClusterId(7);
    let world = place.start(None);
    assert_eq!(world.node.status().store.verified, 0);
    assert!(place.files().is_empty());
}

#[test]
fn a_folder_that_goes_away_keeps_the_node_serving_and_is_caught_up_with() {
    let place = Place::new();
    let mut world = place.start(None);
    store(&mut world, 1..=2);
    fs::remove_dir_all(place.data()).unwrap();
    world.send(3, &packets(100, 1_000));
    world.wait_verified(3);
    wait_for("the failure to be told", || world.node.status().persist.is_failing);
    let (status, body) = get_from(world.node.ports().http, "/readyz");
    assert_eq!(status, 200, "it serves: {body}");
    assert!(body.starts_with("ready\ndisk: failing since "), "{body}");
    let metrics = text(&world, "/metrics");
    assert_eq!(metric(&metrics, "disk_failing"), 1.0);
    assert!(metric(&metrics, "persist_errors{place=\"create\"}") >= 1.0);
    assert!(metric(&metrics, "persist_waiting") >= 1.0);
    let reply = world.ask(world.port_is(9), &[1, 2, 3]);
    assert_eq!(reply.evaluated, 3);
    fs::create_dir(place.data()).unwrap();
    wait_for("all files", || place.files().len() == 3);
    wait_for("good news", || text(&world, "/readyz") == "ready\n");
    let scc = stop(world);
    let world = place.start(Some(scc));
    assert_eq!(world.node.status().store.verified, 3);
}

#[test]
fn a_folder_that_another_node_uses_is_refused() {
    let place = Place::new();
    let world = place.start(None);
    let Err(error) = Node::start(place.config.clone()) else { panic!("two nodes on one folder") };
    assert!(matches!(error, StartError::DataDir { .. }), "{error}");
    assert!(error.to_string().contains("another process"), "{error}");
    drop(world);
    Node::start(place.config.clone()).unwrap();
}

#[test]
fn a_failed_start_touches_no_folder_and_ends_http() {
    let place = Place::new();
    fs::write(place.folder.path().join("data"), b"a file").unwrap();
    let Err(error) = Node::start(place.config.clone()) else { panic!("no folder, no node") };
    assert!(matches!(error, StartError::DataDir { .. }), "{error}");
    let port = TcpStream::connect(("127.0.0.1", place.config.observability_port));
    assert!(port.is_err());
}
