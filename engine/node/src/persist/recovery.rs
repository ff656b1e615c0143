//! From a folder to a store: before the node is ready, on all cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use bloomrf_engine::format::{FileName, Origin};
use bloomrf_engine::persist::{
    Loaded, PersistConfig, Persister, RecoveryReport, load, recover_with,
};

use super::PersistLoop;
use crate::config::Config;
use crate::disk::FolderDisk;
use crate::env::SystemRng;
use crate::shared::Shared;
use crate::start::StartError;

/// Opens the data folder and finds its hash seed. Refused where it cannot be made, locked or
/// listed; one that cannot be written costs only what it would have kept.
pub(crate) fn open_folder(config: &Config) -> Result<(FolderDisk, SystemRng, u64), StartError> {
    let refuse = |source| StartError::DataDir { path: config.data_dir.clone(), source };
    let disk = FolderDisk::open(&config.data_dir).map_err(refuse)?;
    let mut rng = SystemRng::open()
        .map_err(|e| StartError::Setup { what: "/dev/urandom", reason: e.to_string() })?;
    let seed = crate::seed::load_or_draw(&disk, &mut rng, config.schema.fingerprint());
    Ok((disk, rng, seed))
}

/// Loads what the folder holds into the store: one publication, all of it verified.
pub(crate) fn recover(
    shared: &Arc<Shared>,
    disk: FolderDisk,
    rng: SystemRng,
    seed: u64,
) -> Result<PersistLoop, StartError> {
    let start = Instant::now();
    let config = persist_config(shared, seed);
    let refuse = |source| StartError::DataDir { path: shared.config.data_dir.clone(), source };
    let mut load_many = |names: &[FileName]| load_together(&disk, &config, names);
    let mut recovery = recover_with(&disk, &config, &mut load_many).map_err(refuse)?;
    let batches = std::mem::take(&mut recovery.batches);
    let mut persister = Persister::new(config, &recovery);
    let left_out = shared.store().restore(batches);
    persister.on_gone(&left_out);
    log_report(&recovery.report, left_out.len(), start);
    Ok(PersistLoop::new(Arc::clone(shared), persister, disk, rng))
}

fn persist_config(shared: &Shared, seed: u64) -> PersistConfig {
    let (config, schema) = (&shared.config, Arc::clone(&shared.schema));
    let origin = Origin {
        cluster: config.cluster,
        fingerprint: schema.fingerprint(),
        schema_version: schema.version(),
    };
    let base = PersistConfig::new(origin, schema, config.retain_batches, config.arena_bytes, seed);
    PersistConfig { scrub_ns: config.scrub_hours.saturating_mul(3_600_000_000_000), ..base }
}

/// Loads files side by side: reading waits, checking computes.
fn load_together(disk: &FolderDisk, config: &PersistConfig, names: &[FileName]) -> Vec<Loaded> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut some = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(index) else { return some };
            some.push((index, load(disk, name, config)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(LOADERS_MAX);
    let mut all = thread::scope(|scope| {
        let spawn = |_| {
            let thread = thread::Builder::new().name("bloomrf-load".to_owned());
            thread.spawn_scoped(scope, some).ok()
        };
        let others: Vec<_> = (1..cores.min(names.len())).filter_map(spawn).collect();
        let mut all = some();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, loaded)| loaded).collect()
}

fn log_report(report: &RecoveryReport, left_out: usize, start: Instant) {
    let status = &report.status;
    for file in report.refused.iter().take(NAMED_MAX) {
        let (name, reason, kept) = (&file.name, file.reason, file.is_kept);
        tracing::warn!(file = name, reason, kept, "stored file refused: its batch has no filter");
    }
    for (batch, lost) in report.lost.iter().take(NAMED_MAX) {
        let (column, reason) = (lost.ordinal, lost.reason.label());
        tracing::warn!(batch, column, reason, "stored filter damaged: the column has none");
    }
    for name in report.unreadable.iter().take(NAMED_MAX) {
        tracing::warn!(file = name, "stored file unreadable: left for another start");
    }
    if report.foreign > 0 {
        let files = report.foreign;
        tracing::warn!(files, "files of another cluster or schema discarded");
    }
    if status.newer > 0 {
        let files = status.newer;
        tracing::warn!(files, "files of a newer format left alone");
    }
    if let Some(error) = &status.last_error {
        let (place, error) = (error.place.label(), &error.text);
        tracing::warn!(place, error, errors = status.errors_sum(), "data folder: failures");
    }
    tracing::info!(
        batches = status.recovered - (left_out as u64).min(status.recovered),
        bytes = report.bytes_read,
        surplus = report.surplus + left_out as u64,
        refused = status.refused_sum(),
        sections_lost = status.sections_lost,
        unfinished = report.temporaries,
        millis = start.elapsed().as_millis() as u64,
        "stored filters loaded"
    );
}

/// Threads that load files.
const LOADERS_MAX: usize = 8;
/// Files named in the log, per kind of trouble.
const NAMED_MAX: usize = 8;
