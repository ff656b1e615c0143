//! Our kernels and their peers in one process, on the same keys, interleaved round by round:
//! what `cargo xtask bench kernels` builds and runs, once for each page mode.
//!
//! Prints tables for people and writes the rows of `bench/record/` for the report. Every answer is
//! consumed and checked: a filter that forgets a key fails the run (crates that are known to drop
//! keys are reported instead). Built without the feature `peers` it runs our kernels alone.
#![deny(unsafe_code)]

mod arms;
mod blocked;
mod keys;
mod lies;
mod limit;
mod options;
mod ours;
#[cfg(feature = "peers")]
mod peers;
mod ranges;
mod raw;

use std::process::ExitCode;

use bloomrf_bench::record::Record;
use clap::Parser;
use options::{Options, Section};

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("bench kernels: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let mut record = Record::create(options.csv.as_deref())?;
    let mut wrong = Vec::new();
    if options.runs(Section::Blocked) {
        for &size in options.sizes() {
            wrong.extend(blocked::run(options, size, &mut record)?);
        }
    }
    if options.runs(Section::Bloomrf) {
        wrong.extend(ranges::run(options, &mut record)?);
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("false negatives, which no filter may have:\n  {}", wrong.join("\n  ")))
}
