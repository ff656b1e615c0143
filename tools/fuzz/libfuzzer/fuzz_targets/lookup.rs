//! libFuzzer driver of the target `lookup`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::lookup::run(bytes));
