//! Hot path: no allocation, no lock, no syscall; one cache line per key.
//!
//! Doors of the native blocked Bloom filter: many keys at once, on any kernel set.
