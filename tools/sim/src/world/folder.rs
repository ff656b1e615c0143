//! The data folder in the world: starts, crashes, a failing disk; and what must hold of it.
//!
//! - What a start loads is what was sealed, to the bounds and flags, or is absent and told of.
//! - No file is refused or has lost a filter but those that something happened to at rest.
//! - What the node knew to be safe is there after a crash.
//! - In the calm, the folder holds the verified batches and no others.

use std::collections::{BTreeMap, BTreeSet};

use bloomrf_engine::filter::{ColumnFlags, ColumnZone};
use bloomrf_engine::format::{FileName, decode};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::persist::{Step, TEMPORARY_PREFIX};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::BatchState;
use bloomrf_engine::verify::Digest;

use super::threads::{CONTROL, COUNT, FOLDER, SEAL, SLEEP_SLOTS};
use super::{Event, World};
use crate::disk::DiskFaults;
use crate::node::{Found, SimNode, persist_config, safe_files};
use crate::settings::SLOT_NS;

/// What is known of the data folder from outside.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Names of files that something happened to.
    rotten: BTreeSet<String>,
    /// Names that an earlier node gave and could not make safe: the next one cannot know it.
    doubtful: BTreeSet<String>,
    /// Files that the last node knew to be safe, when it ended.
    safe: Vec<FileName>,
    /// Files that the node could not read when it started, and left.
    unread: BTreeSet<BatchId>,
    /// What batches were when they were sealed, by id and digest.
    sealed: BTreeMap<(BatchId, Digest), Summary>,
}

impl Folder {
    /// A batch was sealed.
    pub(super) fn note_sealed(&mut self, batch: &SealedBatch) {
        self.sealed.insert((batch.batch, batch.hash.digest), Summary::of(batch));
    }
}

/// A batch without its filters, which would count against the arena as long as they are held.
#[derive(Debug, PartialEq)]
struct Summary {
    records: u64,
    columns: Vec<(ColumnFlags, ColumnZone)>,
}

impl Summary {
    fn of(batch: &SealedBatch) -> Self {
        let columns = batch.columns.iter().map(|column| (column.flags, column.zone));
        Summary { records: batch.records, columns: columns.collect() }
    }
}

impl World {
    /// A node starts, on the cluster's schema or, where it has not heard of it, on the last one.
    pub(super) fn start_node(&mut self) {
        if self.node.is_some() {
            return;
        }
        let index = self.epochs.len() - 1;
        let is_behind = index > 0 && !self.is_calm && self.rng.one_in(4);
        let index = index - usize::from(is_behind);
        self.note("start", index as u64, 0);
        let mut node = SimNode::start(&self.settings, (index, &self.epochs[index]));
        let found = node.load(&self.settings, &self.epochs, &self.disk);
        if self.node_epoch_of_safe().is_some_and(|epoch| epoch != index) {
            // The files of another schema are removed, even by a start that does not end.
            self.folder.safe.clear();
        }
        if self.disk.is_cut() {
            if found.is_ok_and(|found| found.report.surplus > 0) {
                // What came back from the past may have taken the place of what was safe.
                self.folder.safe.clear();
            }
            self.tally.one("cuts in a start");
            let power = self.rng.one_in(2);
            self.disk.crash(power);
            return self.start_later();
        }
        let Ok(found) = found else {
            self.tally.one("starts refused");
            return self.start_later();
        };
        self.node = Some(node);
        self.check_found(&found);
        self.folder.doubtful = self.disk.doubtful();
        let threads = (0..self.settings.queues).chain([SEAL, CONTROL, FOLDER]);
        threads.for_each(|thread| self.wake(thread));
    }

    /// The schema of the files that were safe.
    fn node_epoch_of_safe(&self) -> Option<usize> {
        let safe = self.folder.safe.first()?;
        self.records.get(&safe.batch).map(|sent| sent.epoch)
    }

    fn start_later(&mut self) {
        let pause = 1 + self.rng.below(400);
        self.agenda.after(pause * SLOT_NS, Event::Start);
    }

    /// The node is gone, and what its memory held with it.
    pub(super) fn kill_node(&mut self) {
        let Some(node) = self.node.take() else { return };
        let persister = node.persister.as_ref();
        let safe = persister.map(|persister| safe_files(persister, &node.store, &self.disk));
        let mut safe = safe.unwrap_or_default();
        safe.retain(|name| !self.folder.doubtful.contains(&name.to_string()));
        self.folder.safe = safe;
        self.past.add(&node);
        self.turns = [u64::MAX; COUNT];
        self.held.clear();
        self.disconnect();
    }

    /// The node is killed, or the machine loses power; it starts again later.
    pub(super) fn crash(&mut self, power: bool) {
        if self.node.is_none() {
            return;
        }
        self.note("crash", u64::from(power), 0);
        self.tally.one(if power { "power cuts" } else { "kills" });
        self.kill_node();
        self.disk.crash(power);
        if self.rng.one_in(3) {
            self.rot();
        }
        self.start_later();
    }

    pub(super) fn folder_turn(&mut self) {
        let now_ns = self.agenda.now_ns();
        let Some(node) = &mut self.node else { return };
        let Some(step) = node.folder_turn(&self.disk, now_ns, &mut self.rng) else { return };
        let due_ns = node.folder_due_ns();
        self.note_step(&step);
        if self.disk.is_cut() {
            let power = self.rng.one_in(2);
            self.tally.one("cuts in a step");
            return self.crash(power);
        }
        let until_due = due_ns.map_or(SLEEP_SLOTS, |due| due.saturating_sub(now_ns) / SLOT_NS + 1);
        self.turn_in(FOLDER, until_due.clamp(2, SLEEP_SLOTS));
    }

    fn note_step(&mut self, step: &Step) {
        let (what, subject) = match step {
            Step::Idle => return,
            Step::Written(name) => ("written", name.batch),
            Step::Removed { files } => ("removed", *files as u64),
            Step::Tended => ("tended", 0),
            Step::Scrubbed { batch, .. } => ("scrubbed", *batch),
            Step::Unstorable { batch, .. } => ("unstorable", *batch),
            Step::Failed { place } => ("disk failed", *place as u64),
            _ => ("step", 0),
        };
        self.note(what, subject, 0);
        self.tally.one(what);
    }

    /// Something happens to a file at rest.
    pub(super) fn rot(&mut self) {
        let rotten = self.disk.rot();
        self.note("rot", rotten.len() as u64, 0);
        self.tally.add("rotten", rotten.len() as u64);
        self.folder.rotten.extend(rotten);
    }

    /// The disk begins or ends to fail.
    pub(super) fn change_disk(&mut self) {
        let rate = |rng: &mut crate::shared::Splitmix| *rng.pick(&[0, 0, 0, 2, 10, 40]);
        let faults = DiskFaults {
            eio_one_in: rate(&mut self.rng),
            enospc_one_in: rate(&mut self.rng),
            read_one_in: rate(&mut self.rng),
        };
        self.note("disk", faults.eio_one_in, faults.enospc_one_in);
        self.disk.set_faults(faults);
    }

    fn check_found(&mut self, found: &Found) {
        let Found { batches, report, left_out } = found;
        self.tally.one("starts");
        self.tally.add("recovered", batches.len() as u64);
        self.tally.add("refused files", report.refused.len() as u64);
        self.tally.add("lost sections", report.lost.len() as u64);
        let rotten = &self.folder.rotten;
        for file in &report.refused {
            assert!(rotten.contains(&file.name), "a whole file is refused: {file:?}");
        }
        let rotten_batches: BTreeSet<BatchId> =
            rotten.iter().filter_map(|name| name.parse().ok()).map(|n: FileName| n.batch).collect();
        for (batch, lost) in &report.lost {
            assert!(rotten_batches.contains(batch), "a whole file of {batch} has lost {lost:?}");
        }
        for batch in batches {
            self.check_loaded(batch);
        }
        let unread = report.unreadable.iter().filter_map(|name| name.parse().ok());
        self.folder.unread = unread.map(|name: FileName| name.batch).collect();
        let loaded: BTreeSet<BatchId> = batches.iter().map(|batch| batch.batch).collect();
        if report.surplus == 0 && left_out.is_empty() {
            for name in &self.folder.safe {
                let text = name.to_string();
                let is_excused =
                    self.folder.rotten.contains(&text) || report.unreadable.contains(&text);
                assert!(is_excused || loaded.contains(&name.batch), "{text} was safe and is gone");
            }
            self.tally.add("safe files", self.folder.safe.len() as u64);
        }
        self.check_store();
    }

    /// Whether the node's data folder has nothing to do.
    pub(super) fn is_folder_idle(&self) -> bool {
        let Some(persister) = self.node.as_ref().and_then(|node| node.persister.as_ref()) else {
            return true;
        };
        let status = persister.status();
        status.waiting + status.removing == 0 && status.failing_since_ns.is_none()
    }

    /// A batch that was loaded is as it was sealed.
    fn check_loaded(&self, batch: &SealedBatch) {
        let id = batch.batch;
        let sealed = self.folder.sealed.get(&(id, batch.hash.digest));
        let sealed = sealed.unwrap_or_else(|| panic!("batch {id} was never sealed, and is loaded"));
        assert_eq!(&Summary::of(batch), sealed, "batch {id}");
    }

    /// With a disk that works, the folder holds the verified batches and no others.
    pub(super) fn check_folder(&mut self) {
        let Some(node) = &self.node else { return };
        let Some(persister) = &node.persister else { return };
        let status = persister.status();
        assert_eq!((status.waiting, status.removing), (0, 0), "work is left: {status:?}");
        let held = node.store.list().into_iter();
        let held = held.filter(|(_, state)| *state == BatchState::Verified);
        let verified: BTreeSet<BatchId> = held.map(|(batch, _)| batch.batch).collect();
        let epoch = &self.epochs[node.epoch];
        let config = persist_config(&self.settings, epoch);
        let mut in_folder = BTreeSet::new();
        for (text, bytes) in self.disk.contents() {
            // The probe of a failing disk may be left: the next one, or the next start, removes it.
            let is_left = text.starts_with(TEMPORARY_PREFIX) && !text.ends_with("probe");
            assert!(!is_left, "{text} is left");
            let Ok(name) = text.parse::<FileName>() else { continue };
            // One that could not be read at the start may even be of another schema.
            let is_rotten =
                self.folder.rotten.contains(&text) || self.folder.unread.contains(&name.batch);
            let stored = decode(&bytes, &name, &config.origin, &config.schema);
            assert!(is_rotten || stored.is_ok(), "{text} is damaged: {:?}", stored.err());
            assert!(in_folder.insert(name.batch), "two files of batch {}", name.batch);
        }
        let extra: Vec<&BatchId> = in_folder.difference(&verified).collect();
        let rotten = &self.folder.rotten;
        let batch_of = |text: &String| text.parse::<FileName>().ok().map(|name| name.batch);
        let excused: BTreeSet<BatchId> = rotten.iter().filter_map(batch_of).collect();
        let is_excused =
            |batch: &BatchId| excused.contains(batch) || self.folder.unread.contains(batch);
        assert!(
            extra.iter().all(|batch| is_excused(batch)),
            "files of nobody: {extra:?} {status:?}"
        );
        let missing: Vec<&BatchId> = verified.difference(&in_folder).collect();
        assert!(missing.is_empty(), "verified and without a file: {missing:?}");
        self.tally.add("files in the calm", in_folder.len() as u64);
    }
}
