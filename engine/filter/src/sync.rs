//! Atomics, for the files that `tools/models` runs as they are under a model checker: they take
//! them from here and from nowhere else, and the models give them their own.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
