//! The world: everything there is, and what happens to it, one event after the other.

mod ask;
mod checks;
mod folder;
mod send;
mod stream;
mod threads;
mod whims;

use std::collections::BTreeMap;
use std::sync::Arc;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::store::{InsertError, Snapshot};
use bloomrf_engine::wire::stream::StreamMessage;

use crate::agenda::Agenda;
use crate::canary::Canary;
use crate::disk::SimDisk;
use crate::epoch::Epoch;
use crate::node::SimNode;
use crate::records::Records;
use crate::scc::Scc;
use crate::settings::{Faults, SLOT_NS, Settings};
use crate::shared::Splitmix;
use crate::tally::Tally;
use crate::trace::Trace;
use crate::weather::{Link, State};

use checks::Past;
use folder::Folder;
use send::Sender;
use stream::Connection;

/// What happens next.
#[derive(Debug)]
pub(crate) enum Event {
    /// The sender puts frames on the wire.
    Send,
    /// A datagram reaches a queue's ring.
    Arrive { queue: usize, bytes: Arc<[u8]>, state: State },
    /// A thread of the node gets its turn.
    Turn(usize),
    /// The SCC learns what became of a batch.
    Learn(BatchId),
    /// The SCC says something on a connection.
    Say { connection: u64, message: StreamMessage },
    /// Bytes reach the SCC.
    ToScc(u64),
    /// Bytes reach the node.
    ToNode(u64),
    /// Somebody asks.
    Ask,
    /// Something goes wrong.
    Whim,
    /// The node starts again.
    Start,
}

/// Everything there is.
pub(crate) struct World {
    pub(crate) settings: Settings,
    pub(crate) rng: Splitmix,
    pub(crate) agenda: Agenda<Event>,
    pub(crate) trace: Trace,
    pub(crate) tally: Tally,
    pub(crate) step: u64,
    /// All schemas so far; the last one is the cluster's.
    epochs: Vec<Epoch>,
    pub(crate) records: Records,
    sender: Sender,
    pub(crate) link: Link,
    scc: Scc,
    connection: Connection,
    disk: SimDisk,
    folder: Folder,
    node: Option<SimNode>,
    /// When each thread of the node has its next turn.
    turns: [u64; threads::COUNT],
    /// Counters of nodes that are gone.
    past: Past,
    /// Snapshots that slow readers hold.
    held: Vec<Arc<Snapshot>>,
    /// Sealed batches that the store did not take.
    not_kept: BTreeMap<BatchId, InsertError>,
    /// No faults any more: what is sent now must be used.
    is_calm: bool,
}

impl World {
    /// The world of a seed.
    pub(crate) fn new(seed: u64, faults: Faults, canary: Option<Canary>) -> Self {
        let mut rng = Splitmix::new(seed ^ 0x51AB_1E5E_ED00_0001);
        let settings = Settings::draw(faults, canary, &mut rng);
        let epoch = Epoch::draw(1, &mut rng);
        let disk = SimDisk::new(rng.next());
        let scc = Scc::new(rng.one_in(5), rng.one_in(2));
        let mut world = World {
            node: None,
            sender: Sender::new(settings.id_first),
            link: Link::new(SLOT_NS),
            epochs: vec![epoch],
            settings,
            rng,
            agenda: Agenda::new(),
            trace: Trace::new(),
            tally: Tally::default(),
            step: 0,
            records: Records::new(),
            scc,
            connection: Connection::default(),
            disk,
            folder: Folder::default(),
            turns: [u64::MAX; threads::COUNT],
            past: Past::default(),
            held: Vec::new(),
            not_kept: BTreeMap::new(),
            is_calm: false,
        };
        world.start_node();
        world.agenda.after(SLOT_NS, Event::Send);
        world.agenda.after(SLOT_NS, Event::Ask);
        world.agenda.after(SLOT_NS, Event::Whim);
        world
    }

    /// Lets `steps` events happen, then the calm in which everything must come right.
    pub(crate) fn run(&mut self, steps: u64) {
        while self.step < steps {
            self.next_event();
        }
        self.calm_down();
    }

    /// Lets one event happen.
    fn next_event(&mut self) {
        let Some(event) = self.agenda.next() else {
            panic!("nothing is to happen any more");
        };
        if let Event::Turn(thread) = event
            && self.turns[thread] != self.agenda.now_ns()
        {
            // It was woken earlier.
            return;
        }
        self.step += 1;
        match event {
            Event::Send => self.send(),
            Event::Arrive { queue, bytes, state } => self.arrive(queue, bytes, state),
            Event::Turn(thread) => self.turn(thread),
            Event::Learn(batch) => self.learn(batch),
            Event::Say { connection, message } => self.say(connection, &message),
            Event::ToScc(connection) => self.reach_scc(connection),
            Event::ToNode(connection) => self.reach_node(connection),
            Event::Ask => self.ask_again(),
            Event::Whim => self.whim(),
            Event::Start => self.start_node(),
        }
    }

    fn note(&mut self, what: &'static str, subject: u64, number: u64) {
        self.trace.note(self.agenda.now_ns(), what, subject, number);
    }

    /// The schema that the cluster has now.
    fn epoch(&self) -> (usize, &Epoch) {
        let index = self.epochs.len() - 1;
        (index, &self.epochs[index])
    }
}
