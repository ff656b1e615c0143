//! Hot path: one byte, `Copy`.
//!
//! What one filter says about one question.

/// The answer of a presence filter for one key or one inclusive range of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No inserted key lies in the range. Never wrong.
    Absent,
    /// A key may lie in the range (a false positive is possible).
    Maybe,
    /// The range needs more probes than allowed. To be read as "may hold".
    OverBudget,
}

impl Answer {
    /// True unless absence was proved.
    #[must_use]
    pub fn may_hold(self) -> bool {
        self != Answer::Absent
    }
}
