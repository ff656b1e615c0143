//! One visit: its random numbers, its length, the sets, and what was compared.

use std::fmt::Debug;

use bloomrf_kernels::Kernel;

use crate::operations::OPERATIONS;

/// Lengths that are walked through are 0..=LENGTH_MAX.
pub(crate) const LENGTH_MAX: u64 = 4_097;

/// Lengths of the even visits are below this: every tail of every register and look-ahead.
pub(crate) const SHORT: u64 = 321;

/// One operation at one length.
pub(crate) struct Case<'a> {
    /// Elements to try.
    pub(crate) length: usize,
    /// The sets, the reference first.
    pub(crate) sets: &'a [Kernel],
    state: u64,
    compared: Vec<u64>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(seed: u64, operation: usize, visit: u64, sets: &'a [Kernel]) -> Self {
        let lengths = LENGTH_MAX + 1;
        // Operations start apart, so that together they soon have visited every length.
        let start = operation as u64 * lengths / OPERATIONS.len() as u64;
        let length = match visit % 2 {
            0 => visit / 2 % SHORT,
            _ => (start + visit / 2) % lengths,
        };
        let state = seed ^ mixed(mixed(operation as u64 + 1) ^ visit);
        Case { length: length as usize, sets, state, compared: vec![0; sets.len()] }
    }

    /// Cases so far, per set.
    pub(crate) fn compared(&self) -> &[u64] {
        &self.compared
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.state)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of them.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Counts `cases` on a set.
    pub(crate) fn count(&mut self, set: usize, cases: usize) {
        self.compared[set] += cases as u64;
    }

    /// Compares a set's result with what is expected; the cases are counted apart.
    pub(crate) fn same<T: PartialEq + Debug>(
        &self,
        set: usize,
        what: &str,
        result: &[T],
        expected: &[T],
    ) {
        if result == expected {
            return;
        }
        let differ = |(a, b): (&T, &T)| a != b;
        let at = result.iter().zip(expected).position(differ).unwrap_or(0);
        panic!(
            "{}: {what} at length {}: {} elements where {} were expected; element {at} is {:x?} \
             and not {:x?}",
            self.sets[set],
            self.length,
            result.len(),
            expected.len(),
            result.get(at),
            expected.get(at)
        );
    }
}

/// The finaliser of splitmix64.
fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
