//! `bloomrf filter merge` and `fold`.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use bloomrf_filter::file::{StoredFilter, save};
use bloomrf_filter::{AnyFilter, Blocked, Imported, Presence, SplitBlock};
use bloomrf_kernels::{Kernel, blocked, split_block, words};

use super::args::{FoldArgs, MergeArgs};
use super::{EXPIRES, build, expiry, open};
use crate::numbers::grouped;
use crate::outcome::{CommandError, Outcome, print};

pub(super) fn merge(args: &MergeArgs) -> Outcome {
    let Some((first, others)) = args.filters.split_first() else {
        return Err(CommandError::misused("no filters to merge"));
    };
    let mut stored = open(first)?;
    for path in others {
        let other = open(path)?;
        let refused = |why: String| {
            let (first, path) = (first.display(), path.display());
            CommandError::misused(format!("{first} and {path} cannot be one filter: {why}"))
        };
        if (stored.rule, stored.encoding) != (other.rule, other.encoding) {
            return Err(refused(format!(
                "{:?}, items as {:?} here; {:?}, items as {:?} there",
                stored.rule, stored.encoding, other.rule, other.encoding
            )));
        }
        merge_into(&mut stored.filter, &other.filter).map_err(refused)?;
        // The first to expire ends the whole; where only one does, so does the whole.
        let soonest = [&stored, &other].into_iter().filter_map(|s| expiry(&s.labels)).min();
        stored.labels.extend(soonest.map(|at| (EXPIRES.to_owned(), at.to_string())));
        // The target was for the items of one.
        stored.source = None;
    }
    write(&args.output, stored)
}

pub(super) fn fold(args: &FoldArgs) -> Outcome {
    let mut stored = open(&args.filter)?;
    let (kernel, by) = (Kernel::best(), args.by as usize);
    let name = args.filter.display();
    let refused = |why: String| CommandError::misused(format!("{name}: {why}"));
    let (capacity, inserted) = (stored.filter.capacity(), stored.filter.inserted());
    let check = |blocks: usize| {
        let is_whole = blocks.is_multiple_of(by);
        let blocks = grouped(blocks as u64);
        is_whole
            .then_some(())
            .ok_or_else(|| refused(format!("{by} does not divide {blocks} blocks")))
    };
    let folded: Option<AnyFilter> = match &stored.filter {
        AnyFilter::Blocked(filter) => {
            check(filter.words().len() / blocked::BLOCK_WORDS)?;
            let mut words = filter.words().to_vec();
            blocked::fold(&mut words, by);
            Blocked::from_parts(filter.k(), words, capacity, inserted).map(Into::into)
        }
        AnyFilter::SplitBlock(filter) => {
            check(filter.words().len() / split_block::BLOCK_WORDS)?;
            let mut words = filter.words().to_vec();
            split_block::fold(&mut words, by);
            SplitBlock::from_parts(words, capacity, inserted).map(Into::into)
        }
        other => {
            return Err(refused(format!(
                "a filter of kind {} cannot be folded, only blocked and split-block ones",
                other.kind()
            )));
        }
    };
    let _ = kernel;
    stored.filter = folded.ok_or_else(|| refused("nothing is left of it".into()))?;
    write(&args.output, stored)
}

fn write(path: &std::path::Path, mut stored: StoredFilter) -> Outcome {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    stored.stamp = build::stamp(now.as_micros() as i64);
    save(path, &stored).map_err(CommandError::failed)?;
    let inserted = grouped(stored.filter.inserted());
    print(&format!("{}: {}, {inserted} items\n", path.display(), stored.filter.kind()))?;
    Ok(ExitCode::SUCCESS)
}

fn merge_into(target: &mut AnyFilter, source: &AnyFilter) -> Result<(), String> {
    let inserted = |filter: &AnyFilter, most: u64, least: u64| {
        (filter.estimate().round() as u64).clamp(least, most)
    };
    let most = target.inserted().saturating_add(source.inserted());
    let least = target.inserted().max(source.inserted());
    let capacity = target.capacity();
    let merged: Option<AnyFilter> = match (&mut *target, source) {
        (AnyFilter::Classic(ours), AnyFilter::Classic(theirs)) => {
            return ours.merge(theirs).map_err(|why| why.to_string());
        }
        (AnyFilter::Blocked(ours), AnyFilter::Blocked(theirs)) if ours.k() == theirs.k() => {
            let of = |words, inserted| Blocked::from_parts(ours.k(), words, capacity, inserted);
            union(ours.words(), theirs.words())?.and_then(|words| {
                let counted = AnyFilter::from(of(words.clone(), least)?);
                of(words, inserted(&counted, most, least)).map(Into::into)
            })
        }
        (AnyFilter::SplitBlock(ours), AnyFilter::SplitBlock(theirs)) => {
            union(ours.words(), theirs.words())?.and_then(|words| {
                let counted = AnyFilter::from(SplitBlock::from_parts(words.clone(), 0, 0)?);
                let inserted = inserted(&counted, most, least);
                SplitBlock::from_parts(words, capacity, inserted).map(Into::into)
            })
        }
        (AnyFilter::Imported(ours), AnyFilter::Imported(theirs))
            if (ours.k(), ours.bits()) == (theirs.k(), theirs.bits()) =>
        {
            let (rule, k, bits) = (ours.rule(), ours.k(), ours.bits());
            union(ours.words(), theirs.words())?.and_then(|words| {
                Imported::from_parts(rule, k, bits, words, capacity, least).map(Into::into)
            })
        }
        (ours, theirs) if ours.kind() == theirs.kind() => None,
        (ours, theirs) => {
            return Err(format!("{} here, {} there", ours.kind(), theirs.kind()));
        }
    };
    *target = merged.ok_or("their shapes differ, or such filters are not merged")?;
    Ok(())
}

/// The bits of both.
fn union(ours: &[u64], theirs: &[u64]) -> Result<Option<Vec<u64>>, String> {
    if ours.len() != theirs.len() {
        let (ours, theirs) = (grouped(8 * ours.len() as u64), grouped(8 * theirs.len() as u64));
        return Err(format!("{ours} bytes here, {theirs} there"));
    }
    let mut merged = ours.to_vec();
    words::merge(Kernel::best(), &mut merged, theirs);
    Ok(Some(merged))
}
