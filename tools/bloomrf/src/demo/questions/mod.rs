//! Questions drawn from the data and beside it, as WHERE text.
//!
//! Points and ranges on every column (these carry a class, so that what is reached can be
//! compared with the ideal per column), CIDR of three widths, time windows, AND, OR, NOT, IN,
//! IS NULL, and the sugar `host`, `net`, `port`. The same seed and data give the same questions.

mod compose;
mod single;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::predicate::Predicate;
use bloomrf_engine::query::parse_where;
use bloomrf_engine::schema::Schema;
use bloomrf_oracle::{Field, Value};
use bloomrf_refcluster::storage::file::{FileError, read_batch};

use super::chance::Chance;

/// A question.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) predicate: Predicate,
    /// For a question about a single column with a value drawn from the data.
    pub(crate) class: Option<Class>,
}

/// What a single-column question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    /// Ordinal.
    pub(crate) column: u16,
    pub(crate) shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// Equality.
    Point,
    /// An aligned range: 16 wide, a /24, or a time window.
    Range,
}

/// A text with its class, before it is parsed.
type Draft = (String, Option<Class>);

/// Rows from all over the stored batches.
pub(crate) fn sample(
    folder: &Path,
    ids: &[BatchId],
    fields: &[Field],
    chance: &mut Chance,
) -> Result<Vec<Vec<Value>>, FileError> {
    let mut chosen = BTreeSet::new();
    while chosen.len() < ids.len().min(SAMPLE_BATCHES) {
        chosen.extend(chance.pick(ids));
    }
    let mut rows = Vec::new();
    for batch in chosen {
        let stored = read_batch(folder, batch)?;
        for _ in 0..SAMPLE_ROWS {
            let at = chance.below(stored.len() as u64) as usize;
            let record = stored.iter().nth(at);
            rows.extend(record.map(|r| bloomrf_oracle::decode_row(fields, r)));
        }
    }
    Ok(rows)
}

/// Draws questions.
pub(crate) struct Generator<'s> {
    schema: &'s Schema,
    sample: &'s [Vec<Value>],
    chance: Chance,
}

impl<'s> Generator<'s> {
    pub(crate) fn new(schema: &'s Schema, sample: &'s [Vec<Value>], chance: Chance) -> Self {
        Generator { schema, sample, chance }
    }

    /// Up to `count` different questions: fewer only where the data has no more to ask about.
    pub(crate) fn generate(mut self, count: usize) -> Vec<Question> {
        let mut questions = Vec::with_capacity(count);
        let mut seen = HashSet::new();
        let columns = self.schema.columns().len();
        for turn in 0..count * TURNS_PER_QUESTION {
            if questions.len() == count {
                break;
            }
            let column = (turn / TURNS) % columns;
            let draft = match turn % TURNS {
                0 => self.point(column),
                1 => self.range(column),
                2 => self.point_beside(column),
                3 => self.range_beside(column),
                _ => self.composed(turn / TURNS),
            };
            let Some((text, class)) = draft else { continue };
            if !seen.insert(text.clone()) {
                continue;
            }
            match parse_where(self.schema, &text) {
                Ok(predicate) => questions.push(Question { text, predicate, class }),
                Err(error) => {
                    // Our own text: a test fails on it, a demo goes on without it.
                    debug_assert!(false, "{text}: {error}");
                    tracing::error!(text, %error, "question dropped");
                }
            }
        }
        questions
    }

    /// A value of `column` that is in the data.
    fn value(&mut self, column: usize) -> Option<Value> {
        let some = (0..VALUE_TRIES).find_map(|_| {
            let value = self.chance.pick(self.sample)?.get(column)?;
            (*value != Value::Null).then(|| value.clone())
        });
        // A rare column: look everywhere, from a random row on.
        some.or_else(|| {
            let start = self.chance.below(self.sample.len() as u64) as usize;
            let rows = self.sample.iter().cycle().skip(start).take(self.sample.len());
            rows.filter_map(|row| row.get(column)).find(|v| **v != Value::Null).cloned()
        })
    }

    fn row(&mut self) -> Option<&'s [Value]> {
        let sample = self.sample;
        self.chance.pick(sample).map(Vec::as_slice)
    }

    fn name(&self, column: usize) -> &'s str {
        let schema = self.schema;
        schema.columns()[column].name()
    }
}

/// The rows of one batch that are looked at for values.
const SAMPLE_ROWS: usize = 24;
const SAMPLE_BATCHES: usize = 128;
const TURNS: usize = 6;
const TURNS_PER_QUESTION: usize = 12;
const VALUE_TRIES: usize = 8;

#[cfg(test)]
mod tests;
