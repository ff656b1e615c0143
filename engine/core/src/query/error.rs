//! Why a WHERE text was refused. Every message names the part of the text.

use crate::limits::{
    IN_LIST_MAX, LITERAL_BYTES_MAX, PREDICATE_DEPTH_MAX, PREDICATE_NODES_MAX, QUERY_TEXT_BYTES_MAX,
};
use crate::schema::ColumnType;

/// Why a WHERE text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Nothing there.
    #[error("WHERE text: empty, expected a predicate such as `dst_port = 443`")]
    Empty,
    /// Longer than is read.
    #[error("WHERE text: {bytes} bytes long, at most {QUERY_TEXT_BYTES_MAX} are read")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// Not SQL.
    #[error("WHERE text: {0}")]
    Syntax(String),
    /// Nested too deeply.
    #[error("WHERE text: nested more than {PREDICATE_DEPTH_MAX} levels deep")]
    TooDeep,
    /// Too many parts.
    #[error("WHERE text: more than {PREDICATE_NODES_MAX} conditions and connectives")]
    TooMany,
    /// A list is too long.
    #[error("`{part}`: a list of {count} values, at most {IN_LIST_MAX} are allowed")]
    ListTooLong {
        /// The subject of the list.
        part: String,
        /// Values in the list.
        count: usize,
    },
    /// A literal is too long.
    #[error("`{part}`: a literal of {bytes} bytes, at most {LITERAL_BYTES_MAX} are allowed")]
    LiteralTooLong {
        /// Start of the literal.
        part: String,
        /// Its bytes.
        bytes: usize,
    },
    /// No such column.
    #[error("unknown column `{name}`: {hint}")]
    UnknownColumn {
        /// What stands there.
        name: String,
        /// Near names, and the columns there are.
        hint: String,
    },
    /// SQL, but not of the part that is supported.
    #[error("`{part}` is not supported: {expected}")]
    Unsupported {
        /// The part.
        part: String,
        /// What to write instead.
        expected: &'static str,
    },
    /// A literal of another type than the column's.
    #[error("`{part}` does not fit column `{column}` of type {kind}: expected {expected}")]
    LiteralType {
        /// The literal as written.
        part: String,
        /// Name of the column.
        column: String,
        /// Its type.
        kind: ColumnType,
        /// How a literal of this type is written.
        expected: &'static str,
    },
    /// A literal of the right kind with a wrong value.
    #[error("`{part}`: {reason}")]
    Value {
        /// The literal as written.
        part: String,
        /// What is wrong with it.
        reason: String,
    },
    /// `host`, `net` or `port` on a schema without the columns that it stands for.
    #[error("`{part}` stands for {columns}: this schema has no such columns")]
    NoSugar {
        /// `host`, `net` or `port`.
        part: &'static str,
        /// The columns that it needs.
        columns: &'static str,
    },
}
