//! Progress on a terminal; nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of known length, drawn on standard error where that is a terminal.
pub(crate) fn bar(what: &str, length: u64, hidden: bool) -> ProgressBar {
    if hidden {
        return ProgressBar::hidden();
    }
    let shape = "{msg:>10} {bar:40} {human_pos}/{human_len} {per_sec} {eta}";
    styled(ProgressBar::new(length), shape, what)
}

/// A bar over bytes of a file.
pub(crate) fn bytes(what: &str, length: u64) -> ProgressBar {
    let shape = "{msg:>10} {bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    styled(ProgressBar::new(length), shape, what)
}

/// A counter of unknown length.
pub(crate) fn spinner(what: &str, hidden: bool) -> ProgressBar {
    if hidden {
        return ProgressBar::hidden();
    }
    let spinner =
        styled(ProgressBar::no_length(), "{msg:>10} {spinner} {human_pos} {per_sec}", what);
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}

fn styled(bar: ProgressBar, shape: &str, what: &str) -> ProgressBar {
    let style =
        ProgressStyle::with_template(shape).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(what.to_owned())
}
