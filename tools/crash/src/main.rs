//! Kills and failing system calls at every step of a publish cycle and of recovery.
#![forbid(unsafe_code)]

fn main() {}
