//! Filters to rows and back, bit by bit from the definition, at once and in slices.

use bloomrf_kernels::sliced::{self as door, SLOTS};

use crate::case::Case;
use crate::inputs;
use crate::placed::Placed;

/// A case is a row.
pub(crate) fn build(case: &mut Case<'_>) {
    // 64 rows a word, so long groups are rare.
    let words = if case.once_in(16) { case.length } else { case.length / 8 };
    let filters = filters(case, words);
    let expected = naive_rows(words, &filters);
    let slice = if case.once_in(2) { words } else { 8 * (1 + case.below(20)) };
    let sets = case.sets;
    for (set, &kernel) in sets.iter().enumerate() {
        let placed: Vec<_> = filters.iter().map(|filter| Placed::words(case, filter)).collect();
        let sources: [&[u64]; SLOTS] = std::array::from_fn(|slot| placed[slot].get());
        let stale = case.next();
        let mut rows = Placed::filled(case, words * SLOTS, stale, 7);
        let mut targets: Vec<_> =
            filters.iter().map(|filter| Placed::filled(case, filter.len(), stale, 7)).collect();
        let mut views = targets.iter_mut().map(Placed::get_mut);
        let mut views: [&mut [u64]; SLOTS] =
            std::array::from_fn(|_| views.next().expect("64 filters"));
        if slice == words {
            door::build(kernel, rows.get_mut(), &sources);
            door::unbuild(kernel, rows.get(), &mut views);
        } else {
            for from in (0..words).step_by(slice) {
                let part = from..words.min(from + slice);
                door::build_words(kernel, rows.get_mut(), &sources, part.clone());
                door::unbuild_words(kernel, rows.get(), &mut views, part);
            }
        }
        case.same(set, &format!("rows of {words} words by {slice}"), rows.get(), &expected);
        rows.assert_guarded("rows");
        for (slot, (target, filter)) in targets.iter().zip(&filters).enumerate() {
            case.same(set, &format!("slot {slot} of {words} words"), target.get(), filter);
            target.assert_guarded("a filter");
        }
        case.count(set, 2 * words * SLOTS);
    }
    let slot = case.below(SLOTS);
    let mut extracted = vec![!0; filters[slot].len()];
    door::extract(&expected, slot, &mut extracted);
    assert_eq!(extracted, filters[slot], "slot {slot} of {words} words");
}

/// Filters for a group of `words`: some shorter by a whole ratio, some empty.
fn filters(case: &mut Case<'_>, words: usize) -> Vec<Vec<u64>> {
    let whole = case.once_in(2);
    let filter = |case: &mut Case<'_>| {
        let ratio = if whole { 1 } else { inputs::factor(case, words) };
        let own = if words.is_multiple_of(ratio) { words / ratio } else { words };
        let own = if case.once_in(12) { 0 } else { own };
        inputs::words(case, own)
    };
    (0..SLOTS).map(|_| filter(case)).collect()
}

/// The rows from their definition.
pub(crate) fn naive_rows(words: usize, filters: &[Vec<u64>]) -> Vec<u64> {
    let mut rows = vec![0; words * SLOTS];
    for (slot, filter) in filters.iter().enumerate().filter(|(_, filter)| !filter.is_empty()) {
        let ratio = words / filter.len();
        for (at, rows) in rows.chunks_exact_mut(64).enumerate() {
            let word = filter[at / ratio];
            for (bit, row) in rows.iter_mut().enumerate() {
                *row |= (word >> bit & 1) << slot;
            }
        }
    }
    rows
}
