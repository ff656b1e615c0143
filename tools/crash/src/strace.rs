//! Children under `strace`: the calls they made, and one of them made to fail or to kill.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::calls::{Call, parse};

/// The calls that a publish cycle and a recovery are made of; names that a machine does not have
/// are passed over.
const TRACED: &str = "?open,openat,?creat,read,?pread64,write,?pwrite64,?writev,fsync,fdatasync,\
                      ?sync_file_range,?rename,?renameat,?renameat2,?link,?linkat,?unlink,unlinkat,\
                      close,ftruncate,?mkdir,mkdirat,?getdents64,?fstat,?newfstatat,?statx,?lseek,\
                      ?fallocate";

/// What one call is made to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault<'a> {
    /// Nothing.
    None,
    /// The n-th call of this name kills the process instead of being made.
    Kill { name: &'a str, nth: usize },
    /// The n-th call of this name, and `more` that follow, fail instead of being made.
    Error { name: &'a str, nth: usize, more: usize, error: &'a str },
}

impl Fault<'_> {
    fn inject(self) -> Option<String> {
        match self {
            Fault::None => None,
            Fault::Kill { name, nth } => Some(format!("inject={name}:signal=KILL:when={nth}")),
            Fault::Error { name, nth, more, error } => {
                Some(format!("inject={name}:error={error}:when={nth}..{}", nth + more))
            }
        }
    }
}

/// What became of a child.
#[derive(Debug)]
pub(crate) struct Life {
    /// Its lines.
    pub(crate) said: Vec<String>,
    /// What it said when it failed.
    pub(crate) complaint: String,
    /// It ended by itself, without an error.
    pub(crate) is_well: bool,
    /// SIGKILL ended it.
    pub(crate) was_killed: bool,
    /// What it called, in order.
    pub(crate) calls: Vec<Call>,
}

/// Whether children can be traced here; else why not, and what to do.
pub(crate) fn missing() -> Option<String> {
    let traced = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).output();
    match traced {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let first = text.lines().next().unwrap_or("no reason given").to_owned();
            Some(format!("missing: strace does not run here: {first}"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some("missing: strace is not installed (apt-get install strace)".to_owned())
        }
        Err(error) => Some(format!("missing: strace could not be started: {error}")),
    }
}

/// Runs this program again with `arguments`, traced, to its end. `log` is overwritten.
pub(crate) fn run(log: &Path, fault: Fault<'_>, arguments: &[&str]) -> io::Result<Life> {
    let mut command = Command::new("sh");
    // A file that is too long is an error, and no signal.
    command
        .args([
            "-c",
            "trap '' XFSZ; exec strace \"$@\"",
            "sh",
            "-f",
            "-qq",
            "-y",
            "-s",
            "256",
            "-e",
            &format!("trace={TRACED}"),
            "-o",
        ])
        .arg(log);
    if let Some(inject) = fault.inject() {
        command.args(["-e", &inject]);
    }
    command.arg(std::env::current_exe()?).args(arguments).env("RUST_BACKTRACE", "0");
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    Ok(Life {
        said,
        complaint: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        is_well: output.status.success(),
        // strace ends as its child did.
        was_killed: output.status.signal() == Some(SIGKILL),
        calls: parse(&fs::read_to_string(log)?),
    })
}

/// The signal that cannot be caught.
const SIGKILL: i32 = 9;
