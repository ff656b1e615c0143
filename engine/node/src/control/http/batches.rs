//! `/batches`: what the store holds, from when to when, with kind, fill and estimated FPR of every
//! column; and of a tap, what it gave up.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bloomrf_engine::filter::{ColumnZone, Filter, FilterKind, SealedColumn};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::query::time_text;
use bloomrf_engine::schema::{ColumnType, Schema, TimeUnit};
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::store::BatchState;
use serde::Deserialize;
use serde_json::{Value, json};

use super::refuse;
use crate::shared::Shared;
use crate::tap::{LostBatch, Span};

/// Which batches to list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// Smallest id.
    #[serde(default)]
    first: BatchId,
    /// Most batches.
    #[serde(default = "limit_default")]
    limit: usize,
}

/// Ascending by id, from `first`, at most `limit`; `next` says where to go on.
pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    page: Result<Query<Page>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let Query(page) = match page {
        Ok(page) => page,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, error.body_text()),
    };
    if !(1..=LIMIT_MAX).contains(&page.limit) {
        let message = format!("limit = {}: expected 1 to {LIMIT_MAX}", page.limit);
        return refuse(StatusCode::BAD_REQUEST, message);
    }
    let (mut held, stats) = {
        let store = shared.store();
        (store.list(), store.stats())
    };
    held.retain(|(batch, _)| batch.batch >= page.first);
    held.sort_by_key(|(batch, _)| batch.batch);
    let next = held.get(page.limit).map(|(batch, _)| batch.batch);
    held.truncate(page.limit);
    let (stored, folder) = (shared.persist.stored(), shared.persist.status());
    let mut batches = Vec::with_capacity(held.len());
    for (batch, state) in &held {
        let is_stored = stored.binary_search(&batch.batch).is_ok();
        batches.push(describe(&shared, batch, *state, is_stored));
        // Counting bits takes a while: the SCC's verdicts come first.
        tokio::task::yield_now().await;
    }
    Json(json!({
        "verified": stats.verified,
        "pending": stats.pending,
        "rejected": stats.rejected,
        "evicted": stats.evicted,
        "bytes": stats.bytes,
        "bytes_plain": stats.plain_bytes,
        "bytes_sliced": stats.sliced_bytes,
        "bytes_dead": stats.dead_bytes,
        "groups": stats.groups,
        "sliced": stats.sliced_batches,
        "bytes_limit": shared.config.arena_bytes,
        "files": folder.files,
        "files_bytes": folder.bytes,
        "files_waiting": folder.waiting,
        "batches": batches,
        "incomplete": lost(&shared, &page),
        "next": next,
    }))
    .into_response()
}

fn describe(shared: &Shared, batch: &SealedBatch, state: BatchState, is_stored: bool) -> Value {
    let (config, records) = (&shared.config, batch.records);
    let bits = config.bits_per_key.saturating_mul(config.levels);
    let names = shared.schema.columns().iter();
    let columns: Vec<Value> = names
        .zip(&batch.columns)
        .map(|(column, sealed)| describe_column(column.name(), sealed, records, bits))
        .collect();
    json!({
        "id": batch.batch,
        "state": match state {
            BatchState::Pending => "pending",
            BatchState::Verified => "verified",
            BatchState::Rejected => "rejected",
        },
        "stored": is_stored,
        "records": batch.records,
        "bytes": batch.filter_bytes(),
        "time": time_range(&shared.schema, batch),
        "columns": columns,
    })
}

/// Earliest and latest value of the first column that is a time; null where there is none.
fn time_range(schema: &Schema, batch: &SealedBatch) -> Value {
    let mut columns = schema.columns().iter().zip(&batch.columns);
    let time = columns.find_map(|(column, sealed)| match (column.kind(), &sealed.zone) {
        (ColumnType::Timestamp(unit), ColumnZone::Narrow(zone)) => {
            zone.bounds().map(|bounds| (column, unit, bounds))
        }
        _ => None,
    });
    let Some((column, unit, (first, last))) = time else { return Value::Null };
    // Keys of times are those of signed numbers, in the order of time.
    let text = |key: u64| time_text((key ^ 1 << 63) as i64, unit);
    json!({ "column": column.name(), "from": text(first), "to": text(last) })
}

/// Batches of a tap that were given up for a loss, which nobody else knows of.
fn lost(shared: &Shared, page: &Page) -> Vec<Value> {
    let lost = shared.lost().into_iter().filter(|lost| lost.batch >= page.first);
    let text = |ns| time_text(ns, TimeUnit::Ns);
    lost.map(|LostBatch { batch, span: Span { from_ns, to_ns, records } }| {
        let time = json!({ "column": "ts", "from": text(from_ns), "to": text(to_ns) });
        json!({ "id": batch, "records": records, "time": time })
    })
    .collect()
}

fn describe_column(name: &str, column: &SealedColumn, records: u64, bits: u32) -> Value {
    json!({
        "name": name,
        "kind": kind_label(column.filter.kind()),
        "form": column.filter.form(),
        "why": column.filter.why(records, bits),
        "bytes": column.filter.bytes(),
        "sliced": matches!(column.filter, Filter::Sliced(_)),
        "fill": column.filter.fill(),
        "fpr": column.filter.fpr(),
        "has_value": column.flags.has_value,
        "has_null": column.flags.has_null,
        "has_nan": column.flags.has_nan,
    })
}

/// Name of a kind of filter.
fn kind_label(kind: FilterKind) -> &'static str {
    match kind {
        FilterKind::None => "none",
        FilterKind::Bitmap8 => "bitmap8",
        FilterKind::Bitmap16 => "bitmap16",
        FilterKind::Exact => "exact",
        FilterKind::BloomRf => "bloomrf",
        FilterKind::Blocked => "blocked",
    }
}

fn limit_default() -> usize {
    64
}

/// Most batches of one page.
const LIMIT_MAX: usize = 1_024;
