//! When the records of a replay are due, where its file's own times decide.

use std::time::{Duration, Instant};

use bloomrf_netio::link::pcap::Speed;

use crate::signals::Stop;

/// The schedule of one replay, from its first record on.
#[derive(Debug)]
pub(super) struct Timing {
    speed: Speed,
    started: Instant,
    /// Of the pass over the file that is played: its first time and its last one, and packets.
    first_ts_ns: i64,
    last_ts_ns: i64,
    packets: u64,
    /// Of the passes before.
    passed_ns: u64,
    due_ns: u64,
}

impl Timing {
    /// Begins now.
    pub(super) fn start(speed: Speed) -> Self {
        Timing {
            speed,
            started: Instant::now(),
            first_ts_ns: 0,
            last_ts_ns: 0,
            packets: 0,
            passed_ns: 0,
            due_ns: 0,
        }
    }

    /// How long until a packet of this time is due. Times that go back, or are not told, are due.
    pub(super) fn until(&mut self, ts_ns: i64) -> Duration {
        if self.speed != Speed::Original || ts_ns == 0 {
            return Duration::ZERO;
        }
        if self.packets == 0 {
            (self.first_ts_ns, self.last_ts_ns) = (ts_ns, ts_ns);
        }
        self.packets += 1;
        self.last_ts_ns = self.last_ts_ns.max(ts_ns);
        let due_ns = self.passed_ns.saturating_add(distance(self.first_ts_ns, ts_ns));
        self.due_ns = self.due_ns.max(due_ns);
        Duration::from_nanos(due_ns).saturating_sub(self.started.elapsed())
    }

    /// The file is over; where it is played again, it begins a mean distance of packets later.
    pub(super) fn end_pass(&mut self) {
        let span_ns = distance(self.first_ts_ns, self.last_ts_ns);
        let gap_ns = span_ns.checked_div(self.packets.saturating_sub(1)).unwrap_or(0);
        self.passed_ns = self.passed_ns.saturating_add(span_ns + gap_ns);
        self.packets = 0;
    }

    /// Records per second that were asked for, where `records` have been sent.
    pub(super) fn asked(&self, records: u64) -> Option<f64> {
        match self.speed {
            Speed::Max => None,
            Speed::Rate(rate) => Some(rate),
            Speed::Original => (self.due_ns > 0).then(|| records as f64 * 1e9 / self.due_ns as f64),
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

/// Sleeps, but not past a signal.
pub(super) fn sleep(mut left: Duration, stop: &Stop) {
    while !left.is_zero() && !stop.is_set() {
        let step = left.min(STEP);
        std::thread::sleep(step);
        left -= step;
    }
}

const STEP: Duration = Duration::from_millis(50);

fn distance(from_ns: i64, to_ns: i64) -> u64 {
    u64::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nearly `ms`: some time has passed meanwhile.
    fn about(left: Duration, ms: u64) -> bool {
        let due = Duration::from_millis(ms);
        left <= due && left + Duration::from_secs(20) > due
    }

    #[test]
    fn packets_are_due_as_far_apart_as_their_times() {
        let mut timing = Timing::start(Speed::Original);
        assert_eq!(timing.until(5_000_000_000), Duration::ZERO);
        assert!(about(timing.until(65_000_000_000), 60_000));
        assert_eq!(timing.until(0), Duration::ZERO);
        // Out of order: due at once.
        assert!(about(timing.until(35_000_000_000), 30_000));
        assert_eq!(timing.asked(120), Some(2.0));
        timing.end_pass();
        // Three packets with a time over a minute: half a minute to the next pass.
        assert!(about(timing.until(5_000_000_000), 90_000));
        assert!(about(timing.until(65_000_000_000), 150_000));
    }

    #[test]
    fn other_speeds_ask_nothing_of_the_files_times() {
        for (speed, asked) in [(Speed::Max, None), (Speed::Rate(7.0), Some(7.0))] {
            let mut timing = Timing::start(speed);
            assert_eq!(timing.until(5), Duration::ZERO);
            assert_eq!(timing.until(i64::MAX), Duration::ZERO);
            assert_eq!(timing.asked(99), asked);
        }
        let mut none = Timing::start(Speed::Original);
        none.end_pass();
        assert_eq!((none.until(0), none.asked(3)), (Duration::ZERO, None));
    }
}
