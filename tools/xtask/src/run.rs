//! Commands that call cargo, one step after the other, each with its time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::{campaign, packages, tidy};

/// The workspace root, wherever the command was called from.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The packages of the workspace, and where cargo builds them.
pub(crate) fn metadata() -> Result<cargo_metadata::Metadata, String> {
    cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .other_options(vec!["--locked".to_owned(), "--offline".to_owned()])
        .exec()
        .map_err(|reason| format!("cargo metadata: {reason}"))
}

/// Crates whose code depends on feature `dpdk`: they are built and tested again with it.
const DPDK_CRATES: [&str; 5] =
    ["bloomrf-dpdk", "bloomrf-netio", "bloomrf-node", "bloomrf", "bloomrf-bench"];

/// Everything that must hold before a change lands.
pub(crate) fn test() -> Result<(), String> {
    let start = Instant::now();
    step("formatting", || cargo(&["fmt", "--all", "--", "--check"]))?;
    step("tidy", || tidy::tidy().map(|summary| println!("{summary}")))?;
    let found = step("packages", packages::provide)?;
    step("lints", || {
        let lints = ["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"];
        cargo(&lints)
    })?;
    // The tests build the workspace anyway; doc examples ride along.
    step("tests", || cargo(&["test", "--locked", "--workspace", "--no-fail-fast"]))?;
    if found.dpdk {
        step("lints with dpdk", || {
            with_dpdk("clippy", &["--all-targets", "--", "-D", "warnings"])
        })?;
        step("tests with dpdk", || with_dpdk("test", &["--no-fail-fast"]))?;
    }
    step("fault campaign, quick", campaign::quick)?;
    for line in &found.skipped {
        println!("{line}");
    }
    println!("xtask test: all steps passed in {} s", start.elapsed().as_secs());
    Ok(())
}

/// A command of cargo for what depends on feature `dpdk`, with that feature.
fn with_dpdk(command: &str, rest: &[&str]) -> Result<(), String> {
    let mut all = vec![command, "--locked", "--features", "dpdk"];
    all.extend(DPDK_CRATES.iter().flat_map(|name| ["--package", name]));
    all.extend(rest);
    cargo(&all)
}

/// `bloomrf demo`, in release.
pub(crate) fn demo(args: &[String]) -> Result<(), String> {
    let mut all = vec!["run", "--locked", "--release", "--package", "bloomrf", "--", "demo"];
    all.extend(args.iter().map(String::as_str));
    cargo(&all)
}

/// The criterion benches.
pub(crate) fn criterion(args: &[String]) -> Result<(), String> {
    let mut all = vec!["bench", "--locked", "--package", "bloomrf-bench"];
    all.extend(["--bench", "bloomrf", "--bench", "exact", "--"]);
    all.extend(args.iter().map(String::as_str));
    cargo(&all)
}

fn step<T>(name: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    println!("xtask: {name} ...");
    let start = Instant::now();
    let result = work().map_err(|reason| format!("{name}: {reason}"))?;
    println!("xtask: {name} passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(result)
}

/// Runs cargo, with what it prints.
pub(crate) fn cargo(args: &[&str]) -> Result<(), String> {
    cargo_with(args, &[])
}

/// [`cargo`], with variables added to its environment.
pub(crate) fn cargo_with(args: &[&str], variables: &[(&str, String)]) -> Result<(), String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(args)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .current_dir(root())
        .status()
        .map_err(|reason| format!("cargo could not be started: {reason}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`cargo {}` failed ({status})", args.join(" ")))
}
