//! libFuzzer driver of the target `frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::frame::run(bytes));
