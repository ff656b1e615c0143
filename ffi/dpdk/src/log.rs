//! What DPDK logs while we ask something of it: its own reason, for errors.
#![allow(unsafe_code)]

use crate::ffi;

/// Longest text that an error shows.
const TEXT_BYTES_MAX: usize = 600;

/// A place in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

/// From now on warnings and errors are kept instead of printed.
pub(crate) fn keep() {
    // SAFETY: it opens a stream of its own and hands it to the log, which may happen at any time.
    unsafe { ffi::px_log_keep() }
}

impl Mark {
    pub(crate) fn now() -> Self {
        // SAFETY: it reads a number under its own lock.
        Mark(unsafe { ffi::px_log_mark() })
    }

    /// What has been logged since, on one line; the end of it where it is long.
    pub(crate) fn text(self) -> String {
        let mut bytes = vec![0_u8; TEXT_BYTES_MAX];
        // SAFETY: as many bytes as we say may be written there.
        let length = unsafe { ffi::px_log_since(self.0, bytes.as_mut_ptr().cast(), bytes.len()) };
        bytes.truncate(length);
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("; ")
    }
}
