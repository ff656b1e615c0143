//! libFuzzer driver of the target `redisson`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::foreign::redisson::run(bytes));
