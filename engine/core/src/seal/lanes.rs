//! Which queues the lanes of a batch came to: looked at once per share and once per batch.
//!
//! A lane has a source port of its own, so that a port's hash brings all of it to one queue. Where
//! it does not, batches are as right as ever: the union does not mind. But queues do work that was
//! meant for others, and a spread that was balanced is not any more: so it is counted.

use crate::ingest::FrameEntry;
use crate::limits::LANES_MAX;

/// Lanes that came to a queue where they were not expected, summed over batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStats {
    /// Came to several queues within one batch.
    pub split: u64,
    /// Came to one queue, and in the batch before to another one: so do all lanes of a sender that
    /// starts anew with other source ports.
    pub moved: u64,
}

/// The queues that each lane of one batch came to.
#[derive(Debug, Default)]
pub(super) struct LaneQueues {
    /// A queue with a bit for each of its lanes.
    shares: Vec<(usize, u64)>,
}

impl LaneQueues {
    /// Notes a share of a queue.
    pub(super) fn note<'a>(&mut self, queue: usize, frames: impl Iterator<Item = &'a FrameEntry>) {
        let bit = |frame: &FrameEntry| 1_u64.checked_shl(frame.lane.into()).unwrap_or(0);
        let lanes = frames.fold(0, |lanes, frame| lanes | bit(frame));
        match self.shares.iter_mut().find(|(of, _)| *of == queue) {
            Some((_, known)) => *known |= lanes,
            None => self.shares.push((queue, lanes)),
        }
    }
}

/// The queue that each lane came to last.
#[derive(Debug)]
pub(super) struct LaneHomes {
    queues: [Option<usize>; LANES_MAX],
    stats: LaneStats,
}

impl Default for LaneHomes {
    fn default() -> Self {
        LaneHomes { queues: [None; LANES_MAX], stats: LaneStats::default() }
    }
}

impl LaneHomes {
    /// Compares a batch with the one before. Shares of queues from `queues` on are no queue's: what
    /// was sent again came on another way.
    pub(super) fn look_at(&mut self, lanes: &LaneQueues, queues: usize) {
        let shares = || lanes.shares.iter().filter(|(queue, _)| *queue < queues);
        for (lane, home) in self.queues.iter_mut().enumerate() {
            let mut of = shares().filter(|(_, lanes)| lanes >> lane & 1 == 1);
            match (of.next(), of.next()) {
                (None, _) => {}
                (Some(_), Some(_)) => self.stats.split += 1,
                (Some(&(queue, _)), None) => {
                    self.stats.moved += u64::from(home.is_some_and(|home| home != queue));
                    *home = Some(queue);
                }
            }
        }
    }

    pub(super) fn stats(&self) -> LaneStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues with their lanes.
    type Batch<'a> = [(usize, &'a [u8])];

    fn seen(batches: &[&Batch<'_>]) -> (u64, u64) {
        let mut homes = LaneHomes::default();
        for batch in batches {
            let mut queues = LaneQueues::default();
            for (queue, lanes) in *batch {
                let frame = |lane: &u8| FrameEntry {
                    lane: *lane,
                    sequence: 0,
                    records: 1,
                    digest: Default::default(),
                };
                let frames: Vec<_> = lanes.iter().map(frame).collect();
                queues.note(*queue, frames.iter());
            }
            homes.look_at(&queues, 2);
        }
        (homes.stats().split, homes.stats().moved)
    }

    #[test]
    fn a_lane_that_keeps_to_its_queue_is_not_counted() {
        let batch: &Batch = &[(0, &[0, 63]), (1, &[1]), (0, &[63, 0])];
        assert_eq!(seen(&[batch, batch, &[(0, &[63])]]), (0, 0));
    }

    #[test]
    fn a_lane_on_several_queues_is_split_and_one_on_another_queue_has_moved() {
        let straight: &Batch = &[(0, &[0]), (1, &[63])];
        let split: &Batch = &[(0, &[0, 63]), (1, &[63])];
        assert_eq!(seen(&[straight, split, straight]), (1, 0));
        let crossed: &Batch = &[(0, &[63]), (1, &[0])];
        assert_eq!(seen(&[straight, crossed, crossed, straight]), (0, 4));
    }

    #[test]
    fn what_was_sent_again_came_on_no_queue() {
        assert_eq!(seen(&[&[(0, &[0]), (2, &[0])], &[(2, &[0])], &[(0, &[0])]]), (0, 0));
    }
}
