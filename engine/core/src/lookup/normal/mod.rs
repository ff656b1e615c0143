//! Normalisation: three-valued logic, literals to key ranges, "no opinion" with its reason.
//!
//! Hot path: once per lookup; work bounded by the nodes and literals of the predicate.
//!
//! A batch may be excluded when no row of it makes the predicate *true*. `NOT` is pushed to the
//! leaves by De Morgan, which keeps "true" exact under three-valued logic: a negated leaf asks
//! for the rows that make the stated one *false*. A null makes neither. What a leaf asks for is
//! then a set of values, and for floats whether NaN belongs to it under any reading left open.

mod narrow;
mod wide;

use std::fmt;

use crate::limits::{IN_LIST_MAX, PREDICATE_DEPTH_MAX, PREDICATE_NODES_MAX};
use crate::predicate::{FloatOrder, Predicate};
use crate::schema::{Column, KeyClass, Schema};
use crate::store::Absence;

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

/// A predicate in negation normal form.
#[derive(Clone, Debug)]
pub struct Normal<'p> {
    /// The tree.
    pub root: Node,
    /// Its leaves, in the order stated.
    pub leaves: Vec<Leaf<'p>>,
}

/// A node of the tree: no negation any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Index of a leaf.
    Leaf(usize),
    /// All of them. Empty: true.
    All(Vec<Node>),
    /// Any of them. Empty: false.
    Any(Vec<Node>),
}

/// A leaf: what it asks of one column, and how it was stated.
#[derive(Clone, Debug)]
pub struct Leaf<'p> {
    /// Ordinal of the column (of no meaning for `Nothing` and `NoOpinion`).
    pub column: u16,
    /// What it asks.
    pub test: Test,
    /// The predicate it comes from.
    pub stated: &'p Predicate,
    /// Whether it asks for the rows that make `stated` false.
    pub negated: bool,
}

/// Which cells make a leaf true. Sets may be too large, never too small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// Narrow columns: the key lies in one of these inclusive ranges (sorted, disjoint).
    Keys {
        /// Ranges.
        ranges: Vec<(u64, u64)>,
        /// NaN belongs to it under a reading that is left open.
        nan: bool,
    },
    /// Narrow columns: any key but these (sorted, distinct), and NaN. Only the zone map may
    /// disprove it.
    NotKeys(Vec<u64>),
    /// Wide columns: one of these values, each as wide as the column (sorted, distinct).
    Values(Vec<Box<[u8]>>),
    /// Wide columns of at most 16 bytes: any value but those with these zone keys.
    NotValues(Vec<u128>),
    /// Wide columns: the zone key lies in one of these inclusive ranges. Zone map only.
    Order(Vec<(u128, u128)>),
    /// The cell is null.
    IsNull,
    /// The cell is not null.
    IsNotNull,
    /// No cell at all.
    Nothing,
    /// Cannot be decided.
    NoOpinion(NoOpinion),
}

impl Test {
    /// "No opinion" for want of a sound reading.
    const UNSOUND: Test = Test::NoOpinion(NoOpinion::Operator);

    /// One inclusive range of keys, `Nothing` where it is empty.
    fn range(range: Option<(u64, u64)>, nan: bool) -> Test {
        Test::keys(range.into_iter().collect(), nan)
    }

    /// Inclusive ranges of keys in any order; empty ones (`lo > hi`) are dropped.
    fn keys(mut ranges: Vec<(u64, u64)>, nan: bool) -> Test {
        ranges.retain(|&(lo, hi)| lo <= hi);
        if ranges.is_empty() && !nan {
            return Test::Nothing;
        }
        ranges.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (lo, hi) in ranges {
            match merged.last_mut() {
                Some(last) if lo <= last.1 => last.1 = last.1.max(hi),
                _ => merged.push((lo, hi)),
            }
        }
        Test::Keys { ranges: merged, nan }
    }
}

impl<'p> Normal<'p> {
    /// Normalises `predicate` for `schema`; `order` says how the asker orders NaN.
    #[must_use]
    pub fn new(schema: &Schema, predicate: &'p Predicate, order: FloatOrder) -> Self {
        let mut walk = Walk { schema, order, nodes: 0, leaves: Vec::new() };
        let root = walk.node(predicate, false, 0);
        Normal { root, leaves: walk.leaves }
    }
}

struct Walk<'s, 'p> {
    schema: &'s Schema,
    order: FloatOrder,
    nodes: usize,
    leaves: Vec<Leaf<'p>>,
}

impl<'p> Walk<'_, 'p> {
    fn node(&mut self, predicate: &'p Predicate, negated: bool, depth: usize) -> Node {
        self.nodes += 1;
        let past_limit = self.nodes > PREDICATE_NODES_MAX || depth > PREDICATE_DEPTH_MAX;
        match predicate {
            _ if past_limit => self.push(predicate, negated, 0, Test::UNSOUND),
            Predicate::Not(inner) => self.node(inner, !negated, depth + 1),
            Predicate::And(parts) | Predicate::Or(parts) => {
                // Past the limit the rest is one leaf without opinion: under AND it changes
                // nothing, under OR it keeps every batch.
                let room = PREDICATE_NODES_MAX.saturating_sub(self.nodes) + 1;
                let nodes =
                    parts.iter().take(room).map(|p| self.node(p, negated, depth + 1)).collect();
                if matches!(predicate, Predicate::And(_)) != negated {
                    Node::All(nodes)
                } else {
                    Node::Any(nodes)
                }
            }
            Predicate::Compare { column, .. }
            | Predicate::Between { column, .. }
            | Predicate::In { column, .. }
            | Predicate::IsNull { column }
            | Predicate::IsNotNull { column } => {
                let test = match self.schema.columns().get(usize::from(*column)) {
                    Some(of) => test_of(of, predicate, negated, self.order),
                    None => Test::UNSOUND,
                };
                self.push(predicate, negated, *column, test)
            }
            Predicate::Unknown => self.push(predicate, negated, 0, Test::UNSOUND),
        }
    }

    fn push(&mut self, stated: &'p Predicate, negated: bool, column: u16, test: Test) -> Node {
        self.leaves.push(Leaf { column, test, stated, negated });
        Node::Leaf(self.leaves.len() - 1)
    }
}

/// What a leaf asks of `column`.
fn test_of(column: &Column, leaf: &Predicate, negated: bool, order: FloatOrder) -> Test {
    let kind = column.kind();
    let narrow = matches!(kind.key_class(), KeyClass::Narrow { .. });
    match leaf {
        Predicate::IsNull { .. } if negated => Test::IsNotNull,
        Predicate::IsNotNull { .. } if negated => Test::IsNull,
        Predicate::IsNull { .. } => Test::IsNull,
        Predicate::IsNotNull { .. } => Test::IsNotNull,
        Predicate::In { list, .. } if list.len() > IN_LIST_MAX => Test::UNSOUND,
        Predicate::Compare { op, literal, .. } if narrow => {
            narrow::compare(kind, *op, literal, negated, order)
        }
        Predicate::Between { low, high, .. } if narrow => narrow::between(kind, low, high, negated),
        Predicate::In { list, .. } if narrow => narrow::in_list(kind, list, negated),
        Predicate::Compare { op, literal, .. } => wide::compare(kind, *op, literal, negated),
        Predicate::Between { low, high, .. } => wide::between(kind, low, high, negated),
        Predicate::In { list, .. } => wide::in_list(kind, list, negated),
        _ => Test::UNSOUND,
    }
}

impl From<Absence> for NoOpinion {
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::NoFilter => NoOpinion::NoFilter,
            Absence::Pending => NoOpinion::Pending,
            Absence::Rejected => NoOpinion::Rejected,
            Absence::Evicted => NoOpinion::Evicted,
            Absence::Corrupt => NoOpinion::Corrupt,
        }
    }
}

impl NoOpinion {
    /// Number of reasons.
    pub const COUNT: usize = 10;

    /// All reasons with their metric labels, in index order.
    pub const LABELS: [&'static str; Self::COUNT] = [
        "no_filter",
        "evicted",
        "pending",
        "rejected",
        "schema",
        "operator",
        "budget",
        "time",
        "corrupt",
        "not_filtered",
    ];

    /// Index into [`NoOpinion::LABELS`] and [`NoOpinionCounts`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Metric label.
    #[must_use]
    pub fn label(self) -> &'static str {
        Self::LABELS[self.index()]
    }
}

/// How often each reason held, by [`NoOpinion::index`].
pub type NoOpinionCounts = [u64; NoOpinion::COUNT];

impl fmt::Display for NoOpinion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoOpinion::NoFilter => "no filter",
            NoOpinion::Evicted => "evicted",
            NoOpinion::Pending => "pending",
            NoOpinion::Rejected => "rejected",
            NoOpinion::Schema => "schema",
            NoOpinion::Operator => "operator",
            NoOpinion::Budget => "budget",
            NoOpinion::Time => "time",
            NoOpinion::Corrupt => "corrupt",
            NoOpinion::NotFiltered => "column not filtered",
        })
    }
}
