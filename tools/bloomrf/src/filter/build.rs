//! `bloomrf filter build`.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use bloomrf_filter::file::{Stamp, StoredFilter, save};
use bloomrf_filter::foreign::{Limits, guava};
use bloomrf_filter::scaling::Growth;
use bloomrf_filter::{AnyFilter, Classic, HashRule, Imported, Presence, Scaling, Spec};
use bloomrf_filter::{Blocked, Build, Counting, Cuckoo, SplitBlock};
use bloomrf_filter::{Encoding, foreign};
use bloomrf_kernels::hash::Hash128;
use serde_json::json;

use super::args::{BuildArgs, BuildKind};
use super::{EXPIRES, items};
use crate::numbers::{grouped, short_rate, size};
use crate::outcome::{CommandError, Outcome, complain, print};

pub(super) fn run(args: &BuildArgs) -> Outcome {
    let items = match args.items {
        Some(items) => items,
        None => count(args)?,
    };
    let (filter, rule) = empty(args, &Spec { items, fpr: args.fpr })?;
    let mut stored = StoredFilter::new(filter, rule, Encoding::from(args.encoding));
    stored.target_fpr = Some(args.fpr).filter(|_| args.kind != BuildKind::Scaling);
    let read = fill(args, &mut stored)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    stored.stamp = stamp(now.as_micros() as i64);
    stored.labels.extend(args.label.iter().cloned());
    if let Some(seconds) = args.expires_in {
        let at = now.as_secs() + seconds;
        stored.labels.insert(EXPIRES.to_owned(), at.to_string());
    }
    save(&args.output, &stored).map_err(CommandError::failed)?;
    let inserted = stored.filter.inserted();
    if inserted > items && args.kind != BuildKind::Scaling {
        let (inserted, items) = (grouped(inserted), grouped(items));
        complain("warning", format!("{inserted} distinct items in a filter for {items}"));
    }
    report(args, &stored, read)
}

/// A stamp of this very writing.
pub(super) fn stamp(built_at_us: i64) -> Stamp {
    let random = || u128::from(RandomState::new().build_hasher().finish());
    Stamp { uuid: random() << 64 | random(), generation: 0, built_at_us }
}

fn report(args: &BuildArgs, stored: &StoredFilter, read: u64) -> Outcome {
    let filter = &stored.filter;
    let (bytes, inserted, fpr) = (filter.bytes(), filter.inserted(), filter.fpr());
    let text = if args.json {
        let object = json!({
            "format": 1,
            "file": args.output,
            "kind": filter.kind().name(),
            "items_read": read,
            "inserted": inserted,
            "capacity": filter.capacity(),
            "filter_bytes": bytes,
            "fill": filter.fill(),
            "fpr": fpr,
            "expires_at_s": super::expiry(&stored.labels),
        });
        format!("{object:#}\n")
    } else {
        format!(
            "{}: {}, {} items read, {} new; {} of filter, rate now {}\n",
            args.output.display(),
            filter.kind(),
            grouped(read),
            grouped(inserted),
            size(bytes),
            short_rate(fpr)
        )
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn count(args: &BuildArgs) -> Result<u64, CommandError> {
    if args.from.input == Path::new("-") {
        return Err(CommandError::misused("--items: say how many a stream will have"));
    }
    let mut count = 0;
    items::read(&args.from, args.json, &mut |_, _| {
        count += 1;
        Ok(())
    })?;
    if count == 0 {
        let name = args.from.input.display();
        return Err(CommandError::misused(format!("{name}: no items; say --items to go on")));
    }
    Ok(count)
}

fn empty(args: &BuildArgs, spec: &Spec) -> Result<(AnyFilter, HashRule), CommandError> {
    let native = HashRule::Native { seed: args.seed };
    Ok(match args.kind {
        BuildKind::Classic => (Classic::build(spec).map_err(CommandError::misused)?.into(), native),
        BuildKind::Blocked => (Blocked::build(spec).map_err(CommandError::misused)?.into(), native),
        BuildKind::SplitBlock => {
            (SplitBlock::build(spec).map_err(CommandError::misused)?.into(), native)
        }
        BuildKind::Counting => {
            (Counting::build(spec).map_err(CommandError::misused)?.into(), native)
        }
        BuildKind::Cuckoo => (Cuckoo::build(spec).map_err(CommandError::misused)?.into(), native),
        BuildKind::Parquet => {
            (SplitBlock::build(spec).map_err(CommandError::misused)?.into(), HashRule::Parquet)
        }
        BuildKind::Scaling => {
            let chain = Scaling::<Classic>::new(spec, Growth::default());
            let chain = chain.map_err(CommandError::misused)?;
            (bloomrf_filter::AnyScaling::Classic(chain).into(), native)
        }
        BuildKind::Guava => {
            let params = guava::Params {
                spec: *spec,
                strategy: guava::Strategy::Mitz64,
                k_rule: guava::KRule::FromBits,
            };
            let limits = Limits { bytes_max: 1 << 37 };
            let guava = guava::Guava::build(&params, limits).map_err(CommandError::misused)?;
            let rule = HashRule::Foreign(foreign::Rule::GuavaMitz64);
            (Imported::from(&guava).into(), rule)
        }
    })
}

/// Inserts every item; returns how many there were.
fn fill(args: &BuildArgs, stored: &mut StoredFilter) -> Result<u64, CommandError> {
    let (rule, encoding) = (stored.rule, stored.encoding);
    let name = args.from.input.display().to_string();
    let (mut read, mut full) = (0, 0);
    let mut hashes: Vec<Hash128> = Vec::with_capacity(STEP);
    items::read(&args.from, args.json, &mut |item, line| {
        let place = || format!("{name}, line {line}");
        hashes.push(rule.hash(&items::encoded(encoding, item, &place)?));
        read += 1;
        if hashes.len() == STEP {
            full += stored.filter.insert_many(&hashes);
            hashes.clear();
        }
        Ok(())
    })?;
    full += stored.filter.insert_many(&hashes);
    if full > 0 {
        return Err(CommandError::failed(format!(
            "no room for {full} of {read} items: say more --items"
        )));
    }
    Ok(read)
}

/// Items of one call.
const STEP: usize = 4_096;
