//! libFuzzer driver of the target `stored`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::stored::run(bytes));
