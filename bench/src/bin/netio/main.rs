//! Every link beside what it is held against, in one process and one interleaved run, on one
//! receiving core: what `cargo xtask bench netio` builds and runs.
//!
//! Prints tables for people and writes the rows of `bench/record/` for the report. What cannot be
//! measured here (no DPDK in the build, no `dpdk-testpmd`, no root, one core) is said, with its
//! reason.
//! Costs are CPU time, not wall time: a stranger on the core makes a turn longer, not dearer.
#![forbid(unsafe_code)]

mod cores;
#[cfg(feature = "dpdk")]
mod dpdk;
mod frames;
mod options;
mod pipeline;
mod scale;
mod show;
#[cfg(feature = "dpdk")]
mod testpmd;
mod turn;
mod veth;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bloomrf_bench::record::Record;
use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};

use cores::Cores;
use options::{Options, Part};
use turn::Turn;

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("bench netio: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    // Namespaces and processes end on every way out of here, so a signal must be one of them.
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped))
            .map_err(|why| format!("signals: {why}"))?;
    }
    let mut record = Record::create(options.csv.as_deref())?;
    let cores = Cores::choose()?;
    let mut skipped = Vec::new();
    let mut turns = parts(options, cores, &mut skipped);
    for line in &skipped {
        println!("skipped: {line}");
        record.remark(&format!("skipped: {line}"))?;
    }
    let outcome = turn::run(&mut turns, options.plan(cores), &stopped);
    drop(turns);
    #[cfg(feature = "dpdk")]
    let ended = dpdk::shutdown();
    #[cfg(not(feature = "dpdk"))]
    let ended = Ok(());
    let (mut series, failures) = outcome?;
    // Who is compared stands together; otherwise the order stays.
    series.sort_by_key(|series| series.case.clone());
    let ticks_per_ns = cores::ticks_per_ns();
    let rows = turn::rows(&series, ticks_per_ns);
    show::print(&rows);
    for row in rows {
        record.push(row)?;
    }
    if failures.is_empty() {
        return ended;
    }
    Err(format!("these failed:\n  {}", failures.join("\n  ")))
}

/// All that takes turns; parts that cannot are named in `skipped`.
fn parts(options: &Options, cores: Cores, skipped: &mut Vec<String>) -> Vec<Box<dyn Turn>> {
    let mut all = Vec::new();
    for part in Part::ALL.into_iter().filter(|&part| options.runs(part)) {
        let made = match part {
            Part::Dpdk => dpdk_turns(cores, skipped),
            Part::Veth => veth::turns(cores, options.rate, skipped),
            Part::Memory => scale::turns(),
            Part::Pipeline => pipeline::turns(cores, options.batches()),
        };
        match made {
            Ok(turns) => all.extend(turns),
            Err(why) => skipped.push(format!("{}: {why}", part.name())),
        }
    }
    all
}

#[cfg(feature = "dpdk")]
fn dpdk_turns(cores: Cores, skipped: &mut Vec<String>) -> Result<Vec<Box<dyn Turn>>, String> {
    dpdk::turns(cores, skipped)
}

#[cfg(not(feature = "dpdk"))]
fn dpdk_turns(_: Cores, _: &mut Vec<String>) -> Result<Vec<Box<dyn Turn>>, String> {
    Err("this program was built without it; build it with `--features dpdk`".to_owned())
}
