//! `bloomrf lookup`: one question to a running node, over the same message that an SCC sends.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bloomrf_engine::controller::Unusable;
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::limits::{CANDIDATES_MAX, SCHEMA_TEXT_BYTES_MAX};
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::query::{Batches, parse_where};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use bloomrf_engine::wire::mac::MacKey;
use bloomrf_node::config::OBSERVABILITY_PORT;
use bloomrf_refcluster::scc::{Via, ask_with};
use serde_json::{Value, json};

use crate::args::LookupArgs;
use crate::batch_ids::compact;
use crate::held::{Held, held_batches, show_times, times_of};
use crate::http::{HttpError, fetch_json};
use crate::keys;
use crate::outcome::{CommandError, Outcome, print};

/// What all parts of one question came to.
#[derive(Debug, Default)]
struct Answer {
    candidates: usize,
    no_filter: u64,
    excluded_zone_map: u64,
    excluded_filter: u64,
    micros: u64,
    timed_out: bool,
    excluded: Vec<BatchId>,
}

pub(crate) fn run(args: &LookupArgs) -> Outcome {
    let schema = match &args.schema {
        Some(path) => load_schema(path)?,
        None => Schema::packet(),
    };
    let predicate = parse_where(&schema, &args.text).map_err(CommandError::misused)?;
    let http = args.http.unwrap_or_else(|| SocketAddr::new(args.node.ip(), OBSERVABILITY_PORT));
    let timeout = Duration::from_millis(u64::from(args.timeout_ms));
    if args.explain {
        return explain(args, http, timeout);
    }
    let held = match &args.batches {
        Batches::Ids(_) if !args.times => Vec::new(),
        _ => held_batches(http, timeout).map_err(http_error)?,
    };
    let ids = match &args.batches {
        Batches::Ids(ids) => ids.clone(),
        Batches::All => held.iter().map(|batch| batch.id).collect(),
    };
    let key = args.keys.as_deref().map(keys::load_signer).transpose()?;
    let answer =
        ask_all(args, key.as_ref(), &schema, &predicate, &ids, timeout).map_err(|doubt| {
            CommandError::failed(format!(
                "node {}: {}; every batch has to be read",
                args.node,
                describe(doubt, args.timeout_ms)
            ))
        })?;
    let excluded: std::collections::HashSet<BatchId> = answer.excluded.iter().copied().collect();
    let kept: Vec<BatchId> = ids.iter().copied().filter(|id| !excluded.contains(id)).collect();
    let times = args.times.then(|| times_of(&kept, &held));
    print(&match args.json {
        true => format!("{:#}\n", to_json(&args.text, &answer, &kept, times.as_deref())),
        false => to_text(&answer, &kept) + &times.as_deref().map(show_times).unwrap_or_default(),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Asks in as many parts as the limit on candidates needs.
fn ask_all(
    args: &LookupArgs,
    key: Option<&MacKey>,
    schema: &Schema,
    predicate: &Predicate,
    ids: &[BatchId],
    timeout: Duration,
) -> Result<Answer, Unusable> {
    let via = if args.tcp { Via::Tcp } else { Via::Auto };
    let mut answer = Answer { candidates: ids.len(), ..Answer::default() };
    for (part, ids) in ids.chunks(CANDIDATES_MAX).enumerate() {
        let request = LookupRequest {
            query_id: (u64::from(std::process::id()) << 32) + part as u64,
            cluster: args.cluster,
            fingerprint: schema.fingerprint(),
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates: Candidates::of(ids),
            predicate: predicate.clone(),
        };
        let reply = ask_with(key, &request, args.node, via, timeout)?;
        answer.no_filter += u64::from(reply.no_filter);
        answer.excluded_zone_map += u64::from(reply.excluded_zone_map);
        answer.excluded_filter += u64::from(reply.excluded_filter);
        answer.micros += u64::from(reply.micros);
        answer.timed_out |= reply.timed_out;
        answer.excluded.extend(reply.excluded);
    }
    Ok(answer)
}

fn to_text(answer: &Answer, kept: &[BatchId]) -> String {
    let mut text = format!(
        "excluded: {}\nto read:  {}\n{} of {} batches excluded ({} by zone map, {} by filter), \
         {} without a filter, {} us in the node\n",
        compact(&answer.excluded, PARTS_MAX),
        compact(kept, PARTS_MAX),
        answer.excluded.len(),
        answer.candidates,
        answer.excluded_zone_map,
        answer.excluded_filter,
        answer.no_filter,
        answer.micros
    );
    if answer.timed_out {
        text.push_str("the node ran out of time: the rest reads \"found\"\n");
    }
    if answer.no_filter > 0 {
        text.push_str(
            "note: without a filter means not verified yet, evicted, or never seen whole; \
             --explain says which.\n      A node without an SCC (setting `scc`) verifies \
             and excludes nothing, unless it is a tap.\n",
        );
    }
    text
}

fn to_json(text: &str, answer: &Answer, kept: &[BatchId], times: Option<&[Held]>) -> Value {
    let mut object = json!({
        "where": text,
        "candidates": answer.candidates,
        "evaluated": answer.candidates as u64 - answer.no_filter,
        "no_filter": answer.no_filter,
        "excluded_zone_map": answer.excluded_zone_map,
        "excluded_filter": answer.excluded_filter,
        "micros": answer.micros,
        "timed_out": answer.timed_out,
        "excluded": answer.excluded,
        "kept": kept,
    });
    if let Some(times) = times {
        object["times"] = times
            .iter()
            .map(|held| json!({ "id": held.id, "from": held.from, "to": held.to }))
            .collect();
    }
    object
}

fn explain(args: &LookupArgs, http: SocketAddr, timeout: Duration) -> Outcome {
    let batches = match &args.batches {
        Batches::All => "all".to_owned(),
        Batches::Ids(ids) => compact(ids, usize::MAX),
    };
    let query = [("where", args.text.as_str()), ("batches", batches.as_str())];
    let page = fetch_json(http, "/explain", &query, timeout).map_err(http_error)?;
    print(&if args.json { format!("{page:#}\n") } else { explained(&page) })?;
    Ok(ExitCode::SUCCESS)
}

/// The page `/explain` as text.
fn explained(page: &Value) -> String {
    let text = |value: &Value, key: &str| -> String {
        match value.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    };
    let list = |value: &Value, key: &str| -> Vec<Value> {
        value.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut lines = vec![format!("where {}", text(page, "where"))];
    for batch in list(page, "batches") {
        let reason = text(&batch, "reason");
        let reason = if reason.is_empty() { reason } else { format!(": {}", in_words(&reason)) };
        let (id, outcome) = (text(&batch, "id"), text(&batch, "outcome"));
        lines.push(format!("batch {id:>6}  {outcome}{reason}"));
        for leaf in list(&batch, "leaves") {
            let may_match = leaf.get("may_match").and_then(Value::as_bool).unwrap_or(true);
            let verdict = if may_match { "may match" } else { "excluded" };
            let (leaf, by) = (text(&leaf, "leaf"), text(&leaf, "by"));
            lines.push(format!("    {verdict:<9}  {leaf}  ({by})"));
        }
    }
    lines.push(format!(
        "{} candidates, {} evaluated, {} excluded by zone map, {} by filter, {} us in the node\n",
        text(page, "candidates"),
        text(page, "evaluated"),
        text(page, "excluded_zone_map"),
        text(page, "excluded_filter"),
        text(page, "micros")
    ));
    lines.join("\n")
}

/// A reason for "no opinion" with what it means; one from a newer node as it is.
fn in_words(reason: &str) -> String {
    let meaning = match reason {
        "no_filter" => "the node holds no such batch: never seen, or seen with frames missing",
        "evicted" => "its filters had to make room for newer batches",
        "pending" => "the SCC has not verified it yet",
        "rejected" => "the SCC found that the node saw other records than were stored",
        _ => return reason.to_owned(),
    };
    format!("{reason} ({meaning})")
}

fn load_schema(path: &Path) -> Result<Schema, CommandError> {
    let named = |reason: String| CommandError::misused(format!("{}: {reason}", path.display()));
    // One byte more than allowed: a longer text is seen to be longer.
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(SCHEMA_TEXT_BYTES_MAX as u64 + 1).read_to_string(&mut text))
        .map_err(|e| named(e.to_string()))?;
    let is_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let schema = if is_json { Schema::from_json(&text) } else { Schema::from_toml(&text) };
    schema.map_err(|e| named(e.to_string()))
}

fn http_error(error: HttpError) -> CommandError {
    match error {
        HttpError::Refused(_) => CommandError::misused(error),
        HttpError::Unreachable { .. } => CommandError::failed(format!(
            "{error} (--http names another address); every batch has to be read"
        )),
    }
}

fn describe(doubt: Unusable, timeout_ms: u32) -> String {
    match doubt {
        Unusable::Timeout => format!("no answer within {timeout_ms} ms"),
        Unusable::Question => "the question is larger than a node accepts".to_owned(),
        Unusable::Forged => {
            "the answer is not sealed with the key that the question was sealed with (--keys)"
                .to_owned()
        }
        Unusable::Malformed => "the answer is not a lookup reply".to_owned(),
        Unusable::OtherQuestion => "the answer is to another question".to_owned(),
        Unusable::Inconsistent => "the answer contradicts itself".to_owned(),
        Unusable::Status => {
            "it cannot help: it is of another cluster (--cluster) or schema (--schema), or not \
             ready (/readyz)"
                .to_owned()
        }
        _ => "the answer cannot be used".to_owned(),
    }
}

/// Runs of ids printed before the rest is only counted.
const PARTS_MAX: usize = 200;
