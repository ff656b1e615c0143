//! The batches that a node holds, as its page `/batches` lists them, with their times.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use bloomrf_engine::identity::BatchId;
use serde_json::Value;

use crate::http::{HttpError, fetch_json};

/// A batch that a node holds, or a tap gave up for a loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) id: BatchId,
    /// Time of its earliest record, where it is told.
    pub(crate) from: Option<String>,
    /// Of its latest.
    pub(crate) to: Option<String>,
}

/// All batches that the node holds, ascending, and those that it gave up as a tap: nobody else
/// knows of them, and they are to be read. A page that is no list of batches is an error, not an
/// empty list: nothing would be left to read.
pub(crate) fn held_batches(http: SocketAddr, timeout: Duration) -> Result<Vec<Held>, HttpError> {
    let mut held = BTreeMap::new();
    let mut first = 0;
    loop {
        let from = first.to_string();
        let query = [("first", from.as_str()), ("limit", "1024")];
        let page = fetch_json(http, "/batches", &query, timeout)?;
        let odd = |reason: &str| HttpError::Unreachable {
            address: http,
            path: "/batches",
            reason: reason.to_owned(),
        };
        let batches = page.get("batches").and_then(Value::as_array);
        let batches = batches.ok_or_else(|| odd("no list of batches"))?;
        // An older node has no such list.
        let lost = page.get("incomplete").and_then(Value::as_array);
        for batch in batches.iter().chain(lost.into_iter().flatten()) {
            let id = batch.get("id").and_then(Value::as_u64);
            let id = id.ok_or_else(|| odd("a batch without an id"))?;
            let time = |key| batch.pointer(key).and_then(Value::as_str).map(str::to_owned);
            held.insert(id, Held { id, from: time("/time/from"), to: time("/time/to") });
        }
        if held.len() > HELD_BATCHES_MAX {
            return Err(odd("more batches than a node holds"));
        }
        match page.get("next").and_then(Value::as_u64) {
            Some(next) if next > first => first = next,
            _ => return Ok(held.into_values().collect()),
        }
    }
}

/// The batches of `ids`, in their order; without times where the node holds no such batch.
pub(crate) fn times_of(ids: &[BatchId], held: &[Held]) -> Vec<Held> {
    let known: BTreeMap<BatchId, &Held> = held.iter().map(|held| (held.id, held)).collect();
    let of = |&id: &BatchId| {
        known.get(&id).map_or(Held { id, from: None, to: None }, |&held| held.clone())
    };
    ids.iter().map(of).collect()
}

/// One line for each.
pub(crate) fn show_times(times: &[Held]) -> String {
    let line = |held: &Held| match (&held.from, &held.to) {
        (Some(from), Some(to)) => format!("  {}  {from} to {to}\n", held.id),
        _ => format!("  {}  no times\n", held.id),
    };
    times.iter().map(line).collect()
}

/// More than any node may be configured to retain.
const HELD_BATCHES_MAX: usize = 1 << 20;
