//! Fuzz targets: any bytes in, no crash, no unbounded work or memory, and nothing excluded wrongly.
//!
//! One function for each target, called by three drivers: a seeded mutator on stable Rust (the
//! binary `bloomrf-fuzz`), the replay of the kept corpus (`cargo test -p bloomrf-fuzz`), and
//! libFuzzer with coverage guidance (`tools/fuzz/libfuzzer`, nightly and cargo-fuzz).
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod block;
pub mod chance;
pub mod checksum;
pub mod drive;
pub mod foreign;
pub mod frame;
pub mod frames;
pub mod lookup;
pub mod node;
pub mod stored;
pub mod stream;
pub mod target;
