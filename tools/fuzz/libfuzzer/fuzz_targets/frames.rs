//! libFuzzer driver of the target `frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::frames::run(bytes));
