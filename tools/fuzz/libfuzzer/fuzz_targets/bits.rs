//! libFuzzer driver of the target `bits`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::foreign::bits::run(bytes));
