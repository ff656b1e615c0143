//! Called when a batch closes, off the ingest core.
//!
//! Exact kinds, for columns whose keys are few or close together: never a false positive.
