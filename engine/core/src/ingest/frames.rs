//! Which frames of a batch a queue has seen: (lane, sequence) with digest, in fixed memory.
//!
//! Hot path: no allocation after `new`, no lock; a bounded number of slots is read per frame.
//!
//! Open addressing at half load at most. Eight sequences in a row have one cache line, since the
//! line of a frame seen while filters fill the caches is a wait of its own: one per eight frames.
//! Which line, in which order within it, and the steps from there hang on the node's seed, so a
//! sender cannot choose sequences that collide. Clearing costs nothing: slots carry the generation
//! that wrote them.

use bloomrf_kernels::hash::mix;

use crate::verify::Digest;

/// One DATA frame seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Lane.
    pub lane: u8,
    /// Sequence within the lane.
    pub sequence: u32,
    /// Records in it.
    pub records: u16,
    /// H(payload).
    pub digest: Digest,
}

/// What became of a frame offered to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// First copy: its rows are to be inserted.
    New,
    /// An equal copy was seen: ignore.
    Duplicate,
    /// A differing copy was seen: the batch is refused.
    Conflict,
    /// No room: the batch is refused.
    Full,
}

/// A hash table of fixed capacity, allocated once.
#[derive(Clone, Debug)]
pub struct FrameTable {
    entries: Vec<FrameEntry>,
    frames_max: usize,
    /// Generation in the upper half, index into `entries` in the lower one.
    slots: Vec<u64>,
    generation: u32,
    seed: u64,
}

/// Slots of a cache line.
const LINE: u32 = 8;

/// Slots read at most per frame: each is taken with a chance of a half at most.
const PROBES_MAX: usize = 128;

impl FrameTable {
    /// Room for `frames_max` frames; `seed` is the node's and secret.
    ///
    /// # Panics
    /// Where `frames_max` is not below 2^31.
    #[must_use]
    pub fn new(frames_max: usize, seed: u64) -> Self {
        assert!(frames_max < 1 << 31, "frame indices fit 31 bits");
        FrameTable {
            entries: Vec::with_capacity(frames_max),
            frames_max,
            slots: vec![0; (2 * frames_max).next_power_of_two()],
            generation: 1,
            seed,
        }
    }

    /// Offers a frame.
    pub fn offer(&mut self, entry: FrameEntry) -> Offer {
        let group = u64::from(entry.lane) << 32 | u64::from(entry.sequence / LINE);
        let hash = mix(group, self.seed);
        let mask = self.slots.len() - 1;
        let mut place = (hash >> 32) as usize ^ (entry.sequence % LINE) as usize;
        // Odd: it comes by every slot.
        let step = (hash >> 16) as usize | 1;
        for _ in 0..PROBES_MAX.min(self.slots.len()) {
            let at = place & mask;
            place = place.wrapping_add(step);
            let slot = self.slots[at];
            if slot >> 32 != u64::from(self.generation) {
                if self.entries.len() == self.frames_max {
                    return Offer::Full;
                }
                self.slots[at] = u64::from(self.generation) << 32 | self.entries.len() as u64;
                self.entries.push(entry);
                return Offer::New;
            }
            let seen = &self.entries[(slot & u64::from(u32::MAX)) as usize];
            if seen.lane == entry.lane && seen.sequence == entry.sequence {
                return if *seen == entry { Offer::Duplicate } else { Offer::Conflict };
            }
        }
        Offer::Full
    }

    /// Frames that it has room for.
    #[must_use]
    pub fn frames_max(&self) -> usize {
        self.frames_max
    }

    /// All frames, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &FrameEntry> + '_ {
        self.entries.iter()
    }

    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True where no frame was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.generation = self.generation.checked_add(1).unwrap_or_else(|| {
            self.slots.fill(0);
            1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(lane: u8, sequence: u32) -> FrameEntry {
        FrameEntry { lane, sequence, records: 3, digest: [sequence as u8; 32] }
    }

    #[test]
    fn each_frame_is_new_once_and_a_duplicate_afterwards() {
        let mut table = FrameTable::new(2_000, 9);
        for round in [Offer::New, Offer::Duplicate] {
            for sequence in (0..1_000).rev() {
                assert_eq!(table.offer(frame(0, sequence)), round);
                assert_eq!(table.offer(frame(63, sequence)), round);
            }
        }
        assert_eq!(table.len(), 2_000);
        assert_eq!(table.iter().filter(|f| f.lane == 63).count(), 1_000);
    }

    #[test]
    fn differing_copy_is_a_conflict_whatever_differs() {
        let mut table = FrameTable::new(4, 9);
        assert_eq!(table.offer(frame(1, u32::MAX)), Offer::New);
        let mut other = frame(1, u32::MAX);
        other.digest[31] ^= 1;
        assert_eq!(table.offer(other), Offer::Conflict);
        let shorter = FrameEntry { records: 2, ..frame(1, u32::MAX) };
        assert_eq!(table.offer(shorter), Offer::Conflict);
        assert_eq!(table.offer(frame(1, u32::MAX)), Offer::Duplicate, "the first copy stays");
    }

    #[test]
    fn whole_table_fills_whatever_the_sequences_have_in_common() {
        for (lanes, stride) in [(64u32, 1), (1, 8), (1, 1 << 10), (4, 1 << 20), (64, 1 << 26)] {
            let mut table = FrameTable::new(512, 5);
            let frames = (0..512).map(|i| frame((i % lanes) as u8, i / lanes * stride));
            let frames: Vec<FrameEntry> = frames.collect();
            for expected in [Offer::New, Offer::Duplicate] {
                for &frame in &frames {
                    assert_eq!(table.offer(frame), expected, "{lanes} lanes, steps of {stride}");
                }
            }
        }
    }

    #[test]
    fn full_table_still_knows_its_frames() {
        let mut table = FrameTable::new(3, 9);
        for sequence in 0..3 {
            assert_eq!(table.offer(frame(0, sequence)), Offer::New);
        }
        assert_eq!(table.offer(frame(0, 3)), Offer::Full);
        assert_eq!(table.offer(frame(0, 2)), Offer::Duplicate);
        assert_eq!(FrameTable::new(0, 9).offer(frame(0, 0)), Offer::Full);
    }

    #[test]
    fn cleared_table_forgets_and_does_not_grow() {
        let mut table = FrameTable::new(64, 9);
        let capacity = table.entries.capacity();
        table.generation = u32::MAX - 2;
        for _ in 0..5 {
            for sequence in 0..64 {
                assert_eq!(table.offer(frame(2, sequence)), Offer::New);
            }
            table.clear();
            assert!(table.is_empty());
        }
        assert_eq!(table.entries.capacity(), capacity);
    }
}
