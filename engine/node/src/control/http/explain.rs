//! `/explain?where=...&batches=all|1-100|3,5`: for every batch, excluded by what, or why not.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::{BatchExplain, Evaluator, Outcome};
use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::query::{Batches, BatchesError, parse_where, to_text};
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
        Err(error) => return refuse(StatusCode::BAD_REQUEST, format!("batches: {error}")),
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

/// The batches named by `text`; of `all`, the newest [`BATCHES_MAX`], ascending.
fn batches(shared: &Shared, text: &str) -> Result<Vec<BatchId>, BatchesError> {
    match Batches::parse(text, BATCHES_MAX)? {
        Batches::Ids(ids) => Ok(ids),
        Batches::All => {
            let mut ids: Vec<BatchId> =
                shared.store().list().iter().map(|(batch, _)| batch.batch).collect();
            ids.sort_unstable();
            // People look at those first.
            Ok(ids.split_off(ids.len().saturating_sub(BATCHES_MAX)))
        }
    }
}

fn all() -> String {
    "all".to_owned()
}

/// Longest WHERE text, bytes.
const WHERE_BYTES_MAX: usize = 16 << 10;
/// Most batches explained at once.
const BATCHES_MAX: usize = 1_024;
