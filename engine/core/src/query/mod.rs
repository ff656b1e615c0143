//! WHERE text to [`Predicate`], by the `sqlparser` crate. Unsupported SQL is an error that names
//! the part. `host`, `net` and `port` are sugar for source OR destination of the schema `packet`.

use crate::predicate::Predicate;
use crate::schema::Schema;

/// Why a WHERE text was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Not SQL.
    #[error("WHERE text: {0}")]
    Syntax(String),
}

/// Parses `text` against `schema`.
pub fn parse_where(schema: &Schema, text: &str) -> Result<Predicate, QueryError> {
    let _ = (schema, text);
    todo!("query")
}

/// Writes a predicate as WHERE text that [`parse_where`] reads back.
#[must_use]
pub fn to_text(schema: &Schema, predicate: &Predicate) -> String {
    let _ = (schema, predicate);
    todo!("query")
}
