//! `cargo xtask campaign kernels`: the kernels against their references on many random cases, in
//! release, or all their tests under AddressSanitizer.

use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::run::{cargo_with, root};

/// Options of `cargo xtask campaign kernels`.
#[derive(Args)]
pub(crate) struct KernelsArgs {
    /// Cases (a key, row, word or range compared on one set) in all, like 1e10 [default: 1e7, and
    /// every operation at every short length].
    #[arg(long)]
    cases: Option<String>,
    /// Seed of the cases, decimal [default: the one of CI].
    #[arg(long)]
    seed: Option<u64>,
    /// Only operations whose name contains this, like `bloomrf::` or `fold`.
    #[arg(long)]
    only: Option<String>,
    /// Ends after so many seconds, with the cases it has.
    #[arg(long)]
    seconds: Option<u64>,
    /// All tests of the kernels and then the campaign, under AddressSanitizer.
    #[arg(long)]
    asan: bool,
}

/// The one target whose AddressSanitizer is used.
const ASAN_TARGET: &str = "x86_64-unknown-linux-gnu";

pub(crate) fn run(args: &KernelsArgs) -> Result<(), String> {
    if args.asan { under_asan(args) } else { in_release(args) }
}

fn in_release(args: &KernelsArgs) -> Result<(), String> {
    let test = ["test", "--locked", "--release", "--package", "bloomrf-kernels"];
    let campaign = ["--test", "campaign", "--", "--nocapture"];
    cargo_with(&[&test[..], &campaign].concat(), &variables(args))
}

/// The campaign alone where only some operations are asked for.
fn under_asan(args: &KernelsArgs) -> Result<(), String> {
    assert_asan()?;
    let folder = root().join("target/asan");
    let folder = folder.to_string_lossy();
    let test = ["test", "--locked", "--package", "bloomrf-kernels", "--target", ASAN_TARGET];
    let target = ["--target-dir", &folder];
    let tests: &[&str] =
        if args.only.is_some() { &["--test", "campaign"] } else { &["--lib", "--tests"] };
    let mut variables = variables(args);
    // A sanitizer is a flag of the nightly compiler that the stable one has too.
    variables.push(("RUSTC_BOOTSTRAP", "1".to_owned()));
    variables.push(("RUSTFLAGS", "-Zsanitizer=address".to_owned()));
    cargo_with(&[&test[..], &target, tests, &["--", "--nocapture"]].concat(), &variables)?;
    println!("AddressSanitizer found nothing");
    Ok(())
}

/// Says why AddressSanitizer cannot run here, where it cannot.
pub(super) fn assert_asan() -> Result<(), String> {
    let print = Command::new("rustc").args(["--print", "sysroot"]).output();
    let print = print.map_err(|reason| format!("rustc could not be started: {reason}"))?;
    let sysroot = String::from_utf8_lossy(&print.stdout).trim().to_owned();
    let libraries = Path::new(&sysroot).join("lib/rustlib").join(ASAN_TARGET).join("lib");
    let mut names = std::fs::read_dir(&libraries).into_iter().flatten().flatten();
    let has_runtime = names.any(|entry| entry.file_name().to_string_lossy().contains("rt.asan"));
    if has_runtime && cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Ok(());
    }
    Err(format!(
        "AddressSanitizer is not available: it needs {ASAN_TARGET} as host and the toolchain's \
         librustc-*_rt.asan.a in {}",
        libraries.display()
    ))
}

/// What the campaign reads from its environment.
fn variables(args: &KernelsArgs) -> Vec<(&'static str, String)> {
    let cases = args.cases.clone().map(|cases| ("CASES", cases));
    let seed = args.seed.map(|seed| ("SEED", seed.to_string()));
    let only = args.only.clone().map(|only| ("ONLY", only));
    let seconds = args.seconds.map(|seconds| ("SECONDS", seconds.to_string()));
    cases.into_iter().chain(seed).chain(only).chain(seconds).collect()
}
