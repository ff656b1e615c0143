//! Hot path: no allocation, no lock, no syscall; one pass over the words.
//!
//! Doors of whole-filter operations: merge, fold, fill, zero, on any kernel set.
