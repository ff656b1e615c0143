//! Slices at every alignment: some elements off the start of an allocation, that end with it or
//! with a guard that tells when it was written to.

use crate::case::Case;

/// A slice with what lies around it.
pub(crate) struct Placed<T> {
    all: Box<[T]>,
    first: usize,
    length: usize,
    guard: T,
}

/// Elements behind the slice, where there are any.
const GUARD: usize = 16;

impl<T: Copy + PartialEq> Placed<T> {
    /// A copy of `elements`, 0..8 elements off the start. Half of them end with the allocation,
    /// which AddressSanitizer guards; the others with a guard of our own.
    pub(crate) fn new(case: &mut Case<'_>, elements: &[T], guard: T) -> Self {
        let first = case.below(8);
        let behind = if case.once_in(2) { 0 } else { GUARD };
        let mut all = Vec::with_capacity(first + elements.len() + behind);
        all.resize(first, guard);
        all.extend_from_slice(elements);
        all.resize(first + elements.len() + behind, guard);
        Placed { all: all.into_boxed_slice(), first, length: elements.len(), guard }
    }

    /// `length` elements of `value`.
    pub(crate) fn filled(case: &mut Case<'_>, length: usize, value: T, guard: T) -> Self {
        Self::new(case, &vec![value; length], guard)
    }

    pub(crate) fn get(&self) -> &[T] {
        &self.all[self.first..self.first + self.length]
    }

    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        &mut self.all[self.first..self.first + self.length]
    }

    /// Panics where anything around the slice was written to.
    pub(crate) fn assert_guarded(&self, what: &str) {
        let (before, rest) = self.all.split_at(self.first);
        let around = before.iter().chain(&rest[self.length..]);
        assert!(around.copied().all(|e| e == self.guard), "{what}: written outside of the slice");
    }
}

impl Placed<u64> {
    /// Words of answers for `questions` and now and then a few more, with stale bits in them.
    pub(crate) fn answers(case: &mut Case<'_>, questions: usize) -> Self {
        let (stale, more) = (case.next(), case.below(4) * usize::from(case.once_in(4)));
        Self::filled(case, questions.div_ceil(64) + more, stale, GUARD_WORD)
    }

    /// Panics unless these are the answers of a set, with zeros behind them.
    pub(crate) fn assert_answers(&self, case: &Case<'_>, set: usize, what: &str, expected: &[u64]) {
        let (answers, behind) = self.get().split_at(expected.len());
        case.same(set, what, answers, expected);
        case.same(set, "words behind the answers", behind, &vec![0; behind.len()]);
        self.assert_guarded(what);
    }

    /// `length` zeros.
    pub(crate) fn zeros(case: &mut Case<'_>, length: usize) -> Self {
        Self::filled(case, length, 0, GUARD_WORD)
    }

    /// A copy of `words`.
    pub(crate) fn words(case: &mut Case<'_>, words: &[u64]) -> Self {
        Self::new(case, words, GUARD_WORD)
    }
}

/// What lies around words.
const GUARD_WORD: u64 = 0x5AFE_C0DE_5AFE_C0DE;
