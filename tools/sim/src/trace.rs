//! What happened, in order: a digest of all of it, and the last lines as they were.

use std::collections::VecDeque;
use std::fmt;

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// When, virtual nanoseconds.
    pub at_ns: u64,
    /// What.
    pub what: &'static str,
    /// With what: mostly a batch or a queue.
    pub subject: u64,
    /// And a number that tells more.
    pub number: u64,
}

/// The digest of everything that happened and the last lines of it.
#[derive(Debug)]
pub(crate) struct Trace {
    digest: u64,
    lines: VecDeque<Line>,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Trace { digest: 0, lines: VecDeque::with_capacity(LINES_MAX) }
    }

    /// Notes something. Cost: some nanoseconds.
    pub(crate) fn note(&mut self, at_ns: u64, what: &'static str, subject: u64, number: u64) {
        let word = what.bytes().fold(0, |word: u64, b| word.rotate_left(7) ^ u64::from(b));
        for part in [at_ns, word, subject, number] {
            let mixed = (self.digest ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            self.digest = mixed ^ mixed >> 29;
        }
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(Line { at_ns, what, subject, number });
    }

    /// Equal for equal runs.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// The last lines, oldest first.
    pub(crate) fn last(&self) -> impl ExactSizeIterator<Item = &Line> {
        self.lines.iter()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.at_ns / 1_000;
        write!(f, "{micros:>9} us  {:<18} {:>20}  {}", self.what, self.subject, self.number)
    }
}

/// Lines kept.
const LINES_MAX: usize = 4_096;
