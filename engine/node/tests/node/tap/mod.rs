//! A node as a tap, without any cluster: packets in over links in memory or from capture files,
//! lookups out, and the oracle beside it.

mod traffic;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_engine::env::Clock;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::predicate::{CompareOp, Literal, Predicate};
use bloomrf_engine::schema::TimeUnit;
use bloomrf_netio::Link;
use bloomrf_netio::capture::writer::PcapWriter;
use bloomrf_netio::capture::{Capture, Packet};
use bloomrf_netio::link::mem::{self, MemSender};
use bloomrf_node::config::{LinkConfig, LinkUse};
use bloomrf_node::{Config, Node, Surroundings};
use bloomrf_oracle::{Expr, FieldType, FloatRule, Op, Value, matches_row};
use tempfile::TempDir;

use crate::http::{get_from, metric};
use crate::scc::Scc;
use crate::world::{World, config, wait_for};
use traffic::{COLUMNS, Chance, Sample, int, sample, time};

/// Records of a batch; the end of a burst may add some.
const BATCH: usize = 300;

/// The machine's monotonic time, and a wall clock of the test's choice.
struct OtherClock {
    origin: Instant,
    wall_us: i64,
}

impl Clock for OtherClock {
    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    fn unix_us(&self) -> i64 {
        self.wall_us
    }
}

fn clock(wall_us: i64) -> Arc<OtherClock> {
    Arc::new(OtherClock { origin: Instant::now(), wall_us })
}

/// A tap over links in memory, one per queue.
struct Tapped {
    world: World,
    ports: Vec<MemSender>,
}

fn tap_config(folder: &TempDir, queues: usize, link: &str) -> Config {
    Config {
        queues,
        link: LinkConfig {
            spec: link.parse().unwrap(),
            link_use: LinkUse::Tap,
            tap_batch_records: BATCH as u64,
            tap_batch_ms: 300,
            ..LinkConfig::default()
        },
        ..config(folder, None)
    }
}

fn world_of(node: Node, config: &Config) -> World {
    World::of(node, Scc::start(), Arc::new(config.schema.clone()), vec![])
}

impl Tapped {
    fn start(folder: &TempDir, queues: usize, clock: Arc<OtherClock>) -> Self {
        // Links that were handed in: what is named is never opened, and says that nothing lags.
        let config = tap_config(folder, queues, "pcap:none");
        let (ports, links): (Vec<_>, Vec<_>) = (0..queues)
            .map(|_| {
                let (sender, link) = mem::frame_pair(100_000);
                (sender, Box::new(link) as Box<dyn Link>)
            })
            .unzip();
        let surroundings =
            Surroundings { clock: Some(clock), links: Some(links), ..Surroundings::default() };
        let node = Node::start_in(config.clone(), surroundings).unwrap();
        Tapped { world: world_of(node, &config), ports }
    }

    fn send(&self, queue: usize, samples: &[Sample]) {
        samples.iter().for_each(|sample| assert!(self.ports[queue].send(&sample.frame)));
    }

    fn wait_records(&self, records: u64) {
        wait_records(&self.world.node, records);
    }

    fn stop(self) {
        self.world.into_parts().0.stop();
    }
}

/// Waits until so many records are in verified batches.
fn wait_records(node: &Node, records: u64) {
    wait_for("all records to be verified", || {
        batches(node).iter().map(|batch| batch.records).sum::<u64>() >= records
    });
}

struct Listed {
    id: BatchId,
    records: u64,
}

/// Verified batches, ascending.
fn batches(node: &Node) -> Vec<Listed> {
    let (_, page) = get_from(node.ports().http, "/batches?limit=1024");
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let listed = page["batches"].as_array().unwrap().iter();
    listed
        .filter(|batch| batch["state"] == "verified")
        .map(|batch| Listed {
            id: batch["id"].as_u64().unwrap(),
            records: batch["records"].as_u64().unwrap(),
        })
        .collect()
}

/// Batches that were given up, with their records.
fn lost(node: &Node) -> Vec<(BatchId, u64)> {
    let (_, page) = get_from(node.ports().http, "/batches");
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let listed = page["incomplete"].as_array().unwrap().iter();
    listed.map(|l| (l["id"].as_u64().unwrap(), l["records"].as_u64().unwrap())).collect()
}

type Rows = BTreeMap<BatchId, Vec<Vec<Value>>>;

/// Which rows are in which batch: those of one queue came in this order.
fn deal(listed: &[Listed], rows: impl Iterator<Item = Vec<Value>>) -> Rows {
    let mut rows = rows;
    let dealt = listed
        .iter()
        .map(|batch| (batch.id, rows.by_ref().take(batch.records as usize).collect()))
        .collect();
    assert!(rows.next().is_none(), "a row is in no batch");
    dealt
}

/// Asks for every value of every column, and for nulls: no batch with a match is excluded.
/// Returns how many questions there were, and how many batches were excluded.
fn ask_everything(world: &World, rows: &Rows, step: usize) -> (u64, u64) {
    let ids: Vec<BatchId> = rows.keys().copied().collect();
    let (mut asked, mut excluded) = (0, 0);
    for column in 0..COLUMNS.len() {
        let mut values: Vec<&Value> = rows.values().flatten().map(|row| &row[column]).collect();
        values.sort_by_key(|value| format!("{value:?}"));
        values.dedup();
        for value in values.into_iter().step_by(step) {
            let (predicate, expr) = question(column, value);
            let reply = world.ask(predicate.clone(), &ids);
            asked += 1;
            assert_eq!(reply.no_filter, 0);
            for (at, (id, rows)) in rows.iter().enumerate() {
                if reply.is_excluded(at) {
                    excluded += 1;
                    let hit =
                        |row: &&Vec<Value>| matches_row(&expr, row, FloatRule::Ieee) == Some(true);
                    let lost = rows.iter().find(hit);
                    assert!(lost.is_none(), "batch {id} excluded for {predicate:?}: {lost:?}");
                }
            }
        }
    }
    (asked, excluded)
}

/// `column = value`, or `column IS NULL`, in the node's words and in the oracle's.
fn question(column: usize, value: &Value) -> (Predicate, Expr) {
    let ordinal = column as u16;
    let literal = match value {
        Value::Null => return (Predicate::IsNull { column: ordinal }, Expr::IsNull(column)),
        Value::Int(v) => Literal::Unsigned(u64::try_from(*v).unwrap()),
        Value::Time(v, _) => Literal::Timestamp(*v, TimeUnit::Ns),
        Value::Octets(FieldType::Mac, b) => Literal::Mac(b.as_slice().try_into().unwrap()),
        Value::Octets(FieldType::Ipv4, b) => Literal::Ipv4(b.as_slice().try_into().unwrap()),
        Value::Octets(FieldType::Ipv6, b) => Literal::Ipv6(b.as_slice().try_into().unwrap()),
        other => panic!("no column of the schema holds {other:?}"),
    };
    let predicate = Predicate::Compare { column: ordinal, op: CompareOp::Eq, literal };
    (predicate, Expr::Compare(column, Op::Eq, value.clone()))
}

fn samples(chance: &mut Chance, count: usize) -> Vec<Sample> {
    (0..count).map(|_| sample(chance)).collect()
}

/// The row with the time that a frame without one gets.
fn rows_at(samples: &[Sample], wall_us: i64) -> impl Iterator<Item = Vec<Value>> + '_ {
    samples.iter().map(move |sample| {
        let mut row = sample.row.clone();
        row[0] = time(wall_us * 1_000);
        row
    })
}

const WALL_US: i64 = 1_790_000_000_000_000;

#[test]
fn every_packet_of_a_tap_is_found_in_its_batch_on_every_column_and_others_are_excluded() {
    let (folder, mut chance) = (tempfile::tempdir().unwrap(), Chance::new(1));
    let tapped = Tapped::start(&folder, 1, clock(WALL_US));
    let samples = samples(&mut chance, 7 * BATCH + 50);
    tapped.send(0, &samples);
    tapped.wait_records(samples.len() as u64);
    let listed = batches(&tapped.world.node);
    assert!((6..=8).contains(&listed.len()), "{} batches", listed.len());
    let rows = deal(&listed, rows_at(&samples, WALL_US));
    let (asked, excluded) = ask_everything(&tapped.world, &rows, 3);
    assert!(excluded > 2 * asked, "{excluded} batches excluded by {asked} questions");
    // A value that no packet has.
    let ids: Vec<BatchId> = rows.keys().copied().collect();
    for (column, value) in [(11, int(446)), (4, int(4_000)), (2, mac()), (13, int(1_500))] {
        let reply = tapped.world.ask(question(column, &value).0, &ids);
        assert!((0..ids.len()).all(|i| reply.is_excluded(i)), "{value:?}");
    }
    let status = tapped.world.node.status();
    assert_eq!(status.packets.packets(), samples.len() as u64);
    assert_eq!((status.incomplete, status.ingest.refused_sum()), (0, 0));
    let (_, metrics) = get_from(tapped.world.node.ports().http, "/metrics");
    assert_eq!(metric(&metrics, "tap_packets"), samples.len() as f64);
    tapped.stop();
}

fn mac() -> Value {
    Value::Octets(FieldType::Mac, vec![0xff, 0xff, 0xff, 0, 0, 1])
}

#[test]
fn a_batch_around_a_loss_excludes_nothing_and_the_ones_before_and_after_it_do() {
    let (folder, mut chance) = (tempfile::tempdir().unwrap(), Chance::new(2));
    let tapped = Tapped::start(&folder, 1, clock(WALL_US));
    let node = &tapped.world.node;
    tapped.send(0, &samples(&mut chance, BATCH));
    tapped.wait_records(BATCH as u64);
    // A frame that the link cannot deliver: its counter moves.
    tapped.send(0, &samples(&mut chance, BATCH / 2));
    assert!(tapped.ports[0].send(&[0; 20_000]));
    tapped.send(0, &samples(&mut chance, BATCH / 2));
    wait_for("the batch to be given up", || node.status().incomplete == 1);
    std::thread::sleep(Duration::from_millis(600));
    tapped.send(0, &samples(&mut chance, BATCH));
    tapped.wait_records(2 * BATCH as u64);
    let listed = batches(node);
    let (first, last) = (listed[0].id, listed[1].id);
    assert_eq!((listed.len(), last - first), (2, 2));
    let reply = tapped.world.ask(tapped.world.port_is(446), &[first, first + 1, last]);
    let excluded: Vec<bool> = (0..3).map(|i| reply.is_excluded(i)).collect();
    assert_eq!((excluded, reply.no_filter), (vec![true, false, true], 1));
    let (_, metrics) = get_from(node.ports().http, "/metrics");
    assert_eq!(lost(node), [(first + 1, BATCH as u64)], "whoever lists batches sees it");
    let name = "batches_incomplete{reason=\"loss\"}";
    assert_eq!(metric(&metrics, name), 1.0);
    tapped.stop();
}

#[test]
fn two_queues_make_batches_of_their_own_and_all_of_them_answer() {
    let (folder, mut chance) = (tempfile::tempdir().unwrap(), Chance::new(3));
    let tapped = Tapped::start(&folder, 2, clock(WALL_US));
    let sent = [samples(&mut chance, 3 * BATCH), samples(&mut chance, 2 * BATCH)];
    for (queue, samples) in sent.iter().enumerate() {
        tapped.send(queue, samples);
    }
    tapped.wait_records(5 * BATCH as u64);
    let listed = batches(&tapped.world.node);
    let first = listed[0].id;
    let (even, odd): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|batch| (batch.id - first).is_multiple_of(2));
    let mut rows = deal(&even, rows_at(&sent[0], WALL_US));
    rows.extend(deal(&odd, rows_at(&sent[1], WALL_US)));
    let (asked, excluded) = ask_everything(&tapped.world, &rows, 5);
    assert!(excluded > asked, "{excluded} batches excluded by {asked} questions");
    tapped.stop();
}

#[test]
fn stored_batches_answer_after_a_restart_and_no_id_comes_again_whatever_the_clock_says() {
    let (folder, mut chance) = (tempfile::tempdir().unwrap(), Chance::new(4));
    let (mut rows, mut known) = (Rows::new(), 0);
    for (life, wall_us) in [WALL_US, WALL_US - 86_400_000_000, 5].into_iter().enumerate() {
        let tapped = Tapped::start(&folder, 1, clock(wall_us));
        let node = &tapped.world.node;
        assert_eq!(node.status().persist.recovered, rows.len() as u64);
        if life > 0 {
            let (_, excluded) = ask_everything(&tapped.world, &rows, 11);
            assert!(excluded > 0, "stored batches exclude without an SCC");
        }
        let samples = samples(&mut chance, 2 * BATCH);
        tapped.send(0, &samples);
        known += samples.len() as u64;
        tapped.wait_records(known);
        let mut listed = batches(node);
        listed.retain(|batch| !rows.contains_key(&batch.id));
        assert!(rows.keys().all(|old| listed.iter().all(|new| new.id > *old)));
        rows.extend(deal(&listed, rows_at(&samples, wall_us)));
        wait_for("files", || node.status().persist.files == rows.len() as u64);
        tapped.stop();
    }
}

/// A node that plays a capture, and the rows of its verified batches.
fn play(folder: &TempDir, path: &Path, rows: Vec<Vec<Value>>) -> (World, Rows) {
    let config = tap_config(folder, 1, &format!("pcap:{},speed=max", path.display()));
    let node = Node::start(config.clone()).unwrap();
    wait_records(&node, rows.len() as u64);
    let rows = deal(&batches(&node), rows.into_iter());
    (world_of(node, &config), rows)
}

#[test]
fn a_capture_that_is_played_is_found_by_its_own_times() {
    let (folder, mut chance) = (tempfile::tempdir().unwrap(), Chance::new(5));
    let path = folder.path().join("a.pcap");
    let mut writer = PcapWriter::new(File::create(&path).unwrap(), 1).unwrap();
    let samples = samples(&mut chance, 4 * BATCH);
    let mut rows = Vec::new();
    for (i, sample) in samples.iter().enumerate() {
        // A packet in a millisecond: a batch is due after 300 of them by either rule.
        let ts_ns = WALL_US * 1_000 + i as i64 * 1_000_000;
        writer.write(ts_ns, &sample.frame, sample.frame.len() as u32).unwrap();
        let mut row = sample.row.clone();
        row[0] = time(ts_ns);
        rows.push(row);
    }
    drop(writer);
    let (world, rows) = play(&folder, &path, rows);
    let (asked, excluded) = ask_everything(&world, &rows, 4);
    assert!(excluded > asked, "{excluded} batches excluded by {asked} questions");
    let (_, page) = get_from(world.node.ports().http, "/batches");
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let first = &page["batches"][0]["time"];
    assert_eq!((&first["column"], &first["from"]), (&"ts".into(), &"2026-09-21T14:13:20Z".into()));
    world.into_parts().0.stop();
}

#[test]
fn captures_of_others_lose_no_packet_on_any_column() {
    let base = std::env::var_os("BLOOMRF_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    for name in ["ipfixprobe__mixed.pcap", "nDPI__sites.pcapng", "nDPI__synscan.pcap"] {
        let path = base.join("packets").join(name);
        if !path.exists() {
            println!("skipped: no data");
            return;
        }
        let rows: Vec<_> = Capture::open(&path).unwrap().map(|p| row_of(&p)).collect();
        let folder = tempfile::tempdir().unwrap();
        let (world, rows) = play(&folder, &path, rows);
        let (asked, excluded) = ask_everything(&world, &rows, 7);
        println!("{name}: {asked} questions, {excluded} batches excluded");
        world.into_parts().0.stop();
    }
}

/// A packet's row, read by the node's own parser: captures do not say what is in them.
fn row_of(packet: &Packet) -> Vec<Value> {
    let (fields, _) = bloomrf_node::packet::fields(packet);
    let number = |value: Option<u64>| value.map_or(Value::Null, int);
    let octets = |kind, bytes: Option<&[u8]>| {
        bytes.map_or(Value::Null, |bytes| Value::Octets(kind, bytes.to_vec()))
    };
    vec![
        time(fields.ts_ns),
        octets(FieldType::Mac, fields.src_mac.as_ref().map(|b| b.as_slice())),
        octets(FieldType::Mac, fields.dst_mac.as_ref().map(|b| b.as_slice())),
        number(fields.ethertype.map(u64::from)),
        number(fields.vlan.map(u64::from)),
        octets(FieldType::Ipv4, fields.src_ip4.as_ref().map(|b| b.as_slice())),
        octets(FieldType::Ipv4, fields.dst_ip4.as_ref().map(|b| b.as_slice())),
        octets(FieldType::Ipv6, fields.src_ip6.as_ref().map(|b| b.as_slice())),
        octets(FieldType::Ipv6, fields.dst_ip6.as_ref().map(|b| b.as_slice())),
        number(fields.proto.map(u64::from)),
        number(fields.src_port.map(u64::from)),
        number(fields.dst_port.map(u64::from)),
        number(fields.tcp_flags.map(u64::from)),
        int(fields.length.into()),
    ]
}

#[test]
fn a_tap_and_an_scc_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        scc: Some("127.0.0.1:6990".parse().unwrap()),
        ..tap_config(&folder, 1, "pcap:none")
    };
    let link = Box::new(mem::frame_pair(1).1) as Box<dyn Link>;
    let surroundings = Surroundings { links: Some(vec![link]), ..Surroundings::default() };
    let error = Node::start_in(config, surroundings).err().unwrap().to_string();
    assert!(error.contains("tap") && error.contains("scc"), "{error}");
}
