//! Judges a folder that a child has left: a start on it must go well, and find what was promised.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bloomrf_engine::env::Disk as _;
use bloomrf_engine::filter::Filter;
use bloomrf_engine::format::FileName;
use bloomrf_engine::persist::{TEMPORARY_PREFIX, recover};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_node::disk::FolderDisk;

use crate::cycle::RETAIN_BATCHES;
use crate::ledger::{Known, Ledger};
use crate::shelf::Shelf;
use crate::world::{VARIANT_AT, World};

/// Starts twice on the folder. The error says which promise is broken.
pub(crate) fn judge(folder: &Path, world: &World, ledger: &Ledger) -> Result<(), String> {
    let starts = catch_unwind(AssertUnwindSafe(|| {
        let first = start(folder, world, ledger).map_err(|e| format!("first start: {e}"))?;
        let second = start(folder, world, ledger).map_err(|e| format!("second start: {e}"))?;
        if first == second { Ok(()) } else { Err("a second start finds other batches".to_owned()) }
    }));
    starts.unwrap_or_else(|_| Err("the start panicked".to_owned()))
}

/// One start: the batches that it found.
fn start(folder: &Path, world: &World, ledger: &Ledger) -> Result<Vec<SealedBatch>, String> {
    let disk = FolderDisk::open(folder).map_err(|e| format!("not opened: {e}"))?;
    let config = world.persist(RETAIN_BATCHES);
    let recovery = recover(&disk, &config).map_err(|e| format!("not recovered: {e}"))?;
    let found: Vec<SealedBatch> =
        recovery.batches.iter().map(|batch| SealedBatch::clone(batch)).collect();
    for batch in &found {
        judge_batch(world, ledger.known.get(&batch.batch), batch)?;
    }
    for (id, known) in &ledger.known {
        if known.stored.is_some() && !found.iter().any(|batch| batch.batch == *id) {
            return Err(format!("batch {id} was stored and is gone: {:?}", recovery.report));
        }
    }
    let mut refused =
        recovery.report.refused.iter().filter(|file| !may_be_refused(&file.name, ledger));
    if let Some(refused) = refused.next() {
        return Err(format!("{} was refused: {}", refused.name, refused.reason));
    }
    judge_names(&disk, &found)?;
    judge_answers(world, recovery.batches, &found)?;
    Ok(found)
}

/// Whole, and one that may be there.
fn judge_batch(world: &World, known: Option<&Known>, batch: &SealedBatch) -> Result<(), String> {
    let id = batch.batch;
    let variant = batch.hash.digest[VARIANT_AT];
    let Some(known) = known.filter(|known| known.may_be.contains(&variant)) else {
        return Err(format!("batch {id}, variant {variant}, must not be there: {known:?}"));
    };
    let right = world.batch(id, variant);
    if *batch == right || known.is_rotten && is_without_filters(batch, &right) {
        return Ok(());
    }
    Err(format!("batch {id}, variant {variant}, is not what was stored"))
}

/// The same, but for filters that were lost.
fn is_without_filters(batch: &SealedBatch, right: &SealedBatch) -> bool {
    let columns = batch.columns.iter().zip(&right.columns);
    let is_right = columns.into_iter().all(|(column, right)| {
        let is_lost = matches!(column.filter, Filter::None);
        (is_lost || column.filter == right.filter)
            && column.zone == right.zone
            && column.flags == right.flags
    });
    is_right && batch.records == right.records && batch.hash == right.hash
}

/// Only what was damaged on purpose is ever refused.
fn may_be_refused(name: &str, ledger: &Ledger) -> bool {
    let Ok(name) = name.parse::<FileName>() else { return false };
    name.batch == crate::prepare::DAMAGED
        || ledger.known.get(&name.batch).is_some_and(|known| known.is_rotten)
}

/// Nothing unfinished, nothing twice, nothing that no batch in memory belongs to.
fn judge_names(disk: &FolderDisk, found: &[SealedBatch]) -> Result<(), String> {
    let names = disk.list().map_err(|e| format!("not listed: {e}"))?;
    let mut files = 0;
    for name in &names {
        match name.parse::<FileName>() {
            Ok(file) if found.iter().any(|batch| batch.batch == file.batch) => files += 1,
            Ok(_) => return Err(format!("{name} stayed, and no batch of it was loaded")),
            Err(_) if name.starts_with(TEMPORARY_PREFIX) => return Err(format!("{name} stayed")),
            Err(_) if name.starts_with("bad-") => {}
            Err(_) => return Err(format!("{name} stayed, and nobody knows it")),
        }
    }
    if files == found.len() { Ok(()) } else { Err(format!("a batch has two files: {names:?}")) }
}

/// No false negative: records of every batch are found.
fn judge_answers(
    world: &World,
    batches: Vec<std::sync::Arc<SealedBatch>>,
    found: &[SealedBatch],
) -> Result<(), String> {
    let mut shelf = Shelf::new(world, RETAIN_BATCHES);
    let left_out = shelf.store.restore(batches);
    if !left_out.is_empty() {
        return Err(format!("{left_out:?} found no room"));
    }
    for batch in found {
        if let Some(text) = shelf.wrong(world, batch.batch, batch.hash.digest[VARIANT_AT]).first() {
            return Err(format!("batch {} does not answer {text}", batch.batch));
        }
    }
    Ok(())
}
