//! What the log says of steps: failures at powers of two, and every file that was found damaged.

use bloomrf_engine::persist::{FileState, PersistStatus, Step};

/// Remembers what was said.
#[derive(Debug, Default)]
pub(super) struct Teller {
    /// Failures since the disk last worked.
    failures: u64,
}

impl Teller {
    pub(super) fn tell(&mut self, step: &Step, status: &PersistStatus) {
        match step {
            Step::Failed { place } => self.failed(place.label(), status),
            Step::Scrubbed { batch, state } => match state {
                FileState::Whole => {}
                FileState::Damaged { reason } => {
                    tracing::warn!(batch, reason, "stored file damaged: replaced or removed");
                }
                FileState::Missing => tracing::warn!(batch, "stored file missing: written anew"),
                FileState::Unreadable => {
                    tracing::warn!(batch, "stored file unreadable: written anew or removed");
                }
            },
            Step::Unstorable { batch, error } => {
                tracing::warn!(batch, %error, "batch not stored: lost at the next restart");
            }
            Step::Written(name) => {
                tracing::debug!(batch = name.batch, generation = name.generation, "batch stored");
            }
            _ => {}
        }
        if status.failing_since_ns.is_none() && std::mem::take(&mut self.failures) > 0 {
            tracing::info!(waiting = status.waiting, "the data folder works again: catching up");
        }
    }

    fn failed(&mut self, place: &str, status: &PersistStatus) {
        self.failures += 1;
        if self.failures.is_power_of_two() {
            let error = status.last_error.as_ref().map_or("", |last| last.text.as_str());
            tracing::warn!(
                place,
                error,
                failures = self.failures,
                waiting = status.waiting,
                "data folder: batches are served from memory and not stored; free space, or make \
                 data_dir writable again; trying on"
            );
        }
    }
}
