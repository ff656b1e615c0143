//! libFuzzer driver of the target `stream`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::stream::run(bytes));
