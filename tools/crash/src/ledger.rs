//! What must be in a folder, by what its child has said before it died.

use std::collections::{BTreeMap, BTreeSet};

use bloomrf_engine::identity::BatchId;

use crate::words::Word;

/// What is known of one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// It has a whole file of this variant.
    pub(crate) stored: Option<u8>,
    /// Variants that a file may be of.
    pub(crate) may_be: BTreeSet<u8>,
    /// A bit of its file may have changed: it may have lost filters, or all.
    pub(crate) is_rotten: bool,
}

/// All batches that a child spoke of, and those that were there before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) known: BTreeMap<BatchId, Known>,
}

impl Ledger {
    /// Takes a word in.
    pub(crate) fn hear(&mut self, word: Word) {
        match word {
            Word::Writing(id, variant) => {
                self.known.entry(id).or_default().may_be.insert(variant);
            }
            Word::Stored(id, variant) => {
                let may_be = BTreeSet::from([variant]);
                let known = Known { stored: Some(variant), may_be, is_rotten: false };
                self.known.insert(id, known);
            }
            Word::Leaving(id) => self.known.entry(id).or_default().stored = None,
            Word::Gone(id) => {
                self.known.remove(&id);
            }
            Word::Rotting(id) => {
                let known = self.known.entry(id).or_default();
                known.stored = None;
                known.is_rotten = true;
            }
            Word::Discarding => self.known.values_mut().for_each(|known| known.stored = None),
            Word::Discarded => self.known.clear(),
            Word::Begin
            | Word::Recovered
            | Word::Refused(_)
            | Word::Rotten
            | Word::Errors(_)
            | Word::End => {}
        }
    }

    /// Takes lines in; the words.
    pub(crate) fn hear_all(&mut self, lines: &[String]) -> Result<Vec<Word>, String> {
        let words = lines.iter().map(|line| line.parse()).collect::<Result<Vec<Word>, _>>()?;
        words.iter().for_each(|word| self.hear(*word));
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_leaving_may_be_there_and_what_was_discarded_may_not() {
        let mut ledger = Ledger::default();
        [Word::Writing(1, 0), Word::Stored(1, 0), Word::Leaving(1), Word::Writing(1, 1)]
            .into_iter()
            .for_each(|word| ledger.hear(word));
        let known = &ledger.known[&1];
        assert_eq!(known.stored, None);
        assert_eq!(known.may_be, BTreeSet::from([0, 1]));
        ledger.hear(Word::Stored(1, 1));
        assert_eq!(ledger.known[&1].may_be, BTreeSet::from([1]));
        ledger.hear(Word::Discarding);
        assert_eq!(ledger.known[&1].stored, None);
        ledger.hear(Word::Discarded);
        assert!(ledger.known.is_empty());
    }
}
