//! What must hold, whatever happened.
//!
//! - A sealed batch is what its sender sent: records, hash, flags; only a forged one may differ.
//! - A batch is verified only by a verdict of the SCC, on the hash that its sender computes.
//! - What the SCC judged otherwise, or deleted, is not held.
//! - The store keeps its bounds.
//! - Every datagram is accounted for, from the sender to the reason why it was refused.

use bloomrf_engine::filter::ColumnFlags;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::ingest::{IngestStats, RefuseReason};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::BatchState;
use bloomrf_oracle::Value;

use super::World;
use crate::node::{Sealed, SimNode};
use crate::records::Sent;

/// What nodes that are gone have counted, and what came while there was none.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// Datagrams that reached the machine.
    pub(super) arrived: u64,
    /// While no node ran.
    pub(super) nobody: u64,
    counted: Counted,
}

/// Sums over all queues of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    at_rings: u64,
    ring_full: u64,
    in_rings: u64,
    frames_in: u64,
    accounted: u64,
    malformed: u64,
    other_cluster: u64,
    damaged: u64,
    forged: u64,
    foreign: u64,
    other_schema: u64,
}

impl Past {
    /// Adds what a node that ends has counted.
    pub(super) fn add(&mut self, node: &SimNode) {
        self.counted = self.counted.plus(&Counted::of(node));
    }
}

impl Counted {
    fn of(node: &SimNode) -> Self {
        let (engine, rings) = node.counts();
        let mut sum = Counted::default();
        for (stats, (ring, waiting)) in engine.iter().zip(&rings) {
            sum = sum.plus(&Counted {
                at_rings: ring.arrived,
                ring_full: ring.ring_full,
                in_rings: *waiting,
                frames_in: stats.frames_in,
                accounted: stats.accounted(),
                malformed: refused(stats, &MALFORMED),
                other_cluster: refused(stats, &["cluster"]),
                damaged: ring.damaged,
                forged: ring.forged,
                foreign: ring.foreign,
                other_schema: ring.other_schema,
            });
        }
        sum
    }

    fn plus(&self, other: &Self) -> Self {
        Counted {
            at_rings: self.at_rings + other.at_rings,
            ring_full: self.ring_full + other.ring_full,
            in_rings: self.in_rings + other.in_rings,
            frames_in: self.frames_in + other.frames_in,
            accounted: self.accounted + other.accounted,
            malformed: self.malformed + other.malformed,
            other_cluster: self.other_cluster + other.other_cluster,
            damaged: self.damaged + other.damaged,
            forged: self.forged + other.forged,
            foreign: self.foreign + other.foreign,
            other_schema: self.other_schema + other.other_schema,
        }
    }
}

/// Reasons of frames that could not be parsed.
const MALFORMED: [&str; 7] = ["length", "magic", "version", "checksum", "kind", "lane", "records"];

fn refused(stats: &IngestStats, labels: &[&str]) -> u64 {
    let all = RefuseReason::LABELS.iter().zip(&stats.refused);
    all.filter(|(label, _)| labels.contains(label)).map(|(_, count)| count).sum()
}

impl World {
    /// Sent is lost, on its way, or counted by somebody.
    pub(super) fn check_accounts(&self) {
        let link = &self.link.tally;
        assert_eq!(link.offered + link.repeated, link.lost + link.carried, "{link:?}");
        let here = self.node.as_ref().map(Counted::of).unwrap_or_default();
        let all = self.past.counted.plus(&here);
        let at_rings = self.past.arrived - self.past.nobody;
        assert!(self.past.arrived <= link.carried);
        assert_eq!(all.at_rings, at_rings, "{all:?}");
        assert_eq!(
            all.at_rings,
            all.ring_full + all.in_rings + all.frames_in,
            "a datagram is dropped by the ring, in it, or taken: {all:?}"
        );
        assert_eq!(all.frames_in, all.accounted, "{all:?}");
        // A forged frame may be malformed in other ways, or of another cluster; one of another
        // schema may have records of another size.
        let perhaps = all.forged + all.other_schema;
        assert!(
            (all.damaged..=all.damaged + perhaps).contains(&all.malformed),
            "what was damaged, and nothing else, is malformed: {all:?}"
        );
        assert!(
            (all.foreign..=all.foreign + perhaps).contains(&all.other_cluster),
            "what is of another cluster, and nothing else, is refused for it: {all:?}"
        );
    }

    pub(super) fn check_sealed(&mut self, sealed: &Sealed) {
        let batch = &sealed.batch;
        self.note("sealed", batch.batch, batch.records);
        self.tally.one("sealed");
        for column in &batch.columns {
            self.tally.one(crate::node::kind_name(&column.filter));
        }
        match &sealed.inserted {
            Ok(evicted) => {
                self.tally.add("evicted", evicted.len() as u64);
            }
            Err(error) => {
                self.note("not kept", batch.batch, 0);
                self.tally.one("not kept");
                self.not_kept.insert(batch.batch, *error);
            }
        }
        self.folder.note_sealed(batch);
        let Some(sent) = self.records.get(&batch.batch) else { return };
        // A frame of today's schema, its batch id forged, makes a batch of an older one.
        if sent.is_forged {
            self.tally.one("sealed after forgery");
            return;
        }
        let node_epoch = self.node.as_ref().map(|node| node.epoch);
        assert_eq!(Some(sent.epoch), node_epoch, "batch {} of another schema", batch.batch);
        assert_eq!(batch.records, sent.rows.len() as u64, "records of batch {}", batch.batch);
        assert_eq!(batch.hash, sent.hash, "hash of batch {}", batch.batch);
        check_flags(batch, sent);
    }

    /// The SCC holds these no more.
    pub(super) fn check_deleted(&self, batches: &[BatchId]) {
        let Some(node) = &self.node else { return };
        let snapshot = node.reader.load();
        for &batch in batches {
            assert!(snapshot.place(batch).is_none(), "batch {batch} is held though deleted");
        }
    }

    /// Every batch that may be consulted is one that the SCC has verified.
    pub(super) fn check_store(&mut self) {
        let Some(node) = &self.node else { return };
        for (batch, state) in node.store.list() {
            if state == BatchState::Verified {
                let id = batch.batch;
                let sent = self.records.get(&id);
                let sent = sent.unwrap_or_else(|| panic!("batch {id} was never sent"));
                assert_eq!(batch.hash, sent.hash, "batch {id} has another content than was sent");
                assert_eq!(sent.epoch, node.epoch, "batch {id} is of another schema");
                assert!(self.scc.ever_verified.contains(&id), "batch {id} was never verified");
            }
        }
        self.check_bounds();
    }

    /// Memory and count of the store.
    pub(super) fn check_bounds(&mut self) {
        let Some(node) = &self.node else { return };
        let stats = node.store.stats();
        let bounds = self.settings.store;
        let held = stats.verified + stats.pending;
        assert!(held <= bounds.retain_batches as u64, "{held} batches: {stats:?}");
        if self.held.is_empty() {
            assert!(stats.bytes <= bounds.arena_bytes as u64, "past the ceiling: {stats:?}");
        }
        let sliced = stats.sliced_batches;
        let most = self.tally.of("most sliced");
        self.tally.add("most sliced", sliced.saturating_sub(most));
    }
}

/// Flags of every column, from the values themselves.
fn check_flags(batch: &SealedBatch, sent: &Sent) {
    for (ordinal, column) in batch.columns.iter().enumerate() {
        let mut flags = ColumnFlags::default();
        for row in &sent.rows {
            match &row[ordinal] {
                Value::Null => flags.has_null = true,
                Value::Float(value) if value.is_nan() => flags.has_nan = true,
                _ => flags.has_value = true,
            }
        }
        assert_eq!(column.flags, flags, "flags of column {ordinal} of batch {}", batch.batch);
    }
}
