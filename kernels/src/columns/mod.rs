//! Hot path: no allocation, no lock, no syscall; work bounded by the rows of a chunk.
//!
//! Column work of ingest: rows to columns of keys, bounds, recent keys, exact maps.
