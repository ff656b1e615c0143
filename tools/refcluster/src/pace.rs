//! How fast a broadcaster may run: freely, at a rate, or only so far ahead of its receivers.
//!
//! UDP has no back pressure. A window over the receivers' own counters gives one in a process
//! that holds both ends; a rate is all that a plain replay can do.

use std::fmt;
use std::time::{Duration, Instant};

/// A receiver's counter, read from the sender's thread.
pub type Progress = Box<dyn Fn() -> u64 + Send>;

/// A limit on the sender.
#[derive(Debug, Default)]
pub enum Pace {
    /// As fast as the socket takes it.
    #[default]
    Free,
    /// Records per second.
    Rate(Rate),
    /// A bounded distance ahead of the receivers.
    Window(Window),
}

/// Records per second, held over the whole run.
#[derive(Debug)]
pub struct Rate {
    records_per_second: f64,
    started: Option<Instant>,
    sent: u64,
}

/// How far the sender may be ahead.
pub struct Window {
    /// Frames seen, lost ones included as far as known; one per receiver.
    frames: Vec<Gauge>,
    frames_ahead_max: u64,
    /// Batches that the node is done with, sealed or given up.
    batches: Option<Gauge>,
    batches_ahead_max: u64,
    stall: Duration,
}

/// A receiver's counter with what was last read of it: a reading may cost more than a frame, so
/// it is taken only when the last one no longer allows to send.
struct Gauge {
    read: Progress,
    known: u64,
    /// Given up as lost.
    forgiven: u64,
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window")
            .field("frames_ahead_max", &self.frames_ahead_max)
            .field("batches_ahead_max", &self.batches_ahead_max)
            .finish_non_exhaustive()
    }
}

impl Pace {
    /// At most `records_per_second`; 0 or less means freely.
    #[must_use]
    pub fn rate(records_per_second: f64) -> Self {
        if records_per_second > 0.0 {
            Pace::Rate(Rate { records_per_second, started: None, sent: 0 })
        } else {
            Pace::Free
        }
    }

    /// At most `frames_ahead_max` frames ahead of every receiver in `frames`, and one closed
    /// batch ahead of `batches`. A receiver without progress for `stall` is taken to have lost
    /// what is missing: the sender goes on.
    #[must_use]
    pub fn window(
        frames: Vec<Progress>,
        frames_ahead_max: u64,
        batches: Option<Progress>,
        stall: Duration,
    ) -> Self {
        Pace::Window(Window {
            frames: frames.into_iter().map(Gauge::new).collect(),
            frames_ahead_max,
            batches: batches.map(Gauge::new),
            batches_ahead_max: 1,
            stall,
        })
    }

    pub(crate) fn before_records(&mut self, records: u64) {
        if let Pace::Rate(rate) = self {
            rate.wait(records);
        }
    }

    pub(crate) fn before_frame(&mut self, sent: u64) {
        if let Pace::Window(window) = self {
            window.wait_frames(sent);
        }
    }

    pub(crate) fn batch_closed(&mut self, closed: u64) {
        if let Pace::Window(window) = self {
            window.wait_batches(closed);
        }
    }
}

impl Rate {
    fn wait(&mut self, records: u64) {
        let started = *self.started.get_or_insert_with(Instant::now);
        let due = Duration::from_secs_f64(self.sent as f64 / self.records_per_second);
        self.sent += records;
        let early = due.saturating_sub(started.elapsed());
        // Short sleeps are inexact; the schedule is absolute, so the rate still holds.
        if early > SLEEP_MIN {
            std::thread::sleep(early);
        }
    }
}

impl Window {
    fn wait_frames(&mut self, sent: u64) {
        for gauge in &mut self.frames {
            gauge.wait_until_near(sent, self.frames_ahead_max, self.stall);
        }
    }

    fn wait_batches(&mut self, closed: u64) {
        if let Some(gauge) = &mut self.batches {
            gauge.wait_until_near(closed, self.batches_ahead_max, self.stall);
        }
    }
}

impl Gauge {
    fn new(read: Progress) -> Self {
        Gauge { read, known: 0, forgiven: 0 }
    }

    /// Waits until the receiver is at most `ahead_max` behind `sent`; after a stall forgives it
    /// what is missing.
    fn wait_until_near(&mut self, sent: u64, ahead_max: u64, stall: Duration) {
        let mut moved = Instant::now();
        loop {
            let behind = sent.saturating_sub(self.known + self.forgiven);
            if behind <= ahead_max {
                return;
            }
            let now = (self.read)();
            if now != self.known {
                (self.known, moved) = (now, Instant::now());
                continue;
            }
            if moved.elapsed() > stall {
                self.forgiven += behind;
                return;
            }
            // Not in a tight loop: receivers publish their counters only where nobody is reading
            // them.
            std::thread::sleep(SLEEP_MIN);
        }
    }
}

/// Shortest sleep worth a system call.
const SLEEP_MIN: Duration = Duration::from_micros(50);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_rate_is_held_over_the_run() {
        let mut pace = Pace::rate(10_000.0);
        let started = Instant::now();
        for _ in 0..51 {
            pace.before_records(10);
        }
        assert!(started.elapsed() >= Duration::from_millis(49), "{:?}", started.elapsed());
    }

    #[test]
    fn a_window_waits_for_the_slowest_receiver() {
        let seen = Arc::new(AtomicU64::new(0));
        let (fast, slow) = (seen.clone(), seen.clone());
        let frames: Vec<Progress> = vec![
            Box::new(move || fast.load(Ordering::Relaxed) + 1_000),
            Box::new(move || slow.load(Ordering::Relaxed)),
        ];
        let mut pace = Pace::window(frames, 8, None, Duration::from_secs(10));
        let receiver = {
            let seen = seen.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                seen.store(92, Ordering::Relaxed);
            })
        };
        pace.before_frame(100);
        assert_eq!(seen.load(Ordering::Relaxed), 92);
        receiver.join().unwrap();
    }

    #[test]
    fn a_dead_receiver_does_not_stop_the_sender() {
        let frames: Vec<Progress> = vec![Box::new(|| 0)];
        let mut pace = Pace::window(frames, 4, None, Duration::from_millis(10));
        let started = Instant::now();
        for sent in 0..100 {
            pace.before_frame(sent);
        }
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
