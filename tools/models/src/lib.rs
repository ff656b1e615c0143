//! Loom models of publication, retirement, rings and shutdown.
#![forbid(unsafe_code)]
