//! The node, thread by thread, as `engine/node` wires it: queues, sealer, control, store, lookups.
//!
//! What is decided is decided in the engine; this mirror only carries things from one part to the
//! next, in the node's order, with rings that fill up and threads that are late.

mod answer;
mod control;
mod folder;
mod start;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bloomrf_engine::filter::{Filter, FilterKind};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::ingest::{BatchTotals, IngestStats, Queue, QueueCommand, QueueEvent};
use bloomrf_engine::lookup::Evaluator;
use bloomrf_engine::persist::Persister;
use bloomrf_engine::seal::{IncompleteReason, SealAction, SealedBatch, Sealer};
use bloomrf_engine::store::{InsertError, Store, StoreReader};
use bloomrf_engine::verify::{BatchHash, DeletedBatches, Session};
use bloomrf_engine::wire::frame::{Frame, LaneTotal};
use bloomrf_engine::wire::stream::{Missing, StreamDecoder};

use crate::canary::Canary;
use crate::records::CLUSTER;
use crate::shared::Splitmix;
use crate::tally::Tally;
use crate::weather::State;

pub(crate) use answer::JumpClock;
pub(crate) use control::Learned;
pub(crate) use folder::{Found, lies, origin_of, persist_config, safe_files};

/// A node that runs.
pub(crate) struct SimNode {
    /// Index of its schema epoch.
    pub(crate) epoch: usize,
    canary: Option<Canary>,
    /// Of its schema, as frames spell it.
    fingerprint: [u8; 8],
    pub(crate) queues: Vec<SimQueue>,
    sealer: Sealer,
    pub(crate) store: Store,
    pub(crate) reader: StoreReader,
    pub(crate) session: Session,
    offers: VecDeque<(BatchId, u64, BatchHash)>,
    /// Frames to ask for.
    questions: VecDeque<Missing>,
    /// From control to the seal thread.
    repaired: VecDeque<FromScc>,
    deleted: DeletedBatches,
    /// Once the folder was loaded.
    pub(crate) persister: Option<Persister>,
    /// Something changed in the store that the data folder should hear of.
    is_news: bool,
    evaluator: Evaluator,
    /// Of a node that believes every verdict.
    gullible: StreamDecoder,
    /// Frames seen, for a node that believes in what it saw: (frames, records) per lane.
    seen: BTreeMap<BatchId, BTreeMap<(u8, u32), u64>>,
}

/// What the seal thread hears of the SCC.
#[derive(Debug)]
pub(crate) enum FromScc {
    /// Whether it sends frames again.
    Repairs(bool),
    Frame(Vec<u8>),
    NotKept(BatchId),
}

/// A receive queue with its rings.
pub(crate) struct SimQueue {
    pub(crate) queue: Queue,
    pub(crate) rx: VecDeque<(Arc<[u8]>, State)>,
    commands: VecDeque<QueueCommand>,
    events: VecDeque<QueueEvent>,
    pub(crate) counts: QueueCounts,
}

/// What came to a queue, before the engine counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueCounts {
    /// Datagrams that reached the ring.
    pub(crate) arrived: u64,
    /// Dropped there: it was full.
    pub(crate) ring_full: u64,
    /// Given to the engine although damaged.
    pub(crate) damaged: u64,
    /// Given to the engine with other content and a right checksum.
    pub(crate) forged: u64,
    /// Given to the engine, of our schema and of another cluster.
    pub(crate) foreign: u64,
    /// Given to the engine and of another schema.
    pub(crate) other_schema: u64,
}

/// A batch that was sealed, and what the store made of it.
pub(crate) struct Sealed {
    pub(crate) batch: Arc<SealedBatch>,
    pub(crate) inserted: Result<Vec<BatchId>, InsertError>,
}

/// What a turn of the seal thread came to.
#[derive(Default)]
pub(crate) struct SealTurn {
    pub(crate) sealed: Vec<Sealed>,
    pub(crate) given_up: Vec<(BatchId, IncompleteReason)>,
    /// Queues that have commands now.
    pub(crate) woken: BTreeSet<usize>,
    pub(crate) is_busy: bool,
    /// Control has frames to ask for.
    pub(crate) asks: bool,
}

impl SimNode {
    /// A datagram reaches the ring of a queue.
    pub(crate) fn arrive(&mut self, queue: usize, ring: usize, datagram: (Arc<[u8]>, State)) {
        let uncounted = self.canary == Some(Canary::DropsUncounted);
        let queue = &mut self.queues[queue];
        queue.counts.arrived += 1;
        if queue.rx.len() < ring {
            queue.rx.push_back(datagram);
        } else {
            queue.counts.ring_full += u64::from(!uncounted);
        }
    }

    /// A turn of a poll thread; true where there is more to do.
    pub(crate) fn queue_turn(&mut self, index: usize, now_ns: u64, rng: &mut Splitmix) -> bool {
        self.note_seen(index);
        let SimQueue { queue, rx, commands, events, counts } = &mut self.queues[index];
        let burst: Vec<_> = rx.drain(..rx.len().min(1 + rng.below(32) as usize)).collect();
        for (bytes, state) in &burst {
            counts.damaged += u64::from(*state == State::Damaged);
            counts.forged += u64::from(*state == State::Forged);
            let is_intact = *state == State::Intact;
            let is_of_schema = has(bytes, 24, &self.fingerprint);
            let is_of_cluster = has(bytes, 8, &CLUSTER.0.to_le_bytes());
            counts.foreign += u64::from(is_intact && is_of_schema && !is_of_cluster);
            counts.other_schema += u64::from(is_intact && !is_of_schema);
        }
        let datagrams: Vec<&[u8]> = burst.iter().map(|(bytes, _)| &bytes[..]).collect();
        queue.on_burst(&datagrams, now_ns);
        while let Some(command) = commands.pop_front() {
            queue.on_command(command, now_ns);
        }
        queue.on_tick(now_ns);
        while events.len() < EVENTS_MAX {
            let Some(event) = queue.next_event() else { break };
            events.push_back(event);
        }
        !rx.is_empty()
    }

    /// A turn of the seal thread.
    pub(crate) fn seal_turn(
        &mut self,
        now_ns: u64,
        rng: &mut Splitmix,
        tally: &mut Tally,
    ) -> SealTurn {
        let mut turn = SealTurn::default();
        for index in 0..self.queues.len() {
            for _ in 0..rng.below(8) {
                let Some(event) = self.queues[index].events.pop_front() else { break };
                let event = self.believed(event);
                self.sealer.on_event(index, event, now_ns);
                turn.is_busy = true;
            }
            turn.is_busy |= !self.queues[index].events.is_empty();
        }
        for _ in 0..rng.below(8) {
            match self.repaired.pop_front() {
                Some(FromScc::Repairs(available)) => self.sealer.on_repairs(available),
                Some(FromScc::Frame(bytes)) => self.sealer.on_frame(&bytes, now_ns),
                Some(FromScc::NotKept(batch)) => self.sealer.on_not_kept(batch),
                None => break,
            }
            turn.is_busy = true;
        }
        turn.is_busy |= !self.repaired.is_empty();
        if self.sealer.next_tick_ns().is_some_and(|due| due <= now_ns) {
            self.sealer.on_tick(now_ns);
        }
        while let Some(action) = self.sealer.next_action() {
            match action {
                SealAction::Queue(queue, command) => {
                    turn.woken.insert(queue);
                    self.queues[queue].commands.push_back(command);
                }
                SealAction::Sealed(batch) => turn.sealed.push(self.on_sealed(*batch, rng)),
                SealAction::Repair { batch, close, ranges } => {
                    tally.one("repairs asked");
                    self.questions.push_back(Missing { batch, close, ranges });
                    turn.asks = true;
                }
                SealAction::Incomplete(batch, reason) => turn.given_up.push((batch, reason)),
            }
        }
        if !turn.is_busy {
            for _ in 0..rng.below(12) {
                if !self.store.step() {
                    break;
                }
                tally.one("store steps");
                turn.is_busy = true;
            }
        }
        turn
    }

    /// When the sealer wants a turn.
    pub(crate) fn seal_due_ns(&self) -> Option<u64> {
        self.sealer.next_tick_ns()
    }

    /// Counters of all queues: the engine's, and those of the rings.
    pub(crate) fn counts(&self) -> (Vec<IngestStats>, Vec<(QueueCounts, u64)>) {
        let engine = self.queues.iter().map(|queue| *queue.queue.stats());
        let rings = self.queues.iter().map(|queue| (queue.counts, queue.rx.len() as u64));
        (engine.collect(), rings.collect())
    }

    fn on_sealed(&mut self, batch: SealedBatch, rng: &mut Splitmix) -> Sealed {
        let mut batch = batch;
        if self.canary == Some(Canary::LostKey) && rng.one_in(50) {
            answer::lose_largest_key(&mut batch);
        }
        let batch = Arc::new(batch);
        let inserted = self.store.insert(Arc::clone(&batch));
        self.is_news = true;
        if inserted.is_ok() && self.deleted.contains(batch.batch) {
            self.delete(&[batch.batch]);
        } else if inserted.is_ok() {
            self.offers.push_back((batch.batch, batch.records, batch.hash));
        }
        if self.canary == Some(Canary::Unjudged) {
            self.store.judge(batch.batch, bloomrf_engine::wire::stream::Verdict::Verified);
        }
        Sealed { batch, inserted }
    }

    /// Only for a node that ignores gaps.
    fn note_seen(&mut self, index: usize) {
        if self.canary != Some(Canary::GapIgnored) {
            return;
        }
        for (bytes, _) in &self.queues[index].rx {
            let Some(&[low, high]) = bytes.get(48..50) else { continue };
            let record_bytes = usize::from(u16::from_le_bytes([low, high]));
            if let Ok(Frame::Data { header, records, .. }) = Frame::parse(bytes, record_bytes) {
                let frames = self.seen.entry(header.batch).or_default();
                frames.insert((header.lane, header.sequence), u64::from(records));
            }
        }
    }

    /// The event as the sealer hears it.
    fn believed(&self, event: QueueEvent) -> QueueEvent {
        let QueueEvent::Close { batch, totals } = event else { return event };
        let Some(seen) = self.seen.get(&batch) else { return QueueEvent::Close { batch, totals } };
        let of_lane = |lane: u8| {
            let of_lane = seen.iter().filter(move |((of, _), _)| *of == lane);
            let records = of_lane.clone().map(|(_, records)| records).sum();
            LaneTotal { frames: of_lane.count() as u32, records }
        };
        let totals = BatchTotals::new(totals.hash(), (0..totals.lanes()).map(of_lane));
        QueueEvent::Close { batch, totals }
    }
}

/// Whether a datagram has a field at an offset.
fn has(bytes: &[u8], offset: usize, field: &[u8]) -> bool {
    bytes.get(offset..offset + field.len()) == Some(field)
}

/// Room for events of one queue on their way to the sealer, as in the node.
const EVENTS_MAX: usize = 64;

/// The kind of a filter, for tallies.
pub(crate) fn kind_name(filter: &Filter) -> &'static str {
    match filter.kind() {
        FilterKind::None => "columns without filter",
        FilterKind::Bitmap8 => "columns bitmap8",
        FilterKind::Bitmap16 => "columns bitmap16",
        FilterKind::Exact => "columns exact",
        FilterKind::BloomRf => "columns bloomrf",
        FilterKind::Blocked => "columns blocked",
    }
}
