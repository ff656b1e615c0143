//! libFuzzer driver of the target `node`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::node::run(bytes));
