//! Hot path: no allocation, no lock, no syscall; 32 bytes per key.
//!
//! Doors of the split-block Bloom filter of Parquet, bit for bit.
