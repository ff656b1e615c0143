//! A link in memory: a bounded queue of datagrams, for tests and simulation.

use std::time::Duration;

use super::{Link, LinkError, LinkStats, Waker};
use crate::Burst;

/// The receiving end.
#[derive(Debug)]
pub struct MemLink {
    _private: (),
}

/// The sending end; cheap to clone.
#[derive(Clone, Debug)]
pub struct MemSender {
    _private: (),
}

/// A pair with room for `capacity` datagrams.
#[must_use]
pub fn pair(capacity: usize) -> (MemSender, MemLink) {
    let _ = capacity;
    todo!("netio")
}

impl MemSender {
    /// Sends a datagram; false (and counted as dropped by the link) when there is no room.
    pub fn send(&self, datagram: &[u8]) -> bool {
        let _ = datagram;
        todo!("netio")
    }
}

impl Link for MemLink {
    fn rx_burst(&mut self, burst: &mut Burst) -> Result<(), LinkError> {
        let _ = burst;
        todo!("netio")
    }
    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let _ = timeout;
        todo!("netio")
    }
    fn waker(&self) -> Waker {
        todo!("netio")
    }
    fn stats(&self) -> LinkStats {
        todo!("netio")
    }
    fn describe(&self) -> String {
        "mem".to_owned()
    }
}
