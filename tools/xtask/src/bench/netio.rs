//! `cargo xtask bench netio`: builds the bench of the links, with DPDK where it is installed, runs
//! it once, shows what it is held to, and files the record where that is asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::{figures, machine, records};
use crate::packages;
use crate::run::{cargo, metadata, root};

/// Options of `cargo xtask bench netio`.
#[derive(Args)]
pub(crate) struct NetioArgs {
    /// Seconds instead of minutes; the numbers mean nothing.
    #[arg(long)]
    quick: bool,
    /// Only these parts: dpdk, veth, memory, pipeline.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// File the record in bench/record/<cpu>, of all parts; else it stays below target/.
    #[arg(long, conflicts_with_all = ["quick", "only"])]
    record: bool,
    /// Rounds through everything [default: 5].
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of a turn [default: 2].
    #[arg(long)]
    seconds: Option<f64>,
    /// Packets per second over the veth pair [default: 300,000].
    #[arg(long)]
    rate: Option<u64>,
}

pub(crate) fn run(args: &NetioArgs) -> Result<(), String> {
    let root = root();
    let target = metadata()?.target_directory.into_std_path_buf();
    let folder = match args.record {
        true => root.join("bench/record").join(machine::cpu_slug()),
        false => target.join("bench-netio"),
    };
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut build = vec!["build", "--locked", "--release", "--package", "bloomrf-bench"];
    build.extend(["--bin", "netio"]);
    if packages::has_dpdk() {
        build.extend(["--features", "dpdk"]);
    }
    cargo(&build)?;
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let mut text = machine::describe(&root, &format!("cargo xtask {}", typed.join(" ")));
    // Filed when it is whole: what a broken run leaves is no record.
    let part = target.join("bench-netio.part");
    measure(args, &target.join("release/netio"), &part)?;
    let csv = read(&part)?;
    let load = machine::load().unwrap_or_else(|| "not known".to_owned());
    text.push_str(&format!("load after: {load}\n"));
    let date = machine::date();
    for (extension, content) in [("csv", &csv), ("txt", &text)] {
        write(&folder.join(format!("{date}-netio.{extension}")), content)?;
    }
    let rows = super::tables::Rows(records::parse(&date, &csv, text)?.rows());
    println!("\n{}", figures::netio_table(&rows));
    println!("recorded in {}", folder.display());
    if args.record {
        println!("`cargo xtask bench report` tells it in docs/PERFORMANCE.md");
    }
    Ok(())
}

fn measure(args: &NetioArgs, program: &Path, csv: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg("--csv").arg(csv);
    if args.quick {
        command.arg("--quick");
    }
    if !args.only.is_empty() {
        command.arg("--only").arg(args.only.join(","));
    }
    let numbers = [
        ("--rounds", args.rounds.map(|value| value.to_string())),
        ("--seconds", args.seconds.map(|value| value.to_string())),
        ("--rate", args.rate.map(|value| value.to_string())),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            command.args([name, &value]);
        }
    }
    let status = command.status().map_err(|why| format!("{}: {why}", program.display()))?;
    if status.success() { Ok(()) } else { Err(format!("the bench failed ({status})")) }
}

fn read(path: &PathBuf) -> Result<String, String> {
    fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

fn write(path: &Path, content: &str) -> Result<(), String> {
    fs::write(path, content).map_err(|why| format!("{}: {why}", path.display()))
}
