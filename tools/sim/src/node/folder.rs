//! The data folder: what a start loads from it, and the thread that keeps it up; as in
//! `engine/node/src/persist`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use bloomrf_engine::env::Disk;
use bloomrf_engine::format::{FileName, Origin, decode};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::limits::FILE_BYTES_MAX;
use bloomrf_engine::persist::{PersistConfig, Persister, Recovery, RecoveryReport, Step, recover};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::{BatchState, Store};

use super::SimNode;
use crate::canary::Canary;
use crate::disk::{Lies, SimDisk};
use crate::epoch::Epoch;
use crate::records::CLUSTER;
use crate::settings::{SLOT_NS, Settings};
use crate::shared::Splitmix;

/// What a start found in the folder.
pub(crate) struct Found {
    pub(crate) batches: Vec<Arc<SealedBatch>>,
    pub(crate) report: RecoveryReport,
    /// Those that found no room in the store.
    pub(crate) left_out: Vec<BatchId>,
}

impl SimNode {
    /// Loads the folder into the store of a new node. An error: it cannot even be listed.
    pub(crate) fn load(
        &mut self,
        settings: &Settings,
        epochs: &[Epoch],
        disk: &SimDisk,
    ) -> io::Result<Found> {
        disk.set_lies(lies(self.canary));
        let mut epoch = &epochs[self.epoch];
        if self.canary == Some(Canary::SchemaKeepsFilters) && self.epoch > 0 {
            epoch = &epochs[self.epoch - 1];
        }
        let config = persist_config(settings, epoch);
        let trusted = self.trusted(disk, &config);
        let mut recovery = recover(disk, &config)?;
        recovery.batches.extend(trusted);
        Ok(self.restore(config, recovery))
    }

    /// One step of the thread; what it did.
    pub(crate) fn folder_turn(
        &mut self,
        disk: &SimDisk,
        now_ns: u64,
        rng: &mut Splitmix,
    ) -> Option<Step> {
        let persister = self.persister.as_mut()?;
        let scrubbed = self.store.scrub(rng.below(300) as usize);
        assert!(scrubbed.corrupt.is_empty(), "nothing rots in this memory: {scrubbed:?}");
        let snapshot = Arc::clone(&self.reader.load());
        if std::mem::take(&mut self.is_news) {
            if self.canary == Some(Canary::FilesStay) {
                snapshot.batches().for_each(|batch| persister.on_verified(batch));
            } else {
                persister.reconcile(&snapshot);
            }
        }
        let job = persister.plan(&snapshot, rng, now_ns, (now_ns / 1_000) as i64);
        drop(snapshot);
        Some(persister.perform(disk, job, now_ns))
    }

    /// When the thread wants a turn.
    pub(crate) fn folder_due_ns(&self) -> Option<u64> {
        self.persister.as_ref().and_then(Persister::next_step_ns)
    }

    fn restore(&mut self, config: PersistConfig, mut recovery: Recovery) -> Found {
        let batches = std::mem::take(&mut recovery.batches);
        let mut persister = Persister::new(config, &recovery);
        let left_out = self.store.restore(batches.clone());
        persister.on_gone(&left_out);
        self.persister = Some(persister);
        Found { batches, report: recovery.report, left_out }
    }

    /// Only for a node that believes in names: whole files of other names.
    fn trusted(&self, disk: &SimDisk, config: &PersistConfig) -> Vec<Arc<SealedBatch>> {
        if self.canary != Some(Canary::NameTrusted) {
            return Vec::new();
        }
        let names: Vec<FileName> =
            disk.contents().keys().filter_map(|name| name.parse().ok()).collect();
        let mut trusted = Vec::new();
        for name in &names {
            let Ok(bytes) = disk.read(&name.to_string(), FILE_BYTES_MAX) else { continue };
            let other = |other: &&FileName| *other != name;
            let read = |other| decode(&bytes, other, &config.origin, &config.schema).ok();
            if let Some(mut stored) = names.iter().filter(other).find_map(read) {
                stored.batch.batch = name.batch;
                trusted.push(Arc::new(stored.batch));
            }
        }
        trusted
    }
}

/// Settings of persistence in simulated time.
pub(crate) fn persist_config(settings: &Settings, epoch: &Epoch) -> PersistConfig {
    let (retain, arena_bytes) = (settings.store.retain_batches, settings.store.arena_bytes);
    let schema = Arc::clone(&epoch.schema);
    PersistConfig {
        retry_ns: 20 * SLOT_NS,
        retry_max_ns: 300 * SLOT_NS,
        scrub_ns: SCRUB_NS,
        ..PersistConfig::new(origin_of(epoch), schema, retain, arena_bytes, epoch.seed)
    }
}

/// Whose files an epoch's are.
pub(crate) fn origin_of(epoch: &Epoch) -> Origin {
    Origin {
        cluster: CLUSTER,
        fingerprint: epoch.schema.fingerprint(),
        schema_version: epoch.schema.version(),
    }
}

/// Files that a node knows to be safe, of batches that it may consult.
pub(crate) fn safe_files(persister: &Persister, store: &Store, disk: &SimDisk) -> Vec<FileName> {
    let stored: BTreeSet<BatchId> = persister.stored().collect();
    let held = store.list().into_iter();
    let held = held.filter(|(_, state)| *state == BatchState::Verified);
    let safe: BTreeSet<BatchId> =
        held.map(|(batch, _)| batch.batch).filter(|batch| stored.contains(batch)).collect();
    let names = disk.contents();
    let names = names.keys().filter_map(|name| name.parse::<FileName>().ok());
    let mut newest: BTreeMap<BatchId, FileName> = BTreeMap::new();
    for name in names.filter(|name| safe.contains(&name.batch)) {
        let known = newest.entry(name.batch).or_insert(name);
        if known.generation < name.generation {
            *known = name;
        }
    }
    newest.into_values().collect()
}

/// How a canary's way to the disk lies.
pub(crate) fn lies(canary: Option<Canary>) -> Lies {
    Lies {
        unsynced: canary == Some(Canary::RenameBeforeSync),
        folder_unsynced: canary == Some(Canary::FolderUnsynced),
        errors_hidden: canary == Some(Canary::ErrorIgnored),
    }
}

/// Every file is looked at once in this time.
const SCRUB_NS: u64 = 20_000 * SLOT_NS;
