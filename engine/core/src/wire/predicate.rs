//! Predicate trees on the wire: pre-order, each node with its own length, so that a node of an
//! unknown kind can be skipped and becomes [`Predicate::Unknown`].

use crate::predicate::Predicate;

/// Appends the encoding of a tree.
pub fn encode(out: &mut Vec<u8>, predicate: &Predicate) {
    let _ = (out, predicate);
    todo!("wire")
}
