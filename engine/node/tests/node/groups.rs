//! A full chunk is sliced while the node runs, and its answers stay right.

use bloomrf_engine::predicate::{CompareOp, Literal, Predicate};
use bloomrf_engine::schema::TimeUnit;

use crate::http::{get, metric};
use crate::world::{World, packets, wait_for};

const BASE_NS: i64 = 1_700_000_000_000_000_000;
const BATCHES: u64 = 70;

#[test]
fn a_full_chunk_is_sliced_and_finds_the_one_batch_that_holds_a_value() {
    let mut world = World::start();
    for batch in 1..=BATCHES {
        let mut packets = packets(300, 1_000);
        for (i, packet) in packets.iter_mut().enumerate() {
            // Zone maps overlap: only filters can tell the batches apart.
            packet.ts_ns = BASE_NS + 1_000 * i as i64 + batch as i64;
        }
        world.send(batch, &packets);
        world.wait_verified(batch);
    }
    wait_for("the full chunk to be sliced", || world.node.status().store.sliced_batches == 64);
    let text = get(&world, "/metrics").1;
    assert!(metric(&text, "store_groups") >= 1.0);
    assert_eq!(metric(&text, "store_dead_bytes"), 0.0);
    let page = get(&world, "/batches?limit=1").1;
    assert!(page.contains("\"sliced\":true") && page.contains("\"sliced\":64"), "{page}");

    let column = world.schema.ordinal("ts").unwrap();
    let all: Vec<u64> = (1..=BATCHES).collect();
    let mut excluded = 0;
    for wanted in [1, 33, 64, 65, 70] {
        let literal = Literal::Timestamp(BASE_NS + 150_000 + wanted, TimeUnit::Ns);
        let reply = world.ask(Predicate::Compare { column, op: CompareOp::Eq, literal }, &all);
        assert!(!reply.is_excluded(wanted as usize - 1), "FALSE NEGATIVE: batch {wanted}");
        assert_eq!(reply.evaluated, BATCHES as u32);
        excluded += reply.excluded_filter;
    }
    assert!(excluded > 4 * BATCHES as u32, "{excluded} of {} excluded", 5 * BATCHES);
}
