//! One step: first what is to be done, and what it takes from the store; then the disk.
//!
//! Apart, so that a disk that hangs does so with no snapshot in hand: what a snapshot holds counts
//! against the arena.

use std::collections::BTreeSet;

use super::files::{KnownFile, name_of};
use super::persister::{Persister, Step, held};
use super::publish::{PROBE_NAME, temporary_of};
use super::{DiskError, Place, publish};
use crate::env::{Disk, Rng};
use crate::filter::Filter;
use crate::format::{EncodeError, FileName, Stamp, encode};
use crate::identity::BatchId;
use crate::seal::SealedBatch;
use crate::store::Snapshot;
use crate::verify::BatchHash;

/// What is to be done next.
#[derive(Debug)]
pub struct Job(Work);

#[derive(Debug)]
enum Work {
    Nothing,
    Remove,
    Write(Writing),
    Unstorable { batch: BatchId, error: EncodeError },
    Sync,
    Probe,
    Compare,
    Scrub { name: FileName, file: KnownFile, is_held: bool },
}

#[derive(Debug)]
struct Writing {
    name: FileName,
    hash: BatchHash,
    bytes: Vec<u8>,
}

impl Persister {
    /// Does one thing with the disk: a write, removals, or a file looked at.
    pub fn step(
        &mut self,
        disk: &dyn Disk,
        snapshot: &Snapshot,
        rng: &mut dyn Rng,
        now_ns: u64,
        unix_us: i64,
    ) -> Step {
        let job = self.plan(snapshot, rng, now_ns, unix_us);
        self.perform(disk, job, now_ns)
    }

    /// The first half of a step: chooses what is due. No disk is touched; the snapshot may be let
    /// go. A job that is not performed is planned again.
    #[must_use]
    pub fn plan(
        &mut self,
        snapshot: &Snapshot,
        rng: &mut dyn Rng,
        now_ns: u64,
        unix_us: i64,
    ) -> Job {
        if std::mem::take(&mut self.reconcile_due) {
            self.reconcile(snapshot);
        }
        if now_ns >= self.retry_at_ns {
            let work = self.plan_work(snapshot, rng, unix_us);
            if !matches!(work, Work::Nothing) {
                return Job(work);
            }
        }
        Job(self.plan_scrub(snapshot, now_ns).unwrap_or(Work::Nothing))
    }

    /// The second half: what was planned is done.
    pub fn perform(&mut self, disk: &dyn Disk, job: Job, now_ns: u64) -> Step {
        let done = match job.0 {
            Work::Nothing => Ok(Step::Idle),
            Work::Unstorable { batch, error } => Ok(Step::Unstorable { batch, error }),
            Work::Scrub { name, file, is_held } => Ok(self.scrub(disk, &name, &file, is_held)),
            work => self.do_work(disk, work).inspect(|_| self.on_success()),
        };
        let step = done.unwrap_or_else(|error| self.on_failure(&error, now_ns));
        self.count();
        step
    }

    pub(super) fn has_work(&self) -> bool {
        self.waiting.len() > 0
            || !self.files.leaving.is_empty()
            || self.is_unsynced
            || self.probe_due
            || self.compare_due
            || self.reconcile_due
    }

    fn plan_work(&mut self, snapshot: &Snapshot, rng: &mut dyn Rng, unix_us: i64) -> Work {
        let is_leaving = !self.files.leaving.is_empty();
        // Space is made before it is taken.
        if is_leaving && !self.writes_first {
            return Work::Remove;
        }
        if let Some(work) = self.plan_write(snapshot, rng, unix_us) {
            return work;
        }
        match () {
            () if is_leaving => Work::Remove,
            () if self.is_unsynced => Work::Sync,
            () if self.probe_due => Work::Probe,
            () if self.compare_due => Work::Compare,
            () => Work::Nothing,
        }
    }

    /// The first batch that wants a file and may still have one.
    fn plan_write(&mut self, snapshot: &Snapshot, rng: &mut dyn Rng, unix_us: i64) -> Option<Work> {
        while let Some(batch) = self.waiting.first() {
            let file = self.files.of(batch);
            let wanted = held(snapshot, batch).filter(|(held, is_live)| {
                *is_live && file.is_none_or(|file| file.hash != Some(held.hash))
            });
            let Some(plain) = wanted.and_then(|_| snapshot.plain(batch)) else {
                self.waiting.drop(batch);
                continue;
            };
            let generation = self.generation_next;
            let seed = seed_of(&plain).unwrap_or(self.config.seed);
            let uuid = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
            let stamp = Stamp { uuid, generation, built_at_us: unix_us, seed };
            let bytes = match encode(&plain, &self.config.origin, &stamp) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.waiting.drop(batch);
                    self.status.unstorable += 1;
                    return Some(Work::Unstorable { batch, error });
                }
            };
            self.generation_next += 1;
            let name = FileName { batch, generation };
            return Some(Work::Write(Writing { name, hash: plain.hash, bytes }));
        }
        None
    }

    fn plan_scrub(&mut self, snapshot: &Snapshot, now_ns: u64) -> Option<Work> {
        let (name, file) = self.next_to_scrub(now_ns)?;
        let is_held = held(snapshot, name.batch).is_some_and(|(_, is_live)| is_live);
        Some(Work::Scrub { name, file, is_held })
    }

    fn do_work(&mut self, disk: &dyn Disk, work: Work) -> Result<Step, DiskError> {
        match work {
            Work::Remove => return self.remove_some(disk),
            Work::Write(writing) => return self.write(disk, &writing),
            Work::Sync => {
                // A folder whose sync failed is not synced again as if nothing had been: what was
                // removed may come back, and is then dealt with at the next start.
                self.is_unsynced = false;
                disk.sync_folder().map_err(|e| DiskError::new(Place::Sync, e))?;
                self.status.syncs += 1;
            }
            Work::Probe => {
                publish(disk, PROBE_NAME, b"writable\n")?;
                disk.remove(PROBE_NAME).map_err(|e| DiskError::new(Place::Remove, e))?;
                self.status.syncs += 2;
                self.probe_due = false;
            }
            Work::Compare => {
                self.compare(disk)?;
                self.compare_due = false;
                self.reconcile_due = true;
            }
            Work::Nothing | Work::Unstorable { .. } | Work::Scrub { .. } => return Ok(Step::Idle),
        }
        Ok(Step::Tended)
    }

    /// Removes files that are to go. Durable with the next write, or in a step of its own.
    fn remove_some(&mut self, disk: &dyn Disk) -> Result<Step, DiskError> {
        let mut files = 0;
        for _ in 0..REMOVED_TOGETHER {
            let Some(leaving) = self.files.leaving.pop_front() else { break };
            if let Err(error) = disk.remove(&leaving.name) {
                self.files.leaving.push_back(leaving);
                self.writes_first = true;
                return Err(DiskError::new(Place::Remove, error));
            }
            self.is_unsynced = true;
            self.status.removed += u64::from(!leaving.is_debris);
            files += usize::from(!leaving.is_debris);
        }
        Ok(Step::Removed { files })
    }

    fn write(&mut self, disk: &dyn Disk, writing: &Writing) -> Result<Step, DiskError> {
        let FileName { batch, generation } = writing.name;
        let name = name_of(batch, generation);
        if let Err(error) = publish(disk, &name, &writing.bytes) {
            // Whatever lies there now is nothing: the next try has another name.
            self.files.clear_away(temporary_of(&name));
            self.files.clear_away(name);
            return Err(error);
        }
        let bytes = writing.bytes.len() as u64;
        self.is_unsynced = false;
        self.writes_first = false;
        self.probe_due = false;
        self.status.syncs += 2;
        self.status.written += 1;
        self.status.bytes_written += bytes;
        let file = KnownFile { generation, bytes, hash: Some(writing.hash), is_unread: false };
        self.files.insert(batch, file);
        self.waiting.drop(batch);
        Ok(Step::Written(writing.name))
    }

    /// Looks which files are there: somebody may have taken the folder away, or emptied it.
    fn compare(&mut self, disk: &dyn Disk) -> Result<(), DiskError> {
        let names = disk.list().map_err(|e| DiskError::new(Place::List, e))?;
        let there: BTreeSet<FileName> = names.iter().filter_map(|name| name.parse().ok()).collect();
        let is_lost = |(batch, file): (BatchId, &KnownFile)| {
            let name = FileName { batch, generation: file.generation };
            (!there.contains(&name)).then_some(batch)
        };
        let lost: Vec<BatchId> = self.files.iter().filter_map(is_lost).collect();
        for batch in lost {
            self.files.lose(batch);
        }
        Ok(())
    }

    fn on_success(&mut self) {
        self.retry_at_ns = 0;
        // A removal proves nothing about space.
        if self.probe_due {
            return;
        }
        self.backoff_ns = self.config.retry_ns;
        if self.status.failing_since_ns.take().is_some() {
            self.compare_due = true;
        }
    }

    fn on_failure(&mut self, error: &DiskError, now_ns: u64) -> Step {
        self.status.count_error(error);
        self.status.failing_since_ns.get_or_insert(now_ns);
        self.retry_at_ns = now_ns.saturating_add(self.backoff_ns);
        self.backoff_ns = self.backoff_ns.saturating_mul(2).min(self.config.retry_max_ns);
        self.probe_due = true;
        Step::Failed { place: error.place }
    }
}

/// The hash seed of a batch's filters: that of an earlier time where they were loaded.
fn seed_of(batch: &SealedBatch) -> Option<u64> {
    batch.columns.iter().find_map(|column| match &column.filter {
        Filter::BloomRf { layers, .. } => Some(layers.seed()),
        Filter::Blocked { seed, .. } => Some(*seed),
        _ => None,
    })
}

/// Files removed in one step.
const REMOVED_TOGETHER: usize = 64;
