//! GET of a node's HTTP pages: JSON in, or what the node said was wrong.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

/// Why a page could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// No answer, or none that is JSON.
    #[error("http://{address}{path}: {reason}")]
    Unreachable {
        /// Node.
        address: SocketAddr,
        /// Page.
        path: &'static str,
        /// Why.
        reason: String,
    },
    /// The node refused the question.
    #[error("{0}")]
    Refused(String),
}

/// Fetches `path` with the given query, percent-encoded here.
pub(crate) fn fetch_json(
    address: SocketAddr,
    path: &'static str,
    query: &[(&str, &str)],
    timeout: Duration,
) -> Result<Value, HttpError> {
    let unreachable = |reason: &dyn ToString| HttpError::Unreachable {
        address,
        path,
        reason: reason.to_string(),
    };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        // The node is the machine that was named, whatever the environment says.
        .proxy(None)
        .build()
        .into();
    let mut request = agent.get(format!("http://{address}{path}"));
    for (name, value) in query {
        request = request.query(*name, *value);
    }
    let mut response = request.call().map_err(|e| unreachable(&e))?;
    let status = response.status();
    let body = response
        .body_mut()
        .with_config()
        .limit(BODY_BYTES_MAX)
        .read_to_vec()
        .map_err(|e| unreachable(&e))?;
    let value: Value = serde_json::from_slice(&body).map_err(|e| unreachable(&e))?;
    if status.is_success() {
        return Ok(value);
    }
    let message = value.get("error").and_then(Value::as_str).unwrap_or("refused without a reason");
    if status.is_client_error() {
        Err(HttpError::Refused(message.to_owned()))
    } else {
        Err(unreachable(&format!("{status}: {message}")))
    }
}

/// Longest page that is read.
const BODY_BYTES_MAX: u64 = 256 << 20;
