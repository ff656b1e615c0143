//! What came in and what became of it: `frames_in = data + close + duplicate + sum(refused)`.
//!
//! Hot path: plain counters, no atomics.

use crate::wire::frame::FrameError;

/// Why a frame was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefuseReason {
    /// It could not be parsed.
    Malformed(FrameError),
    /// Of another cluster.
    Cluster,
    /// Of another schema.
    Schema,
    /// Of a batch that is already sealed or given up.
    Late,
    /// A second copy that differs, or disagrees with its batch about hash or lanes.
    Conflict,
    /// More frames in a batch than the table holds.
    Full,
    /// No partial is free, or too many events wait: the sealer is behind.
    Busy,
    /// Keys are asked for, and it is not sealed with one of them.
    Key,
    /// From a source that is not on the allow-list.
    Source,
}

/// Counters of one queue. Plain numbers: the owner publishes copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngestStats {
    /// Datagrams offered.
    pub frames_in: u64,
    /// DATA frames whose rows were inserted.
    pub data: u64,
    /// CLOSE frames taken.
    pub close: u64,
    /// Equal second copies.
    pub duplicate: u64,
    /// Refused, by reason: indexed by [`RefuseReason::index`].
    pub refused: [u64; RefuseReason::COUNT],
    /// Records inserted.
    pub records: u64,
    /// Payload bytes inserted.
    pub bytes: u64,
}

impl IngestStats {
    /// Frames refused, for whatever reason.
    #[must_use]
    pub fn refused_sum(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// Frames that are accounted for: equal to `frames_in`, always.
    #[must_use]
    pub fn accounted(&self) -> u64 {
        self.data + self.close + self.duplicate + self.refused_sum()
    }
}

impl RefuseReason {
    /// Number of reasons.
    pub const COUNT: usize = 15;

    /// All reasons with their metric labels, in index order.
    pub const LABELS: [&'static str; Self::COUNT] = [
        "length", "magic", "version", "checksum", "kind", "lane", "records", "cluster", "schema",
        "late", "conflict", "full", "busy", "key", "source",
    ];

    /// Index into [`IngestStats::refused`] and [`RefuseReason::LABELS`].
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::Malformed(FrameError::Length) => 0,
            Self::Malformed(FrameError::Magic) => 1,
            Self::Malformed(FrameError::Version) => 2,
            Self::Malformed(FrameError::Checksum) => 3,
            Self::Malformed(FrameError::Kind) => 4,
            Self::Malformed(FrameError::Lane) => 5,
            Self::Malformed(FrameError::Records) => 6,
            Self::Cluster => 7,
            Self::Schema => 8,
            Self::Late => 9,
            Self::Conflict => 10,
            Self::Full => 11,
            Self::Busy => 12,
            Self::Key => 13,
            Self::Source => 14,
        }
    }
}
