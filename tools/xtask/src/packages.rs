//! Packages of the system that some tests need: libdpdk for feature `dpdk`, `ip` for namespaces.
//!
//! As root on Debian what is missing is installed; anywhere else nothing is touched, and the
//! tests that need it say "skipped". `BLOOMRF_TEST_PACKAGES` = `require` (a skip is a failure) or
//! `off` (nothing is ever installed) says otherwise.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Oldest libdpdk that `ffi/dpdk` builds with.
const DPDK_VERSION_MIN: &str = "22.11";

/// Says what is done with missing packages; see the header.
const VARIABLE: &str = "BLOOMRF_TEST_PACKAGES";

/// A thing that tests need, and who brings it on Debian.
struct Need {
    what: &'static str,
    is_there: fn() -> bool,
    packages: &'static [&'static str],
}

/// All poll-mode drivers come with `libdpdk-dev`; `ip` makes the namespaces of the veth tests.
const NEEDS: [Need; 2] = [
    Need { what: "libdpdk", is_there: has_dpdk, packages: &["libdpdk-dev", "pkg-config"] },
    Need { what: "ip", is_there: has_ip, packages: &["iproute2"] },
];

/// What is done with a package that is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Auto,
    Require,
    Off,
}

/// What the tests will find.
pub(crate) struct Found {
    /// Whether feature `dpdk` can be built.
    pub(crate) dpdk: bool,
    /// Lines that begin with "skipped:", for the end of the run.
    pub(crate) skipped: Vec<String>,
}

/// Looks, installs where it may, and tells what is still missing.
///
/// # Errors
/// Where something is missing and `BLOOMRF_TEST_PACKAGES` is `require`.
pub(crate) fn provide() -> Result<Found, String> {
    let mode = mode(std::env::var(VARIABLE).ok().as_deref())?;
    let missing = |needs: &'static [Need]| needs.iter().filter(|need| !(need.is_there)());
    let packages: Vec<&str> = missing(&NEEDS).flat_map(|need| need.packages).copied().collect();
    let mut reason = String::new();
    if !packages.is_empty() {
        reason = match refusal(mode) {
            Some(refusal) => refusal.to_owned(),
            None => install(&packages).err().unwrap_or_default(),
        };
    }
    let skipped: Vec<String> = missing(&NEEDS)
        .map(|need| format!("skipped: tests that need {}: not installed, {reason}", need.what))
        .collect();
    for line in &skipped {
        println!("{line}");
    }
    if mode == Mode::Require && !skipped.is_empty() {
        return Err(format!("{VARIABLE}=require, and\n  {}", skipped.join("\n  ")));
    }
    Ok(Found { dpdk: has_dpdk(), skipped })
}

fn mode(text: Option<&str>) -> Result<Mode, String> {
    match text {
        None | Some("" | "auto") => Ok(Mode::Auto),
        Some("require") => Ok(Mode::Require),
        Some("off") => Ok(Mode::Off),
        Some(other) => Err(format!("{VARIABLE}={other}: expected auto, require or off")),
    }
}

/// Why nothing may be installed here; `None`: it may.
fn refusal(mode: Mode) -> Option<&'static str> {
    // The owner of one's own entry in /proc is who one effectively is.
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if mode == Mode::Off {
        Some("and BLOOMRF_TEST_PACKAGES=off forbids it")
    } else if !is_root {
        Some("and only root could install it")
    } else if !Path::new("/etc/debian_version").exists() {
        Some("and this is no Debian")
    } else {
        None
    }
}

fn install(packages: &[&str]) -> Result<(), String> {
    let start = Instant::now();
    println!("xtask: installing {} ...", packages.join(" "));
    apt(&["update", "-qq"])?;
    let install = ["install", "-y", "-qq", "--no-install-recommends"];
    apt(&[&install, packages].concat())?;
    println!("xtask: installed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs apt-get; its own lines are shown where it fails.
fn apt(args: &[&str]) -> Result<(), String> {
    let output = Command::new("apt-get")
        .args(["-o", "Acquire::Retries=3"])
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .map_err(|reason| format!("apt-get could not be started: {reason}"))?;
    if output.status.success() {
        return Ok(());
    }
    let lines = String::from_utf8_lossy(&output.stderr);
    eprint!("{lines}");
    let last = lines.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("and `apt-get {}` failed: {last}", args.join(" ")))
}

/// Whether libdpdk is installed, and new enough.
pub(crate) fn has_dpdk() -> bool {
    let version = format!("libdpdk >= {DPDK_VERSION_MIN}");
    succeeds(Command::new("pkg-config").args(["--exists", &version]))
}

fn has_ip() -> bool {
    succeeds(Command::new("ip").arg("-V"))
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_mode_is_an_error_that_names_the_known_ones() {
        assert!(mode(None) == Ok(Mode::Auto) && mode(Some("")) == Ok(Mode::Auto));
        assert!(mode(Some("require")) == Ok(Mode::Require) && mode(Some("off")) == Ok(Mode::Off));
        assert!(mode(Some("yes")).is_err_and(|e| e.contains("auto, require or off")));
    }

    #[test]
    fn nothing_is_installed_where_it_is_forbidden() {
        assert_eq!(refusal(Mode::Off), Some("and BLOOMRF_TEST_PACKAGES=off forbids it"));
    }
}
