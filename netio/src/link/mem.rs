//! A link in memory: a bounded queue of datagrams, for tests and simulation.
//!
//! Hot path: by its place only. It locks and allocates; no deployment uses it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Framing, Link, LinkError, LinkStats, Waker};
use crate::burst::{BUFFER_BYTES, BURST_MAX, Burst, Received};

/// The receiving end.
#[derive(Debug)]
pub struct MemLink {
    shared: Arc<Shared>,
    framing: Framing,
    /// Of the burst that is out.
    held: Vec<Vec<u8>>,
}

/// The sending end; cheap to clone.
#[derive(Clone, Debug)]
pub struct MemSender {
    shared: Arc<Shared>,
}

/// A pair with room for `capacity` datagrams.
#[must_use]
pub fn pair(capacity: usize) -> (MemSender, MemLink) {
    pair_of(capacity, Framing::Payloads)
}

/// The same for Ethernet frames.
#[must_use]
pub fn frame_pair(capacity: usize) -> (MemSender, MemLink) {
    pair_of(capacity, Framing::Frames)
}

fn pair_of(capacity: usize, framing: Framing) -> (MemSender, MemLink) {
    let shared =
        Arc::new(Shared { capacity, state: Mutex::new(State::default()), changed: Condvar::new() });
    (MemSender { shared: Arc::clone(&shared) }, MemLink { shared, framing, held: Vec::new() })
}

impl MemSender {
    /// Sends a datagram; false (and counted as dropped by the link) when there is no room.
    pub fn send(&self, datagram: &[u8]) -> bool {
        let mut state = self.shared.lock();
        if state.queue.len() >= self.shared.capacity {
            state.stats.dropped.ring += 1;
            state.stats.loss_mark += 1;
            return false;
        }
        state.queue.push_back(datagram.to_vec());
        self.shared.changed.notify_all();
        true
    }
}

impl Link for MemLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        self.held.clear();
        let mut state = self.shared.lock();
        while self.held.len() < BURST_MAX {
            let Some(datagram) = state.queue.pop_front() else { break };
            if datagram.len() > BUFFER_BYTES {
                state.stats.oversize += 1;
                state.stats.loss_mark += 1;
                continue;
            }
            state.stats.received += 1;
            state.stats.bytes += datagram.len() as u64;
            self.held.push(datagram);
        }
        for bytes in &self.held {
            burst.push(match self.framing {
                Framing::Payloads => Received::payload(bytes, 0),
                Framing::Frames => Received::ethernet(bytes, 0),
            });
        }
        Ok(())
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let state = self.shared.lock();
        let idle = |state: &mut State| state.queue.is_empty() && !state.woken;
        let (mut state, _) = self
            .shared
            .changed
            .wait_timeout_while(state, timeout, idle)
            .unwrap_or_else(PoisonError::into_inner);
        state.woken = false;
        Ok(())
    }

    fn waker(&self) -> Waker {
        Waker::of_memory(Arc::clone(&self.shared))
    }

    fn stats(&self) -> LinkStats {
        self.shared.lock().stats
    }

    fn describe(&self) -> String {
        format!("mem, room for {} datagrams", self.shared.capacity)
    }
}

/// What both ends and the wakers hold.
#[derive(Debug)]
pub(super) struct Shared {
    capacity: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    stats: LinkStats,
    woken: bool,
}

impl Shared {
    pub(super) fn wake(&self) {
        self.lock().woken = true;
        self.changed.notify_all();
    }

    /// No code that can panic runs under the lock, so a poisoned state is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::Drops;

    #[test]
    fn datagrams_arrive_in_order_over_several_bursts() {
        let (sender, mut link) = pair(200);
        for i in 0..150_u8 {
            assert!(sender.send(&[i; 3]));
        }
        let mut seen = Vec::new();
        loop {
            let mut burst = Burst::new();
            link.rx_burst(&mut burst).unwrap();
            assert!(burst.len() <= BURST_MAX);
            if burst.is_empty() {
                break;
            }
            seen.extend(burst.iter().map(|r| r.bytes.to_vec()));
        }
        assert_eq!(seen, (0..150_u8).map(|i| vec![i; 3]).collect::<Vec<_>>());
        assert_eq!((link.stats().received, link.stats().bytes), (150, 450));
    }

    #[test]
    fn a_full_queue_and_a_long_datagram_are_counted() {
        let (sender, mut link) = pair(2);
        assert!(sender.send(&vec![0; BUFFER_BYTES + 1]));
        assert!(sender.send(b"fits"));
        assert!(!sender.send(b"no room"));
        let mut burst = Burst::new();
        link.rx_burst(&mut burst).unwrap();
        assert_eq!(burst.iter().map(|r| r.bytes).collect::<Vec<_>>(), [b"fits"]);
        drop(burst);
        let dropped = Drops { ring: 1, ..Drops::default() };
        let expected = LinkStats { received: 1, bytes: 4, dropped, oversize: 1, loss_mark: 2 };
        assert_eq!(link.stats(), expected);
    }

    #[test]
    fn a_wake_ends_a_wait_also_when_it_came_first() {
        let (_sender, mut link) = pair(1);
        let (waker, begin) = (link.waker(), Instant::now());
        waker.wake();
        link.wait(Duration::from_secs(60)).unwrap();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            waker.wake();
        });
        link.wait(Duration::from_secs(60)).unwrap();
        other.join().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(30));
        link.wait(Duration::from_millis(1)).unwrap();
    }
}
