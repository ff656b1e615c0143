//! libFuzzer driver of the target `redis_dump`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::foreign::redis_dump::run(bytes));
