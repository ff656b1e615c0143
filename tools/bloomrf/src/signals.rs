//! SIGINT and SIGTERM as a flag. A second one ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::outcome::CommandError;

/// Set by the first signal.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
}

impl Stop {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self, CommandError> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal sets the flag, a second one finds it set and exits.
            flag::register_conditional_shutdown(signal, EXIT_SIGNALLED, stop.clone())
                .and_then(|_| flag::register(signal, stop.clone()))
                .map_err(|e| CommandError::failed(format!("signal handler: {e}")))?;
        }
        Ok(Stop { flag: stop })
    }

    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// An error once a signal came.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        if self.is_set() { Err(CommandError::failed("interrupted")) } else { Ok(()) }
    }

    /// Sleeps until a signal comes.
    pub(crate) fn wait(&self) {
        while !self.is_set() {
            std::thread::sleep(POLL);
        }
    }
}

/// 128 + SIGINT, as shells show it.
const EXIT_SIGNALLED: i32 = 130;
const POLL: Duration = Duration::from_millis(50);
