//! Rows of the fault table that run against the libraries, or against a whole node.
#![forbid(unsafe_code)]

fn main() {}
