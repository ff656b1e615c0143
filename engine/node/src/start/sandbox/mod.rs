//! Rights that a running node does not need are given up before its first thread runs.
//!
//! Once sockets are bound, memory is mapped and the data folder is open, the calling thread (and
//! with it every thread that the node starts) drops to its user, empties its capabilities, sets
//! `no_new_privs`, keeps the file system to the data folder (Landlock), and may not execute,
//! trace or load anything (seccomp). Each thread then keeps the system calls of its role alone.
//! Where a step is impossible, `require` refuses to start and `try` says so and goes on.

mod calls;
mod files;
mod rights;

use std::path::Path;

use super::StartError;
use crate::Config;
use crate::config::Sandbox;

pub(super) use calls::Calls;

/// Enters the sandbox; the calls that each thread may then be kept to, `None` without one.
pub(super) fn enter(config: &Config) -> Result<Option<Calls>, StartError> {
    if config.sandbox == Sandbox::Off {
        return Ok(None);
    }
    let required = config.sandbox == Sandbox::Require;
    let calls = step(required, "seccomp", Calls::compile())?;
    step(required, "core files", rights::no_cores())?;
    if let Some(user) = &config.user {
        // Asked for by name: never skipped.
        step(true, "user", rights::become_user(user, &config.data_dir))?;
    }
    step(required, "capabilities", rights::drop_capabilities())?;
    step(required, "no_new_privs", rights::no_new_privileges())?;
    let scc_port = config.scc.map(|scc| scc.port());
    step(required, "Landlock", files::confine(&config.data_dir, scc_port))?;
    if let Some(calls) = &calls {
        step(required, "seccomp", calls.forbid_dangerous())?;
    }
    tracing::info!(
        user = config.user.as_deref().unwrap_or("as started"),
        data_dir = %config.data_dir.display(),
        "sandboxed: no capability, no new privilege, no file beyond the data folder, few calls"
    );
    Ok(calls)
}

/// What came of a step: an error where the sandbox is required, else a warning.
fn step<T>(
    required: bool,
    name: &'static str,
    outcome: Result<T, String>,
) -> Result<Option<T>, StartError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(reason) if required => Err(StartError::Sandbox { step: name, reason }),
        Err(reason) => {
            tracing::warn!(step = name, reason, "not sandboxed in this respect");
            Ok(None)
        }
    }
}

/// Whether the user that the node became can use the data folder; else what to do.
fn check_writable(folder: &Path) -> Result<(), String> {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| {
        format!("{}: {error} for that user; give it to them (chown -R)", folder.display())
    })
}
