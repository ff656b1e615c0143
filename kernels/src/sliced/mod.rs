//! Hot path: no allocation, no lock, no syscall.
//!
//! Bit-sliced groups: the same word of 64 filters transposed, so that one load answers one probe
//! for 64 batches.
