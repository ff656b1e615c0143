//! `/explain?where=...&batches=all|1-100|3,5`: for every batch, excluded by what, or why not.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::{BatchExplain, Evaluator, Outcome};
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::query::{parse_where, to_text};
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::refuse;
use crate::metrics::status_label;
use crate::shared::Shared;

/// The question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    /// WHERE text.
    #[serde(rename = "where")]
    text: String,
    /// `all`, or ids and ranges with commas between.
    #[serde(default = "all")]
    batches: String,
}

/// Answers one question; the work is bounded by the lookup budget.
pub(super) async fn explain(
    State(shared): State<Arc<Shared>>,
    question: Result<Query<Question>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let Query(question) = match question {
        Ok(question) => question,
        Err(error) => {
            let message = format!("{}; expected /explain?where=...&batches=...", error.body_text());
            return refuse(StatusCode::BAD_REQUEST, message);
        }
    };
    if question.text.len() > WHERE_BYTES_MAX {
        let message = format!("where: expected at most {WHERE_BYTES_MAX} bytes");
        return refuse(StatusCode::BAD_REQUEST, message);
    }
    let predicate = match parse_where(&shared.schema, &question.text) {
        Ok(predicate) => predicate,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, error.to_string()),
    };
    let ids = match batches(&shared, &question.batches) {
        Ok(ids) => ids,
        Err(message) => return refuse(StatusCode::BAD_REQUEST, message),
    };
    Json(answer(&shared, predicate, ids)).into_response()
}

fn answer(shared: &Shared, predicate: Predicate, ids: Vec<BatchId>) -> Value {
    let text = to_text(&shared.schema, &predicate);
    let request = LookupRequest {
        query_id: 0,
        cluster: shared.config.cluster,
        fingerprint: shared.schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates: Candidates::List(ids),
        predicate,
    };
    let snapshot = shared.reader.load();
    let mut evaluator = Evaluator::new(shared.lookup_config());
    let reply = evaluator.answer(&request, &snapshot, shared.clock.as_ref());
    let explained = evaluator.explain(&request, &snapshot, shared.clock.as_ref());
    json!({
        "where": text,
        "status": status_label(reply.status),
        "candidates": reply.candidates,
        "evaluated": reply.evaluated,
        "no_filter": reply.no_filter,
        "excluded_zone_map": reply.excluded_zone_map,
        "excluded_filter": reply.excluded_filter,
        "micros": reply.micros,
        "batches": explained.iter().map(describe).collect::<Vec<_>>(),
    })
}

fn describe(batch: &BatchExplain) -> Value {
    let (outcome, reason) = match &batch.outcome {
        Outcome::ExcludedZoneMap => ("excluded by zone map", None),
        Outcome::ExcludedFilter => ("excluded by filter", None),
        Outcome::MayMatch => ("may match", None),
        Outcome::NoOpinion(reason) => ("no opinion", Some(reason.label())),
    };
    let leaves: Vec<Value> = batch
        .leaves
        .iter()
        .map(|leaf| json!({ "leaf": leaf.leaf, "by": leaf.by, "may_match": leaf.may_match }))
        .collect();
    json!({ "id": batch.batch, "outcome": outcome, "reason": reason, "leaves": leaves })
}

/// The ids of `all`, `7`, `1-100`, or several with commas between; at most [`BATCHES_MAX`].
fn batches(shared: &Shared, text: &str) -> Result<Vec<BatchId>, String> {
    if text.trim() == "all" {
        let mut ids: Vec<BatchId> =
            shared.store().list().iter().map(|(batch, _)| batch.batch).collect();
        ids.sort_unstable();
        // The newest: people look at those first.
        return Ok(ids.split_off(ids.len().saturating_sub(BATCHES_MAX)));
    }
    parse_batches(text)
}

fn parse_batches(text: &str) -> Result<Vec<BatchId>, String> {
    let wrong = |part: &str| {
        format!("batches = {part:?}: expected all, an id such as 7, or a range such as 1-100")
    };
    let mut ids = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: BatchId = first.trim().parse().map_err(|_| wrong(part))?;
        let last: BatchId = last.trim().parse().map_err(|_| wrong(part))?;
        if first > last {
            return Err(wrong(part));
        }
        let room = BATCHES_MAX - ids.len();
        if last - first >= room as u64 {
            return Err(format!("batches: expected at most {BATCHES_MAX} of them"));
        }
        ids.extend(first..=last);
    }
    Ok(ids)
}

fn all() -> String {
    "all".to_owned()
}

/// Longest WHERE text, bytes.
const WHERE_BYTES_MAX: usize = 16 << 10;
/// Most batches explained at once.
const BATCHES_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_lists_are_read_in_the_order_given() {
        assert_eq!(parse_batches("3,5").unwrap(), [3, 5]);
        assert_eq!(parse_batches(" 8 - 10 , 2").unwrap(), [8, 9, 10, 2]);
        assert_eq!(parse_batches("18446744073709551615").unwrap(), [u64::MAX]);
        assert_eq!(parse_batches("0-1023").unwrap().len(), 1_024);
    }

    #[test]
    fn impossible_batch_lists_are_refused_without_being_built() {
        for text in ["", "x", "1-", "-1", "5-3", "1,,2", "0-1024", "0-18446744073709551615"] {
            assert!(parse_batches(text).is_err(), "{text:?}");
        }
        assert!(parse_batches("0-1000,0-1000").is_err());
    }
}
