//! What the node says about its work.

use std::io::{self, Write};
use std::sync::{Mutex, Once};

use bloomrf_engine::wire::lookup::Candidates;
use tracing_subscriber::fmt::MakeWriter;

use crate::world::{World, exchange, packets, wait_for};

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static START: Once = Once::new();

#[derive(Clone, Copy)]
struct Memory;

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        TEXT.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Memory {
    type Writer = Memory;
    fn make_writer(&'a self) -> Memory {
        Memory
    }
}

/// Lines with all of `parts`, of all tests of this process.
fn lines(parts: &[&str]) -> Vec<String> {
    let text = TEXT.lock().unwrap().clone();
    let text = String::from_utf8_lossy(&text);
    let wanted = text.lines().filter(|line| parts.iter().all(|part| line.contains(part)));
    wanted.map(str::to_owned).collect()
}

#[test]
fn one_line_per_batch_one_per_question_and_warnings_with_the_arithmetic() {
    START.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_writer(Memory).with_ansi(false).finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
    let batch = 987_654_321;
    let mut world = World::start_with(|config| {
        config.max_kib_per_column = 1;
        config.arena_bytes = 1 << 20;
        // Exact sets of so few packets would fit: what is warned about are filters.
        config.exact_keys = 0;
    });
    world.send(batch, &packets(400, 1_000));
    world.wait_verified(1);
    let id = format!("batch={batch}");
    wait_for("the batch's line", || lines(&[&id, "batch closed"]).len() == 1);
    let line = lines(&[&id, "batch closed"]).remove(0);
    for part in ["records=400", "filter_bytes=", "hash=", "kinds=", "BloomRf"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let arena = lines(&[&id, "WARN", "FERMIHDI_SEASTAR_MEMORY", "512 x "]);
    assert_eq!(arena.len(), 1, "{arena:?}");
    let size = lines(&[&id, "WARN", "FERMIHDI_BLOOMRF_MAX_KIB_PER_COLUMN", "400 records"]);
    assert_eq!(size.len(), 1, "{size:?}");

    let mut request = world.request(world.port_is(9), Candidates::List(vec![batch, 4]));
    request.query_id = 31_337;
    let mut bytes = Vec::new();
    request.encode(&mut bytes, true);
    exchange(world.node.ports().lookup, &bytes).unwrap();
    wait_for("the question's line", || !lines(&["query_id=31337"]).is_empty());
    let line = lines(&["query_id=31337"]).remove(0);
    for part in [
        "bloomrf_lookup",
        "candidates=2",
        "evaluated=1",
        "excluded_zone_map=1",
        "excluded_filter=0",
        "no_filter=1",
        "micros=",
        "status=\"ok\"",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
}
