//! Parquet's split-block Bloom filters: read out of files, built, and written.
//!
//! A filter belongs to one column of one row group, and says nothing of another one. In a file it
//! is a small Thrift header and the bitset, at the place that the column's metadata names; this
//! reads just that much of the footer. [`file`] reads from a file; the rest takes bytes.

pub mod file;
mod footer;
mod plain;
mod sbbf;
mod thrift;

pub use footer::{Footer, Physical, Place};
pub use plain::plain;
pub use sbbf::Sbbf;
