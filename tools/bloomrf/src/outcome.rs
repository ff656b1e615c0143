//! How a command ends: 0 done, 1 failed, 2 misused or bad input.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use bloomrf_refcluster::BroadcastError;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// It tried and could not: exit code 1.
    Failed(String),
    /// What it was given cannot be: exit code 2.
    Misused(String),
}

impl CommandError {
    pub(crate) fn failed(reason: impl Display) -> Self {
        CommandError::Failed(reason.to_string())
    }

    pub(crate) fn misused(reason: impl Display) -> Self {
        CommandError::Misused(reason.to_string())
    }

    /// A setting out of bounds is misuse; all else is the network.
    pub(crate) fn of_broadcast(error: BroadcastError) -> Self {
        match error {
            BroadcastError::Setting { .. } => CommandError::misused(error),
            _ => CommandError::failed(error),
        }
    }

    /// Says it on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        let (Self::Failed(reason) | Self::Misused(reason)) = self;
        complain("error", reason);
        ExitCode::from(match self {
            Self::Failed(_) => 1,
            Self::Misused(_) => 2,
        })
    }
}

/// Of every command.
pub(crate) type Outcome = Result<ExitCode, CommandError>;

/// Prints `text` on standard output. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|e| CommandError::failed(format!("standard output: {e}"))),
    }
}

/// One line on standard error, if anybody listens there.
pub(crate) fn complain(kind: &str, text: impl Display) {
    let _ = writeln!(io::stderr(), "{kind}: {text}");
}
