//! `bloomrf filter info`, `verify` and `diff`.

use std::fmt::Write as _;
use std::process::ExitCode;

use bloomrf_filter::file::{Info, StoredFilter};
use bloomrf_filter::{AnyFilter, HashRule, Presence};
use bloomrf_kernels::hash::Hash128;
use serde_json::json;

use super::args::{DiffArgs, InfoArgs, VerifyArgs};
use super::{expiry, open, refusal};
use crate::numbers::{grouped, short_rate, size};
use crate::outcome::{Outcome, print};

pub(super) fn info(args: &InfoArgs) -> Outcome {
    let info = Info::load(&args.filter).map_err(refusal)?;
    let text = if args.json { info_json(&info) } else { info_text(&info) };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn info_json(info: &Info) -> String {
    let sections = info.sections.iter().map(|section| {
        json!({
            "kind": section.kind.name(),
            "k": section.k,
            "bits": section.bits,
            "capacity": section.capacity,
            "target_fpr": section.target_fpr,
            "inserted": section.inserted,
            "ones": section.ones,
            "bytes": section.bytes,
        })
    });
    let object = json!({
        "format": 1,
        "hash": format!("{:?}", info.rule),
        "encoding": format!("{:?}", info.encoding),
        "built_at_us": info.stamp.built_at_us,
        "uuid": format!("{:032x}", info.stamp.uuid),
        "expires_at_s": expiry(&info.labels),
        "labels": info.labels,
        "source": info.source.as_ref().map(|source| format!("{source:?}")),
        "file_bytes": info.file_bytes,
        "sections": sections.collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

fn info_text(info: &Info) -> String {
    let mut text = format!(
        "{} of file; items as {:?}, hashed by {:?}; built {} s after 1970\n",
        size(info.file_bytes),
        info.encoding,
        info.rule,
        info.stamp.built_at_us / 1_000_000
    );
    for section in &info.sections {
        let rate = section.target_fpr.map_or("unknown".to_owned(), short_rate);
        let _ = writeln!(
            text,
            "{}: {} bits, k = {}, {} set; {} items new, made for {} at {rate}",
            section.kind,
            grouped(section.bits),
            section.k,
            grouped(section.ones),
            grouped(section.inserted),
            grouped(section.capacity)
        );
    }
    for (name, value) in &info.labels {
        let _ = writeln!(text, "label {name}: {value}");
    }
    if let Some(source) = &info.source {
        let _ = writeln!(text, "source: {source:?}");
    }
    text.push_str("the bits themselves were not read: `bloomrf filter verify` does\n");
    text
}

pub(super) fn verify(args: &VerifyArgs) -> Outcome {
    // Every checksum is checked by the read.
    let stored = open(&args.filter)?;
    let measured = measured_fpr(&stored, args.probes);
    let filter = &stored.filter;
    let text = if args.json {
        let object = json!({
            "format": 1,
            "whole": true,
            "kind": filter.kind().name(),
            "filter_bytes": filter.bytes(),
            "inserted": filter.inserted(),
            "estimate": filter.estimate(),
            "fill": filter.fill(),
            "fpr": filter.fpr(),
            "probes": args.probes,
            "measured_fpr": measured,
            "target_fpr": stored.target_fpr,
        });
        format!("{object:#}\n")
    } else {
        let measured = measured.map_or("not measured".to_owned(), short_rate);
        format!(
            "{}: whole; {}, {} items by its fill; rate {} by its fill, {measured} measured\n",
            args.filter.display(),
            filter.kind(),
            grouped(filter.estimate().round() as u64),
            short_rate(filter.fpr())
        )
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The share of random items that it says *maybe* to.
fn measured_fpr(stored: &StoredFilter, probes: u64) -> Option<f64> {
    // Items that nobody has: 16 bytes of another hash of a counter.
    let item = |probe: u64| {
        let Hash128 { lo, hi } = HashRule::Native { seed: 0xB10F }.hash(&probe.to_le_bytes());
        [lo.to_le_bytes(), hi.to_le_bytes()].concat()
    };
    let mut hits = 0_u64;
    let mut found = [0; STEP / 64];
    for first in (0..probes).step_by(STEP) {
        let step = first..probes.min(first + STEP as u64);
        let hashes: Vec<Hash128> = step.map(|probe| stored.rule.hash(&item(probe))).collect();
        stored.filter.contains_many(&hashes, &mut found);
        hits += found.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    }
    (probes > 0).then(|| hits as f64 / probes as f64)
}

pub(super) fn diff(args: &DiffArgs) -> Outcome {
    let (left, right) = (open(&args.left)?, open(&args.right)?);
    let mut fields = Vec::new();
    let mut field = |name: &str, left: String, right: String| {
        if left != right {
            fields.push((name.to_owned(), left, right));
        }
    };
    field("kind", left.filter.kind().to_string(), right.filter.kind().to_string());
    field("hash", format!("{:?}", left.rule), format!("{:?}", right.rule));
    field("encoding", format!("{:?}", left.encoding), format!("{:?}", right.encoding));
    field("k", format!("{:?}", k(&left.filter)), format!("{:?}", k(&right.filter)));
    field("bytes", left.filter.bytes().to_string(), right.filter.bytes().to_string());
    let bits = bits_apart(&left.filter, &right.filter);
    let is_same = fields.is_empty() && bits == Some((0, 0));
    let text = if args.json {
        let fields =
            fields.iter().map(|(name, l, r)| json!({"field": name, "left": l, "right": r}));
        let object = json!({
            "format": 1,
            "same": is_same,
            "fields": fields.collect::<Vec<_>>(),
            "bits_left_only": bits.map(|bits| bits.0),
            "bits_right_only": bits.map(|bits| bits.1),
        });
        format!("{object:#}\n")
    } else {
        let mut text = String::new();
        for (name, left, right) in &fields {
            let _ = writeln!(text, "{name}: {left} here, {right} there");
        }
        text += &match bits {
            Some((0, 0)) => "the same bits\n".to_owned(),
            Some((l, r)) => {
                format!("bits set: {} only here, {} only there\n", grouped(l), grouped(r))
            }
            None => "their bits cannot be compared\n".to_owned(),
        };
        text
    };
    print(&text)?;
    Ok(ExitCode::from(u8::from(!is_same)))
}

/// Bits that only the left one has, and only the right one; `None` where they do not lie alike.
fn bits_apart(left: &AnyFilter, right: &AnyFilter) -> Option<(u64, u64)> {
    let (left, right) = (words(left)?, words(right)?);
    let ones = |(a, b): (&u64, &u64)| u64::from((a & !b).count_ones());
    let only = |a: &[u64], b: &[u64]| a.iter().zip(b).map(ones).sum();
    (left.len() == right.len()).then(|| (only(left, right), only(right, left)))
}

/// Its words; a chain has none of its own.
pub(super) fn words(filter: &AnyFilter) -> Option<&[u64]> {
    match filter {
        AnyFilter::Classic(filter) => Some(filter.words()),
        AnyFilter::Blocked(filter) => Some(filter.words()),
        AnyFilter::SplitBlock(filter) => Some(filter.words()),
        AnyFilter::Imported(filter) => Some(filter.words()),
        _ => None,
    }
}

fn k(filter: &AnyFilter) -> Option<u32> {
    match filter {
        AnyFilter::Classic(filter) => Some(filter.k()),
        AnyFilter::Blocked(filter) => Some(filter.k()),
        AnyFilter::SplitBlock(_) => Some(8),
        AnyFilter::Imported(filter) => Some(filter.k()),
        _ => None,
    }
}

/// Items of a call.
const STEP: usize = 1_024;
