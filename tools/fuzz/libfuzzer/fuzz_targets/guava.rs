//! libFuzzer driver of the target `guava`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::foreign::guava::run(bytes));
