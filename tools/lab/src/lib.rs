//! Network namespaces joined by a veth pair, for tests and benches that run as root.
#![forbid(unsafe_code)]
