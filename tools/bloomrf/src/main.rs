//! The operator's binary: `demo`, `node`, `replay`, `lookup`, `plan`, `filter`, `doctor`. Each
//! command is thin over the libraries; what a command prints for machines goes to standard output,
//! everything else to standard error.
#![forbid(unsafe_code)]

mod address;
mod args;
mod batch_ids;
mod demo;
mod doctor;
mod filter;
mod held;
mod http;
mod intake;
mod keys;
mod lookup;
mod node;
mod numbers;
mod outcome;
mod plan;
mod progress;
mod replay;
mod signals;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::{Cli, Command, LogFormat, NodeCommand};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // A daemon tells what it does; a command speaks when something is wrong.
    let level =
        if matches!(cli.command, Command::Node(NodeCommand::Run(_))) { "info" } else { "error" };
    start_log(cli.log_format, level);
    let outcome = match &cli.command {
        Command::Demo(args) => demo::run(args),
        Command::Node(NodeCommand::Run(args)) => node::run(args),
        Command::Node(NodeCommand::CheckConfig(args)) => node::check_config(args),
        Command::Replay(args) => replay::run(args),
        Command::Lookup(args) => lookup::run(args),
        Command::Filter(command) => filter::run(command),
        Command::Plan(args) => plan::run(args),
        Command::Doctor(args) => doctor::run(args),
    };
    outcome.unwrap_or_else(|error| error.report())
}

fn start_log(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_from_default_env()
        .or_else(|_| EnvFilter::try_from_env("BLOOMRF_LOG"))
        .unwrap_or_else(|_| EnvFilter::new(level));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => lines.json().init(),
    }
}
