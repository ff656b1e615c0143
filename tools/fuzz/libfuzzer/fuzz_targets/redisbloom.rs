//! libFuzzer driver of the target `redisbloom`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::foreign::redisbloom::run(bytes));
