//! libFuzzer driver of the target `dablooms`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::foreign::dablooms::run(bytes));
