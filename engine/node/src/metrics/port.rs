//! What the thread of a raw port counts that owns addresses. Atomics only.

use prometheus::IntCounter;

use super::Register;

/// Counters of the port's thread. Frames taken = sum over `frames`.
pub(crate) struct PortMetrics {
    frames: Vec<IntCounter>,
    /// Frames that were sent.
    pub(crate) sent: IntCounter,
    /// Frames that the port had no room for, or failed to send.
    pub(crate) unsent: IntCounter,
}

/// What became of a frame that a poll loop handed to the port's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortOutcome {
    /// A lookup, answered.
    Answered,
    /// A lookup, not answered: `lookup_refused` says why.
    Refused,
    /// ARP, neighbour discovery, a ping or TCP: given to the stack.
    Stack,
    /// The same, while the stack had no room.
    StackFull,
    /// Not for our link-layer address, or from a group or ourselves.
    Link,
    /// Not for an own IP address.
    Target,
    /// From an address that is nobody's or ours, or not on `lookup_allow`.
    Source,
    /// Of no kind that the port answers.
    Kind,
    /// A fragment.
    Fragment,
    /// Lengths or checksums are wrong.
    Damaged,
    /// A connection's first segment once more.
    Repeated,
}

impl PortMetrics {
    pub(super) fn new(register: &Register<'_>) -> Result<Self, prometheus::Error> {
        Ok(PortMetrics {
            frames: register.counters(
                "port_frames",
                "Frames handed to the thread of a raw port that owns addresses, by outcome.",
                "outcome",
                &LABELS,
            )?,
            sent: register.counter("port_sent", "Frames sent by a raw port.")?,
            unsent: register.counter("port_unsent", "Frames that a raw port could not send.")?,
        })
    }

    /// Counts one frame.
    pub(crate) fn count(&self, outcome: PortOutcome) {
        if let Some(counter) = self.frames.get(outcome as usize) {
            counter.inc();
        }
    }

    /// Frames of one outcome so far.
    #[cfg(test)]
    pub(crate) fn counted(&self, outcome: PortOutcome) -> u64 {
        self.frames[outcome as usize].get()
    }

    /// Frames so far.
    #[cfg(test)]
    pub(crate) fn frames(&self) -> u64 {
        self.frames.iter().map(IntCounter::get).sum()
    }
}

/// In the order of the outcomes.
const LABELS: [&str; 11] = [
    "answered",
    "refused",
    "stack",
    "stack_full",
    "link",
    "target",
    "source",
    "kind",
    "fragment",
    "damaged",
    "repeated",
];
