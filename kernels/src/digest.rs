//! Hot path: no allocation, no lock, no syscall; one pass over the bytes.
//!
//! Doors of the frame digest xxh3-128, on any kernel set.
