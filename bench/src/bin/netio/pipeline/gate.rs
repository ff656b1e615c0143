//! A link that lets its frames through when it is told to, so many of them, and tells what they
//! cost the thread that polled it: the node's own, while the gate was open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bloomrf_netio::{Burst, Framing, Link, LinkError, LinkStats, Waker};

use crate::cores::thread_ns;

/// A link behind a gate.
pub(crate) struct Gate {
    link: Box<dyn Link>,
    marks: Arc<Marks>,
    given: u64,
    begin_ns: Option<u64>,
}

/// What both sides of the gate know.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Frames that may pass, in all.
    allowed: AtomicU64,
    /// Frames that have passed and were done with when the gate last shut.
    passed: AtomicU64,
    /// CPU time of the thread while it was open, ns.
    thread_ns: AtomicU64,
}

impl Marks {
    /// Lets frames pass until there were so many in all.
    pub(crate) fn allow(&self, frames: u64) {
        self.allowed.store(frames, Ordering::Release);
    }

    /// Frames that have passed, and what all of them cost, as of when the gate last shut.
    pub(crate) fn passed(&self) -> (u64, u64) {
        let passed = self.passed.load(Ordering::Acquire);
        (passed, self.thread_ns.load(Ordering::Relaxed))
    }
}

impl Gate {
    pub(crate) fn new(link: Box<dyn Link>) -> (Self, Arc<Marks>) {
        let marks = Arc::new(Marks::default());
        (Gate { link, marks: Arc::clone(&marks), given: 0, begin_ns: None }, marks)
    }
}

impl Link for Gate {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        if self.given >= self.marks.allowed.load(Ordering::Acquire) {
            // The poll loop asks again when it has done with the last burst.
            if let Some(begin_ns) = self.begin_ns.take() {
                self.marks.thread_ns.fetch_add(thread_ns() - begin_ns, Ordering::Relaxed);
                self.marks.passed.store(self.given, Ordering::Release);
            }
            return Ok(());
        }
        self.begin_ns.get_or_insert_with(thread_ns);
        let outcome = self.link.rx_burst(burst);
        self.given += burst.len() as u64;
        outcome
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        // While it is shut the link itself would not wait: it has frames.
        if self.given < self.marks.allowed.load(Ordering::Acquire) {
            return self.link.wait(timeout);
        }
        std::thread::sleep(timeout.min(Duration::from_millis(1)));
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.link.waker()
    }

    fn framing(&self) -> Framing {
        self.link.framing()
    }

    fn keep_sources(&mut self) -> bool {
        self.link.keep_sources()
    }

    fn stats(&self) -> LinkStats {
        self.link.stats()
    }

    fn describe(&self) -> String {
        self.link.describe()
    }
}
