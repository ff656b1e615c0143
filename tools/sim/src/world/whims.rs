//! What goes wrong by itself, and the calm after it.

use std::sync::Arc;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::store::{BatchState, InsertError};

use super::threads::CONTROL;
use super::{Event, World};
use crate::disk::DiskFaults;
use crate::epoch::Epoch;
use crate::settings::{Faults, GRACE_NS, IDLE_NS, SLOT_NS};
use crate::weather::Weather;

impl World {
    /// Something happens that nobody wants.
    pub(super) fn whim(&mut self) {
        if self.is_calm {
            return;
        }
        let pause = 1 + self.rng.below(2 * self.settings.whim_slots);
        self.agenda.after(pause * SLOT_NS, Event::Whim);
        self.check_store();
        match self.rng.below(40) {
            0..4 => self.change_weather(),
            4..6 => {
                self.note("disconnected", 0, 0);
                self.disconnect();
                self.wake(CONTROL);
            }
            6..8 => {
                self.note("scc deletes", 0, 0);
                self.scc.delete(&mut self.rng);
                self.flush_scc();
            }
            8 => {
                self.note("scc forgets", 0, 0);
                self.scc.lose_memory(&mut self.rng);
                self.disconnect();
            }
            9..13 => self.hold_snapshot(),
            13..17 => self.held.clear(),
            whim if self.settings.faults == Faults::All => self.disaster(whim),
            _ => {}
        }
    }

    fn disaster(&mut self, whim: u64) {
        match whim {
            17 => {
                let power = self.rng.one_in(2);
                self.crash(power);
            }
            18 if self.rng.one_in(2) => self.change_schema(),
            19 | 20 => {
                let calls = self.rng.below(12);
                self.note("cut planned", calls, 0);
                self.disk.cut_after(calls);
            }
            21..23 => self.rot(),
            23..25 => self.change_disk(),
            _ => {}
        }
    }

    fn change_weather(&mut self) {
        self.link.weather = Weather::draw(&mut self.rng);
        let Weather { loss, repeat, .. } = self.link.weather;
        self.note("weather", loss, repeat);
    }

    fn hold_snapshot(&mut self) {
        let Some(node) = &self.node else { return };
        self.held.push(Arc::clone(&node.reader.load()));
        if self.held.len() > 2 {
            self.held.remove(0);
        }
    }

    /// The cluster goes over to another schema; the node hears of it now or later.
    fn change_schema(&mut self) {
        let version = self.epochs.len() as u32 + 1;
        let epoch = Epoch::draw(version, &mut self.rng);
        self.note("schema", version.into(), 0);
        self.tally.one("schema changes");
        self.epochs.push(epoch);
        self.crash(false);
    }

    /// The faults are over. What is sent from now on arrives, is verified and is used.
    pub(super) fn calm_down(&mut self) {
        self.note("calm", 0, 0);
        self.is_calm = true;
        self.scc.is_calm = true;
        self.sender.is_draining = true;
        self.link.weather = Weather::default();
        self.held.clear();
        self.disk.set_faults(DiskFaults::default());
        self.disk.cut_never();
        if self.connection.is_spoiled {
            self.disconnect();
        }
        self.check_store();
        self.settle();
        let is_current = self.node.as_ref().is_some_and(|node| node.epoch + 1 == self.epochs.len());
        if !is_current {
            self.kill_node();
            self.start_node();
        }
        for _ in 0..2 {
            let batch = self.begin_batch();
            self.settle();
            self.check_used(batch);
        }
        self.check_store();
        self.check_accounts();
        self.check_folder();
        (0..4).for_each(|_| self.ask());
    }

    /// Until nothing is on its way any more and every wait is over.
    fn settle(&mut self) {
        let mut until_ns = u64::MAX;
        for _ in 0..SETTLE_EVENTS {
            self.next_event();
            let is_still = self.sender.is_idle() && self.link.tally.carried == self.past.arrived;
            if !is_still || self.node.is_none() || !self.is_folder_idle() {
                until_ns = u64::MAX;
            } else if until_ns == u64::MAX {
                until_ns = self.agenda.now_ns() + IDLE_NS + 4 * GRACE_NS + 700 * SLOT_NS;
            }
            if self.agenda.now_ns() > until_ns {
                return;
            }
        }
        panic!("after {SETTLE_EVENTS} events of calm there is no rest");
    }

    /// The store may consult a batch that was sent in the calm.
    fn check_used(&mut self, batch: BatchId) {
        let Some(node) = &self.node else { return };
        let state = node.store.list().into_iter().find(|(held, _)| held.batch == batch);
        let state = state.map(|(_, state)| state);
        if state == Some(BatchState::Verified) {
            self.tally.one("used in the calm");
            return;
        }
        let why = self.not_kept.get(&batch);
        assert!(
            matches!(why, Some(InsertError::TooLarge { .. })),
            "batch {batch} was sent in the calm, and is {state:?} ({why:?}): {:?}",
            node.store.stats()
        );
    }
}

/// Events after which there must be rest.
const SETTLE_EVENTS: u64 = 100_000;
