//! `bloomrf-fuzz TARGET --seconds N`: the seeded mutator, on stable Rust.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bloomrf_fuzz::drive;
use bloomrf_fuzz::target::{TARGETS, Target};
use bloomrf_report::Report;
use clap::Parser;

/// Tries damaged inputs on a target; exits 1 when one panics or takes too long.
#[derive(Parser)]
#[command(name = "bloomrf-fuzz", arg_required_else_help = true, after_help = EXAMPLES)]
struct Args {
    /// Name of a target, or `datagrams`: all that read from the network.
    target: String,
    /// Seconds for each target.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Seed of the damage.
    #[arg(long, env = "SEED", default_value_t = 1)]
    seed: u64,
    /// One file, as it is, instead.
    #[arg(long)]
    input: Option<PathBuf>,
    /// Write the inputs that a target starts from into this folder, instead.
    #[arg(long, conflicts_with = "input")]
    seeds: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  bloomrf-fuzz datagrams --seconds 20
  bloomrf-fuzz lookup --seconds 600 --seed 7
  bloomrf-fuzz frame --input failure.bin
  bloomrf-fuzz frame --seeds corpus-of-libfuzzer";

fn main() -> ExitCode {
    let args = Args::parse();
    let wanted = |target: &&Target| {
        target.name == args.target || (args.target == "datagrams" && target.row == DATAGRAMS)
    };
    let chosen: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("{}: no such target; expected datagrams or {}", args.target, names.join(", "));
        return ExitCode::from(2);
    }
    let mut failed = false;
    for target in chosen {
        let outcome = match &args.seeds {
            Some(folder) => write_seeds(target, folder).map(|()| 0),
            None => try_target(target, &args),
        };
        match outcome {
            Ok(failures) => failed |= failures > 0,
            Err(reason) => {
                eprintln!("{}: {reason}", target.name);
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

fn write_seeds(target: &Target, folder: &Path) -> Result<(), String> {
    let kept = drive::corpus(target).map_err(|e| format!("corpus: {e}"))?;
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (at, input) in (target.seeds)().iter().chain(&kept).enumerate() {
        let path = folder.join(format!("{}-{at}", target.name));
        fs::write(&path, input).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

fn try_target(target: &Target, args: &Args) -> Result<usize, String> {
    let findings = match &args.input {
        Some(path) => {
            let input = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
            drive::replay(target, &[input])
        }
        None => {
            let kept = drive::corpus(target).map_err(|e| format!("corpus: {e}"))?;
            let inputs: Vec<_> = (target.seeds)().into_iter().chain(kept).collect();
            let mut findings = drive::replay(target, &inputs);
            let time = Duration::from_secs(args.seconds);
            let more = drive::mutate(target, &inputs, args.seed, time);
            findings.executions += more.executions;
            findings.failures.extend(more.failures);
            findings
        }
    };
    for (at, (input, why)) in findings.failures.iter().enumerate() {
        let path = std::env::temp_dir().join(format!("bloomrf-fuzz-{}-{at}.bin", target.name));
        let kept = fs::write(&path, input);
        let shown = path.display();
        eprintln!("{}: an input of {} B {why}", target.name, input.len());
        match kept {
            Ok(()) => eprintln!("  repeat: bloomrf-fuzz {} --input {shown}", target.name),
            Err(error) => eprintln!("  {shown}: {error}"),
        }
    }
    let failures = findings.failures.len();
    let mut report = Report::new(target.row, "executions");
    report.add(findings.executions);
    report.add_failures(failures as u64);
    report.note(target.name);
    report.finish();
    Ok(failures)
}

/// Row of the fault table: what comes over the network.
const DATAGRAMS: u8 = 7;
