//! Through every kind of link: batches are verified, filters are the same to the byte, lookups are
//! right, and every frame is accounted for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bloomrf_engine::format::{Origin, Stamp, decode, encode};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::lookup::{Candidates, LookupReply};
use bloomrf_node::{Config, Node};
use tempfile::TempDir;

use crate::http::{get_from, metric};
use crate::scc::Scc;
use crate::ways::{Site, Traffic, WAYS, Way};
use crate::world::{CLUSTER, config, exchange, port_is, request, wait_for};

/// A node of `queues` in the site's folder, whose seed is that of every other such folder.
fn place(scc: &Scc, queues: usize, seed: &Seed, folder: &TempDir) -> Config {
    let config = Config { queues, ..config(folder, Some(scc.address)) };
    fs::create_dir(&config.data_dir).unwrap();
    fs::write(config.data_dir.join(&seed.name), &seed.bytes).unwrap();
    config
}

/// The file of a hash seed.
struct Seed {
    name: String,
    bytes: Vec<u8>,
}

impl Seed {
    fn draw() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = config(&folder, None);
        Node::start(config.clone()).unwrap().stop();
        let mut files = fs::read_dir(&config.data_dir).unwrap();
        let path = files.find_map(|f| {
            let path = f.unwrap().path();
            path.file_name()?.to_str()?.starts_with("seed-").then_some(path)
        });
        let path = path.unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Seed { name, bytes: fs::read(path).unwrap() }
    }
}

/// Every way, over one and over two queues, at its site.
fn for_each_way(mut check: impl FnMut(&Way, usize, &Site) + Send) {
    for way in WAYS {
        for queues in [1, 2] {
            match (way.site)(queues) {
                Ok(site) => site.inside(|| check(way, queues, &site)),
                Err(reason) => println!("skipped: {} over {queues} queues: {reason}", way.name),
            }
        }
    }
}

fn wait_verified(node: &Node, batches: u64) {
    wait_for("batches to be verified", || node.status().store.verified == batches);
}

/// What is stored of each batch, without what differs from one writing to the next.
fn stored(data: &Path, schema: &Schema) -> BTreeMap<BatchId, Vec<u8>> {
    let origin = Origin {
        cluster: CLUSTER,
        fingerprint: schema.fingerprint(),
        schema_version: schema.version(),
    };
    let files = fs::read_dir(data).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name()?.to_str()?.parse().ok()?;
        let stored = decode(&fs::read(&path).unwrap(), &name, &origin, schema).unwrap();
        assert_eq!(stored.lost, []);
        let stamp = Stamp { uuid: 0, generation: 1, built_at_us: 0, seed: stored.stamp.seed };
        Some((name.batch, encode(&stored.batch, &origin, &stamp).unwrap()))
    });
    files.collect()
}

#[test]
fn the_same_capture_gives_the_same_filters_through_every_link_and_number_of_queues() {
    let schema = Schema::packet();
    let traffic = Traffic::of(&schema, 1, 3_000);
    let seed = Seed::draw();
    let mut first: Option<BTreeMap<BatchId, Vec<u8>>> = None;
    for_each_way(|way, queues, site| {
        let scc = Scc::start();
        traffic.tell(&scc);
        let config = place(&scc, queues, &seed, &site.folder);
        let data = config.data_dir.clone();
        let underway = (way.start)(&traffic, config, site);
        let node = underway.node;
        wait_verified(&node, 1);
        wait_for("the file", || node.status().persist.files == 1);
        node.stop();
        let stored = stored(&data, &schema);
        assert_eq!(stored.len(), 1);
        let first = first.get_or_insert_with(|| stored.clone());
        assert!(*first == stored, "{} over {queues} queues: other bytes", way.name);
    });
}

#[test]
fn batches_of_every_link_are_verified_looked_up_and_accounted_for() {
    let schema = Schema::packet();
    let traffic = Traffic::of(&schema, 3, 400);
    let payloads = traffic.payloads().count() as u64;
    let seed = Seed::draw();
    for_each_way(|way, queues, site| {
        let scc = Scc::start();
        traffic.tell(&scc);
        let config = place(&scc, queues, &seed, &site.folder);
        let underway = (way.start)(&traffic, config, site);
        let node = underway.node;
        wait_verified(&node, 3);
        let foreign = if way.is_raw { traffic.foreign.len() as u64 } else { 0 };
        wait_for("all frames", || node.status().frames.arrived == payloads + foreign);
        let status = node.status();
        let (frames, name) = (status.frames, way.name);
        assert_eq!(frames.accounted(), frames.arrived, "{name}, {queues} queues: {frames:?}");
        assert_eq!((frames.dropped, frames.handed_over), (0, 0), "{name}");
        // The second lane's CLOSE may come when its batch is sealed already.
        let late = frames.ingested + frames.refused + frames.ignored - foreign - payloads;
        assert_eq!(late, 0, "{name}");
        assert_eq!(frames.ignored, u64::from(way.is_raw), "{name}");
        assert_eq!(status.ingest.records, 1_200);
        let lookup = node.ports().lookup;
        excludes_what_is_not_there_and_nothing_else(&schema, &traffic, |request| {
            exchange(lookup, request).unwrap()
        });
        metrics_add_up(&node, queues, frames.arrived);
        node.stop();
    });
}

/// Asks for each port; how many times.
pub(crate) fn excludes_what_is_not_there_and_nothing_else(
    schema: &Schema,
    traffic: &Traffic,
    mut ask: impl FnMut(&[u8]) -> Vec<u8>,
) -> u64 {
    let mut asked = 0;
    let ids: Vec<BatchId> = traffic.batches.iter().map(|(id, _, _)| *id).collect();
    // Every port of every batch, and as many that no batch has.
    for port in 1_000..=3_040_u16 {
        let holders: Vec<bool> = traffic
            .batches
            .iter()
            .map(|(_, _, packets)| packets.iter().any(|p| p.dst_port == Some(port)))
            .collect();
        if !holders.iter().any(|holds| *holds) && port % 97 != 0 {
            continue;
        }
        let request = request(schema, port_is(schema, port), Candidates::List(ids.clone()));
        let mut bytes = Vec::new();
        request.encode(&mut bytes, true);
        let reply = ask(&bytes);
        asked += 1;
        let reply = LookupReply::parse(&reply).unwrap();
        for (i, holds) in holders.iter().enumerate() {
            // A bitmap of 16-bit keys has no false positives.
            assert_eq!(reply.is_excluded(i), !holds, "port {port}, batch {}", ids[i]);
        }
    }
    asked
}

fn metrics_add_up(node: &Node, queues: usize, arrived: u64) {
    let text = get_from(node.ports().http, "/metrics").1;
    let sum_of = |name: &str| -> u64 {
        let prefix = format!("fermihdi_bloomrf_{name}{{queue=");
        let lines = text.lines().filter(|line| line.starts_with(&prefix));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64).sum()
    };
    let parts = ["queue_ingested", "queue_refused", "queue_handed_over", "queue_ignored"];
    let parts = parts.map(sum_of).iter().sum::<u64>() + sum_of("queue_dropped");
    assert_eq!((sum_of("queue_arrived"), parts), (arrived, arrived), "{text}");
    for queue in 0..queues {
        // Every queue tells its own, also one that no lane came to.
        assert!(metric(&text, &format!("queue_polls{{queue=\"{queue}\"}}")) > 0.0);
    }
    assert!(sum_of("queue_polls") > sum_of("queue_polls_empty"), "{text}");
    assert!(sum_of("queue_cycles") > 0, "{text}");
}
