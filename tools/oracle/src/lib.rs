//! The truth, by brute force: predicates over rows of original typed values.
//!
//! Shares nothing with the node on purpose: its own values, its own tree, its own reading of a
//! record's bytes, its own three-valued logic. No key map, no hash, no rewriting. Slow and plain.
#![forbid(unsafe_code)]

mod compare;
mod eval;
mod value;

pub use eval::{Expr, FloatRule, Op, matches_row};
pub use value::{Field, FieldType, Unit, Value, decode_row};
