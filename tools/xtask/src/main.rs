//! Project commands: `cargo xtask test | tidy | demo | bench | campaign`. The only entry a
//! developer learns; `.ci/run` calls `cargo xtask test` and nothing else.
#![forbid(unsafe_code)]

mod bench;
mod campaign;
mod packages;
mod run;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Commands of the bloomrf project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Formatting, lints, tidy, every test (with libdpdk those of feature `dpdk`, too), the quick
    /// fault campaign: what CI runs. As root on Debian it installs libdpdk-dev and iproute2.
    Test,
    /// The tree's own rules: import arrows, sizes, unsafe islands, documents that fit the tree.
    Tidy,
    /// The demonstration, in release: same options as `bloomrf demo`.
    #[command(trailing_var_arg = true, allow_hyphen_values = true, disable_help_flag = true)]
    Demo {
        /// Options for `bloomrf demo`, e.g. `--pcap FILE` or `--help`.
        args: Vec<String>,
    },
    /// Measures, keeps the record, tells it in docs/PERFORMANCE.md.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// The fault campaign: one line for each row of the fault table (docs/FAULTS.md).
    Campaign(campaign::Campaign),
}

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Test => run::test(),
        Command::Tidy => tidy::tidy().map(|summary| println!("{summary}")),
        Command::Demo { args } => run::demo(&args),
        Command::Bench(command) => bench::run(&command),
        Command::Campaign(command) => campaign::run(&command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
