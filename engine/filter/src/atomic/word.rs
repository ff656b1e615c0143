//! Words whose bits are only ever set, by any number of threads.
//!
//! All of it is `Relaxed`, and that is enough. A bit is all that there is: nobody who sees it goes
//! on to read anything else that was written before it. A bit is never cleared, so that of one
//! word there is nothing to be seen too early or out of order; the system keeps one order of the
//! changes of each word, and a read-modify-write takes the latest. And who learnt *in another way*
//! that an insert has ended (a join, a channel, a lock, a flag: each an acquire of a release) must
//! see its bits, relaxed or not: a load never gives what is older than what happened before it.
//!
//! `tools/models` runs this file under a model checker.

use crate::sync::{AtomicU64, Ordering};

/// Whether all of `bits` were set.
#[inline]
pub(crate) fn has(word: &AtomicU64, bits: u64) -> bool {
    word.load(Ordering::Relaxed) & bits == bits
}

/// Sets `bits`; whether one of them was not set. Of any number of threads that set one bit, one
/// is told so.
///
/// The exchange waits for the line to be this core's alone, so that a word is looked at first.
#[inline]
pub(crate) fn set(word: &AtomicU64, bits: u64) -> bool {
    !has(word, bits) && word.fetch_or(bits, Ordering::Relaxed) & bits != bits
}
