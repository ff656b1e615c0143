//! What people write: WHERE text to [`Predicate`], and which [`Batches`] to ask about.
//!
//! WHERE text is read by the `sqlparser` crate. Unsupported SQL is an error that names
//! the part. `host`, `net` and `port` are sugar for source OR destination of the schema `packet`.
//!
//! Literals are typed by the column they stand beside and stay as exact as they were written: an
//! integer that the column cannot hold is no error, the lookup side decides it. Decimal numbers
//! are binary64. Identifiers fold to lower case unless they are in double quotes.
//!
//! Cost: bounded by [`QUERY_TEXT_BYTES_MAX`](crate::limits::QUERY_TEXT_BYTES_MAX) and by the
//! parser's recursion limit; a hostile text ends in an error, never in a stack overflow.

mod address;
mod batches;
mod convert;
mod error;
mod literal;
mod names;
mod sql;
mod sugar;
mod text;
mod time;

pub use batches::{Batches, BatchesError};
pub use error::QueryError;
pub use time::format as time_text;

use crate::predicate::Predicate;
use crate::schema::Schema;

/// Parses `text` against `schema`.
///
/// # Errors
/// Names the part of the text that is wrong, and what was expected.
pub fn parse_where(schema: &Schema, text: &str) -> Result<Predicate, QueryError> {
    let tree = sql::parse(text)?;
    convert::Converter::new(schema).tree(&tree)
}

/// Writes a predicate as WHERE text that [`parse_where`] reads back: to the same tree if the tree
/// came from [`parse_where`], else to one of the same meaning. Nodes that SQL cannot say (an
/// unknown node or column, a literal of another type than the column's) are written in a form
/// that people understand and [`parse_where`] refuses.
#[must_use]
pub fn to_text(schema: &Schema, predicate: &Predicate) -> String {
    text::to_text(schema, predicate)
}

#[cfg(test)]
mod tests;
