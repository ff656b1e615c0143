//! The pages for operators.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use bloomrf_engine::filter::FORMS;
use bloomrf_engine::query::parse_where;

use crate::world::{World, packets, wait_for};

/// Status and body of a page.
pub(crate) fn get(world: &World, path: &str) -> (u16, String) {
    get_from(world.node.ports().http, path)
}

/// The same of any node.
pub(crate) fn get_from(http: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(http).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    let body = text.split_once("\r\n\r\n").unwrap().1.to_owned();
    (status, body)
}

fn json(world: &World, path: &str) -> serde_json::Value {
    let (status, body) = get(world, path);
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

const NAMES: &[&str] = &[
    "filters_verified",
    "filters_pending",
    "filters_rejected",
    "filters_bytes",
    "filters_evicted",
    "filters_corrupt",
    "lookups",
    "lookup_candidates",
    "lookup_evaluated",
    "lookup_excluded",
    "lookup_excluded_zone_map",
    "lookup_excluded_bloomrf",
    "lookup_no_filter",
    "verify_mismatch",
    "frames_in",
    "frames_duplicate",
    "records_in",
    "arena_bytes_limit",
    "arena_page_bytes",
    "disk_failing",
    "persist_files",
    "persist_bytes",
    "persist_waiting",
    "persist_written",
    "persist_bytes_written",
    "persist_syncs",
    "persist_removed",
    "persist_recovered",
    "persist_sections_lost",
    "persist_scrubbed",
    "persist_scrub_corrupt",
    "persist_errors{place=\"sync\"}",
    "persist_refused{reason=\"checksum\"}",
    "store_plain_bytes",
    "store_sliced_bytes",
    "store_dead_bytes",
    "store_groups",
    "store_sliced_batches",
    "columns_by_kind{kind=\"elias-fano\"}",
    "columns_bytes_by_kind{kind=\"bloomrf\"}",
    "frames_refused{reason=\"checksum\"}",
    "frames_dropped{place=\"socket\"}",
    "batches_incomplete{reason=\"gap\"}",
    "lookup_no_opinion{reason=\"pending\"}",
    "lookup_seconds_count",
    "seal_seconds_count",
];

pub(crate) fn metric(text: &str, name: &str) -> f64 {
    let prefix = format!("fermihdi_bloomrf_{name} ");
    let line = text.lines().find(|line| line.starts_with(&prefix));
    line.unwrap_or_else(|| panic!("no metric {name}"))[prefix.len()..].parse().unwrap()
}

#[test]
fn health_and_readiness_do_not_wait_for_the_scc() {
    let world = World::start_with(|config| config.scc = Some("127.0.0.1:9".parse().unwrap()));
    assert_eq!(get(&world, "/healthz"), (200, "ok\n".to_owned()));
    assert_eq!(get(&world, "/readyz"), (200, "ready\n".to_owned()));
    let (status, page) = get(&world, "/");
    assert_eq!(status, 200);
    for link in ["/healthz", "/readyz", "/metrics", "/schema", "/batches", "/explain"] {
        assert!(page.contains(link), "{link}");
    }
}

#[test]
fn metrics_carry_every_name_and_add_up() {
    let mut world = World::start();
    for batch in 1..=2 {
        world.send(batch, &packets(400, 1_000 * batch as u16));
    }
    world.wait_verified(2);
    world.ask(world.port_is(1_003), &[1, 2, 3]);
    wait_for("the lookup to be counted", || metric(&get(&world, "/metrics").1, "lookups") == 1.0);
    let text = get(&world, "/metrics").1;
    for name in NAMES {
        assert!(metric(&text, name) >= 0.0);
    }
    assert!(!text.contains("_total"));
    let value = |name| metric(&text, name);
    assert_eq!(value("filters_verified"), 2.0);
    assert_eq!(value("records_in"), 800.0);
    assert_eq!(value("lookup_candidates"), value("lookup_evaluated") + value("lookup_no_filter"));
    assert_eq!(
        value("lookup_excluded"),
        value("lookup_excluded_zone_map") + value("lookup_excluded_bloomrf")
    );
    assert_eq!(value("lookup_excluded"), 2.0);
    assert_eq!(value("lookup_no_opinion{reason=\"no_filter\"}"), 1.0);
    assert_eq!((value("lookup_seconds_count"), value("seal_seconds_count")), (1.0, 2.0));
    let status = world.node.status();
    assert_eq!(value("frames_in"), status.ingest.frames_in as f64);
    assert_eq!(value("filters_bytes"), status.store.bytes as f64);
}

#[test]
fn every_want_of_an_opinion_is_counted_by_its_reason() {
    let mut world = World::start_with(|config| {
        config.columns = Some(vec!["src_ip4".to_owned()]);
        config.max_probes = 1;
        // No exact set takes the filter's place: nothing is probed there.
        config.exact_keys = 0;
    });
    let mut packets = packets(400, 1_000);
    packets[7].src_ip4 = Some([20, 1, 2, 3]);
    world.send(1, &packets);
    world.wait_verified(1);
    let ask = |text: &str| world.ask(parse_where(&world.schema, text).unwrap(), &[1, 2]);
    // No filter on this column, and the zone map cannot decide.
    ask("src_port = 40200");
    // A range with ragged ends costs more than one probe.
    ask("src_ip4 BETWEEN '10.0.0.3' AND '19.5.77.3'");
    let counted = |reason: &str| {
        let text = get(&world, "/metrics").1;
        metric(&text, &format!("lookup_no_opinion{{reason=\"{reason}\"}}"))
    };
    // The unknown batch 2, twice.
    wait_for("no_filter", || counted("no_filter") == 2.0);
    wait_for("not_filtered", || counted("not_filtered") == 1.0);
    wait_for("budget", || counted("budget") == 1.0);
}

#[test]
fn schema_and_batches_are_json() {
    let mut world = World::start();
    world.send(4, &packets(100, 1_000));
    world.send(9, &packets(100, 1_000));
    world.wait_verified(2);
    let schema = json(&world, "/schema");
    assert_eq!(schema["fingerprint"], world.schema.fingerprint().to_string());
    let all = json(&world, "/batches");
    assert_eq!(all["batches"][0]["id"], 4);
    assert_eq!(all["batches"][1]["state"], "verified");
    assert_eq!(all["batches"][0]["records"], 100);
    let columns = all["batches"][0]["columns"].as_array().unwrap();
    assert_eq!(columns.len(), world.schema.columns().len());
    let port = columns.iter().find(|c| c["name"] == "dst_port").unwrap();
    assert_eq!(port["fpr"], 0.0);
    assert_eq!(port["form"], "list");
    assert!(port["why"].as_str().unwrap().starts_with("exact: "), "{}", port["why"]);
    let (_, text) = get(&world, "/metrics");
    let held: f64 = FORMS
        .iter()
        .map(|kind| metric(&text, &format!("columns_by_kind{{kind=\"{kind}\"}}")))
        .sum();
    assert_eq!(held, 2.0 * columns.len() as f64);
    assert!(port["fill"].as_f64().unwrap() > 0.0);
    let page = json(&world, "/batches?limit=1");
    assert_eq!((page["batches"].as_array().unwrap().len(), &page["next"]), (1, &9.into()));
    assert_eq!(json(&world, "/batches?first=9")["batches"][0]["id"], 9);
}

#[test]
fn explain_says_what_excluded_each_batch() {
    let mut world = World::start();
    for batch in 1..=2 {
        world.send(batch, &packets(400, 1_000 * batch as u16));
    }
    world.wait_verified(2);
    let answer = json(&world, "/explain?where=dst_port%20%3D%201003&batches=1-2,77");
    assert_eq!((&answer["candidates"], &answer["no_filter"]), (&3.into(), &1.into()));
    let outcome = |i: usize| answer["batches"][i]["outcome"].as_str().unwrap().to_owned();
    assert_eq!(outcome(0), "excluded by filter");
    assert_eq!(answer["batches"][0]["leaves"][0]["by"], "filter (exact: list)");
    assert_eq!(outcome(1), "excluded by zone map");
    assert_eq!(
        (outcome(2).as_str(), &answer["batches"][2]["reason"]),
        ("no opinion", &"no_filter".into())
    );
    let all = json(&world, "/explain?where=dst_port+%3D+1002");
    assert_eq!(all["batches"].as_array().unwrap().len(), 2);
    assert_eq!(all["batches"][0]["outcome"], "may match");
}

#[test]
fn wrong_requests_get_a_clear_error_as_json() {
    let world = World::start();
    for (path, status, part) in [
        ("/explain", 400, "where"),
        ("/explain?where=nonsense%20%3D%201", 400, "nonsense"),
        ("/explain?where=dst_port%20%3D%201&batches=5-3", 400, "5-3"),
        ("/explain?where=dst_port%20%3D%201&batches=0-99999999999", 400, "at most"),
        ("/batches?limit=0", 400, "limit"),
        ("/batches?colour=red", 400, "colour"),
        ("/nothing", 404, "no such page"),
    ] {
        let (got, body) = get(&world, path);
        assert_eq!(got, status, "{path}");
        let error: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert!(error["error"].as_str().unwrap().contains(part), "{path}: {body}");
    }
}

#[test]
fn clients_that_dawdle_do_not_keep_a_health_check_out() {
    let world = World::start();
    let http = world.node.ports().http;
    let mut slow: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(http).unwrap()).collect();
    // Half a request, and requests without end whose answers nobody reads.
    slow.iter_mut().step_by(2).for_each(|stream| stream.write_all(b"GET / HTT").unwrap());
    for stream in slow.iter_mut().skip(1).step_by(2) {
        stream.set_nonblocking(true).unwrap();
        let asked = b"GET /metrics HTTP/1.1\r\nHost: node\r\n\r\n".repeat(1_000);
        let _ = stream.write(&asked);
    }
    let (done, answer) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| done.send(get(&world, "/healthz")));
        let answer = answer.recv_timeout(std::time::Duration::from_secs(20));
        // Lets go of the seats, or a failure would wait for the other thread.
        drop(slow);
        assert_eq!(answer, Ok((200, "ok\n".to_owned())));
    });
}
