//! Lanes that come to a queue where they are not expected: counted, and as right as ever.

use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::LaneStats;
use bloomrf_netio::Link;
use bloomrf_netio::link::mem;
use bloomrf_node::{Config, Node, Surroundings};

use crate::http::{get_from, metric};
use crate::scc::Scc;
use crate::ways::Traffic;
use crate::world::{config, wait_for};

#[test]
fn lanes_on_unexpected_queues_are_counted_and_their_batches_verified() {
    let schema = Schema::packet();
    let traffic = Traffic::of(&schema, 4, 400);
    let (folder, scc) = (tempfile::tempdir().unwrap(), Scc::start());
    traffic.tell(&scc);
    let (senders, links): (Vec<_>, Vec<_>) = (0..2).map(|_| mem::pair(1 << 12)).unzip();
    let links = links.into_iter().map(|link| Box::new(link) as Box<dyn Link>).collect();
    let surroundings = Surroundings { links: Some(links), ..Surroundings::default() };
    let config = Config { close_grace_ms: 5_000, ..config(&folder, Some(scc.address)) };
    let node = Node::start_in(config, surroundings).unwrap();
    // As expected; one frame of lane 0 astray; the lanes exchanged; and so they stay.
    let queue_of: [fn(usize, u8) -> u8; 4] = [
        |_, lane| lane,
        |at, lane| if at == 4 { 1 } else { lane },
        |_, lane| 1 - lane,
        |_, lane| 1 - lane,
    ];
    let expected = [(0, 0), (1, 0), (1, 2), (1, 2)];
    for (at, ((_, frames, _), queue_of)) in traffic.batches.iter().zip(queue_of).enumerate() {
        for (i, (lane, frame)) in frames.data.iter().chain(&frames.close).enumerate() {
            assert!(senders[usize::from(queue_of(i, *lane))].send(frame));
        }
        wait_for("the batch", || node.status().store.verified == at as u64 + 1);
        let (split, moved) = expected[at];
        assert_eq!(node.status().lanes, LaneStats { split, moved }, "after batch {}", at + 1);
    }
    let text = get_from(node.ports().http, "/metrics").1;
    let how =
        ["split", "moved"].map(|how| metric(&text, &format!("lanes_strayed{{how=\"{how}\"}}")));
    assert_eq!(how, [1.0, 2.0]);
    assert_eq!(node.status().ingest.records, 1_600);
    node.stop();
}
