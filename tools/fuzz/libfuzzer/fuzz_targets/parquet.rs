//! libFuzzer driver of the target `parquet`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bloomrf_fuzz::foreign::parquet::run(bytes));
