//! HTTP for operators: health, metrics, schema, batches, explain, and an index page for people.
//! Read-only; every error is JSON with a message.

mod batches;
mod explain;
mod listener;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use tokio::sync::watch;

use crate::shared::Shared;

/// Serves until the node stops.
pub(super) async fn serve(
    shared: Arc<Shared>,
    listener: std::net::TcpListener,
    mut stop: watch::Receiver<bool>,
) {
    let listener = match listener::Bounded::new(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "no HTTP: no listener"),
    };
    let router = Router::new()
        .route("/", get(index))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/schema", get(schema))
        .route("/batches", get(batches::list))
        .route("/explain", get(explain::explain))
        .fallback(|| async { refuse(StatusCode::NOT_FOUND, "no such page; see /") })
        .with_state(shared);
    let serving = axum::serve(listener, router);
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => {}
        result = async { serving.await } => {
            if let Err(error) = result {
                tracing::error!(%error, "HTTP ended");
            }
        }
    }
}

/// An error as JSON.
fn refuse(status: StatusCode, message: impl Into<String>) -> Response {
    (status, Json(json!({ "error": message.into() }))).into_response()
}

/// Sockets bound, arena ready, threads running; never waits for the SCC, whose start waits for us.
/// What is wrong with a node that serves all the same follows, one line each.
async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    if shared.ready.load(Ordering::Acquire) {
        let stalled = shared.stalled.names().into_iter();
        let wrong = stalled.map(|name| format!("stalled thread: {name}\n"));
        let disk = shared.persist.trouble(shared.clock.now_ns());
        let wrong: String = wrong.chain(disk.map(|why| format!("disk: {why}\n"))).collect();
        return format!("ready\n{wrong}").into_response();
    }
    refuse(StatusCode::SERVICE_UNAVAILABLE, "the node is still starting")
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    match shared.metrics.encode(&shared.moment(), &shared.forms()) {
        Ok(text) => ([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

async fn schema(State(shared): State<Arc<Shared>>) -> Response {
    let schema = &shared.schema;
    Json(json!({
        "fingerprint": schema.fingerprint().to_string(),
        "record_bytes": schema.record_bytes(),
        "source": shared.config.schema_source,
        "schema": schema.to_json(),
    }))
    .into_response()
}

async fn index() -> Html<&'static str> {
    Html(INDEX)
}

/// Content type of the Prometheus text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const INDEX: &str = "<!doctype html>
<html lang=\"en\"><meta charset=\"utf-8\"><title>bloomrf node</title>
<h1>bloomrf node</h1>
<ul>
<li><a href=\"/healthz\">/healthz</a>: the process answers
<li><a href=\"/readyz\">/readyz</a>: sockets bound, arena ready
<li><a href=\"/metrics\">/metrics</a>: Prometheus metrics
<li><a href=\"/schema\">/schema</a>: the record schema
<li><a href=\"/batches\">/batches</a>: the batches held, with kind, fill and FPR of every column
<li><a href=\"/explain?where=dst_port%20%3D%20445\">/explain?where=dst_port = 445</a>:
which batches a predicate excludes, and why
</ul>
</html>
";
