//! Predicates as the asker states them: a tree over columns by ordinal, with typed literals.
//!
//! This is only the statement. What it means for a batch (three-valued logic, normalisation,
//! "no opinion") is the business of [`crate::lookup`].

use crate::schema::TimeUnit;

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A literal with its type. Never hashed as it stands: first normalised to the column's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A float; NaN is "no opinion".
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Ticks since 1970 in a unit.
    Timestamp(i64, TimeUnit),
    /// An IPv4 address.
    Ipv4([u8; 4]),
    /// An IPv6 address.
    Ipv6([u8; 16]),
    /// A MAC address.
    Mac([u8; 6]),
    /// A uuid.
    Uuid([u8; 16]),
    /// Raw bytes or text.
    Bytes(Vec<u8>),
}

/// A predicate tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// `column op literal`
    Compare {
        /// Ordinal of the column.
        column: u16,
        /// Operator.
        op: CompareOp,
        /// Right-hand side.
        literal: Literal,
    },
    /// `column BETWEEN low AND high`, inclusive. `low > high` matches nothing.
    Between {
        /// Ordinal of the column.
        column: u16,
        /// Lower bound.
        low: Literal,
        /// Upper bound.
        high: Literal,
    },
    /// `column IN (list)`; an empty list matches nothing.
    In {
        /// Ordinal of the column.
        column: u16,
        /// Values.
        list: Vec<Literal>,
    },
    /// `column IS NULL`
    IsNull {
        /// Ordinal of the column.
        column: u16,
    },
    /// `column IS NOT NULL`
    IsNotNull {
        /// Ordinal of the column.
        column: u16,
    },
    /// All of them. Empty: true.
    And(Vec<Predicate>),
    /// Any of them. Empty: false.
    Or(Vec<Predicate>),
    /// Not.
    Not(Box<Predicate>),
    /// An operator, shape or literal type that this version does not know: "no opinion".
    Unknown,
}

/// How the asker orders NaN. The node must be right under every reading that is left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FloatOrder {
    /// Not stated: keep whatever could match under either, or with NaN below every number (as
    /// some engines sort one whose sign bit is set).
    #[default]
    Unstated,
    /// IEEE 754: every comparison with NaN is false, `!=` true.
    Ieee,
    /// Total order: NaN equals NaN and is greater than every number.
    Total,
}
