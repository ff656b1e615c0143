//! Normalisation: three-valued logic, literals to key ranges, "no opinion" with its reason.

/// Why a leaf or a batch could not be decided. Shown by explain and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoOpinion {
    /// The store holds no filter of this batch.
    NoFilter,
    /// It did, and evicted it.
    Evicted,
    /// Sealed, not judged by the SCC yet.
    Pending,
    /// Refused by the SCC.
    Rejected,
    /// Another schema or cluster.
    Schema,
    /// An operator, shape, column or literal that cannot be decided soundly.
    Operator,
    /// More probes than `MAX_PROBES`.
    Budget,
    /// Time ran out.
    Time,
    /// The filter is damaged.
    Corrupt,
    /// The column has only a zone map, and it could not decide.
    NotFiltered,
}
