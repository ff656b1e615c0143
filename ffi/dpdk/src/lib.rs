//! Poll-mode ports of DPDK, behind a small C shim. Without feature `dpdk` this crate is empty, and
//! building it needs nothing but cargo.
