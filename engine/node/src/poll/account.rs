//! What came to a queue, and what became of it: every frame is in one place.
//!
//! Hot path: not on it; numbers of others are added up when somebody asks.

use super::QueueNumbers;

/// What came to queues and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameAccount {
    /// Came to the queue: what its link delivered, and what it knows to be lost.
    pub arrived: u64,
    /// Taken by ingest: records, ends of batches, and second copies of them; of a tap, packets.
    pub ingested: u64,
    /// Refused for a stated reason: as no datagram for us, or as no frame of records for us.
    pub refused: u64,
    /// Given to the thread that answers for the port.
    pub handed_over: u64,
    /// Whole, and for nobody here.
    pub ignored: u64,
    /// Lost for want of room, at the port, in a ring, on the way to the thread that answers.
    pub dropped: u64,
}

impl FrameAccount {
    /// What became of frames, all ways together: equal to `arrived`, always.
    #[must_use]
    pub fn accounted(&self) -> u64 {
        self.ingested + self.refused + self.handed_over + self.ignored + self.dropped
    }
}

impl QueueNumbers {
    /// The account of these numbers.
    pub(crate) fn account(&self) -> FrameAccount {
        let QueueNumbers { stage: _, sort, ingest, link, packets } = self;
        let lost = link.dropped.sum() + link.oversize;
        // The frames of records that a tap's queue gets are made of packets counted here.
        let (ingested, refused) = match packets.packets() {
            0 => (ingest.data + ingest.close + ingest.duplicate, ingest.refused_sum()),
            packets => (packets, 0),
        };
        FrameAccount {
            arrived: link.received + lost,
            ingested,
            refused: refused + sort.refused.iter().sum::<u64>(),
            handed_over: sort.handed_over,
            ignored: sort.ignored,
            dropped: lost + sort.ring_full,
        }
    }
}
