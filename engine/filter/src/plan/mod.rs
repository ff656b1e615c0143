//! What to build: from two or three of items, rate, bits and k the rest, for every structure.
//!
//! Pure computation: no I/O, no clock; a plan costs some tens of milliseconds, nearly all of it
//! the bloomRF's model, whatever the sizes. Nothing of the sizes that it speaks of is allocated.

mod advise;
mod shape;
mod share;
mod size;
mod structure;
pub mod table;
#[cfg(test)]
mod tests;

pub use advise::{Advice, Need};
pub use shape::Shape;
pub use share::{Share, Shared};
pub use structure::Structure;

/// What the items are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Bits of a key, 1 to 64, where keys are numbers.
    pub key_bits: u8,
    /// Keys of a range that is asked for, at least 1.
    pub range_width: u64,
    /// Mean length of an item that is text; `None` for numbers.
    pub item_bytes: Option<u64>,
}

impl Default for Keys {
    fn default() -> Self {
        Keys { key_bits: 64, range_width: 1_000, item_bytes: None }
    }
}

/// What is known: two or three of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Question {
    /// Distinct items.
    pub items: Option<u64>,
    /// The highest false-positive rate with that many.
    pub fpr: Option<f64>,
    /// Most bits of memory.
    pub bits: Option<u64>,
    /// Bits of each item.
    pub k: Option<u32>,
    /// What the items are.
    pub keys: Keys,
}

/// One structure's answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Which.
    pub structure: Structure,
    /// Its shape, or why it cannot be.
    pub shape: Result<Shape, WhyNot>,
}

/// All answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What was asked, with what follows from k put in.
    pub question: Question,
    /// One of every structure.
    pub rows: Vec<Row>,
}

impl Plan {
    /// The answers to a question.
    ///
    /// # Errors
    /// Where it says too little, or something that cannot be.
    pub fn of(question: &Question) -> Result<Self, PlanRefusal> {
        let question = question.completed()?;
        let rows =
            Structure::ALL.map(|structure| Row { structure, shape: question.row(structure) });
        Ok(Plan { question, rows: rows.into() })
    }

    /// The shape of a structure, if it can be.
    #[must_use]
    pub fn shape(&self, structure: Structure) -> Option<Shape> {
        self.rows.iter().find(|row| row.structure == structure)?.shape.ok()
    }
}

impl Question {
    /// Checks what is known, and takes the rate from k where only k tells it: that of a filter
    /// half of whose bits are set.
    fn completed(mut self) -> Result<Self, PlanRefusal> {
        if self.fpr.is_some_and(|fpr| !(fpr > 0.0 && fpr < 1.0)) {
            return Err(PlanRefusal::Rate(self.fpr.unwrap_or_default()));
        }
        if self.items == Some(0) || self.items.is_some_and(|items| items > ITEMS_MAX) {
            return Err(PlanRefusal::Items(self.items.unwrap_or_default()));
        }
        if self.bits == Some(0) {
            return Err(PlanRefusal::NoBits);
        }
        if self.k.is_some_and(|k| !(1..=64).contains(&k)) {
            return Err(PlanRefusal::Probes(self.k.unwrap_or_default()));
        }
        if !(1..=64).contains(&self.keys.key_bits) {
            return Err(PlanRefusal::KeyBits(self.keys.key_bits));
        }
        let known = [self.items.is_some(), self.fpr.is_some(), self.bits.is_some()];
        match (known.iter().filter(|is_known| **is_known).count(), self.k) {
            (2.., _) => Ok(self),
            (1, Some(k)) if self.fpr.is_none() => {
                self.fpr = Some(0.5_f64.powi(k as i32));
                Ok(self)
            }
            _ => Err(PlanRefusal::TooLittle),
        }
    }

    fn row(&self, structure: Structure) -> Result<Shape, WhyNot> {
        let Question { items, fpr, bits, k, keys } = *self;
        match (items, fpr, bits) {
            (Some(items), Some(fpr), most) => {
                let shape = size::for_rate(structure, keys, items, fpr, k)?;
                let fits = most.is_none_or(|most| shape.bits <= most);
                if fits { Ok(shape) } else { Err(WhyNot::Memory { bits: shape.bits }) }
            }
            (Some(items), None, Some(bits)) => size::for_bits(structure, keys, items, bits, k),
            (None, Some(fpr), Some(bits)) => size::for_items(structure, keys, fpr, bits, k),
            _ => Err(WhyNot::Rate),
        }
    }
}

/// Why a structure cannot be what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WhyNot {
    /// At no size.
    #[error("does not reach the rate at any useful size")]
    Rate,
    /// Not below this.
    #[error("reaches {fpr:.1e} at best")]
    Lowest {
        /// Its lowest rate.
        fpr: f64,
    },
    /// Not for ranges so wide.
    #[error("does not reach the rate for ranges of {width} keys at any size that it can have")]
    Range {
        /// Keys of a range.
        width: u64,
    },
    /// More than the kind can have.
    #[error("takes {bits:.3e} bits, and {most:.3e} are the most of its kind: shard it")]
    TooLarge {
        /// Bits that it would take.
        bits: f64,
        /// Most bits.
        most: u64,
    },
    /// More than there is.
    #[error("takes {} bytes, more than there are", .bits.div_ceil(8))]
    Memory {
        /// Bits that it would take.
        bits: u64,
    },
    /// Another k than it can have.
    #[error("its k is {least} to {most}")]
    Probes {
        /// Least.
        least: u32,
        /// Most.
        most: u32,
    },
    /// Keys too wide for a bit each.
    #[error("a bit for each of 2^{key_bits} keys is too much; say if keys are narrower")]
    Domain {
        /// Bits of a key.
        key_bits: u8,
    },
    /// No room for the items.
    #[error("has no room for so many items")]
    Full,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanRefusal {
    /// A rate that is none.
    #[error("a false-positive rate is more than 0 and less than 1, not {0}")]
    Rate(f64),
    /// Items out of range.
    #[error("{0} items: expected 1 to {ITEMS_MAX}")]
    Items(u64),
    /// No memory at all.
    #[error("no memory at all: say how many bits or bytes there are")]
    NoBits,
    /// A k out of range.
    #[error("{0} probes: expected 1 to 64")]
    Probes(u32),
    /// A key out of range.
    #[error("keys of {0} bits: expected 1 to 64")]
    KeyBits(u8),
    /// Not enough to go by.
    #[error(
        "too little to go by: say two of items, rate and memory, or k and one of items, memory"
    )]
    TooLittle,
}

/// Most items that a plan is made for.
pub const ITEMS_MAX: u64 = 1 << 48;
