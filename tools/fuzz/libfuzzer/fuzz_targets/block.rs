//! libFuzzer driver of the target `block`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::block::run(bytes));
