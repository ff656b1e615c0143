//! Filters to rows and back, on every kernel set.

use bloomrf_kernels::sliced::{self, SLOTS};
use bloomrf_kernels::{Kernel, params, scalar};

use crate::seeded::Splitmix;
use crate::sliced_built::sources;

/// Random filters for a group of `words`; those at odd places shorter where that divides, some
/// empty.
fn some_filters(random: &mut Splitmix, words: usize) -> Vec<Vec<u64>> {
    let filter = |slot: usize| {
        let ratio = [1, 2, 3, 4, 8, 60, words.max(1)][slot % 7];
        let own = if words.is_multiple_of(ratio) { words / ratio } else { words };
        if slot % 11 == 3 { vec![] } else { (0..own).map(|_| random.next()).collect() }
    };
    (0..SLOTS).map(filter).collect()
}

/// The rows straight from their definition.
fn naive(words: usize, filters: &[Vec<u64>]) -> Vec<u64> {
    let mut rows = vec![0; words * SLOTS];
    for (slot, filter) in filters.iter().enumerate().filter(|(_, filter)| !filter.is_empty()) {
        for (row, bits) in rows.iter_mut().enumerate() {
            let word = filter[row / 64 / (words / filter.len())];
            *bits |= (word >> (row % 64) & 1) << slot;
        }
    }
    rows
}

#[test]
fn rows_are_the_filters_transposed_and_back() {
    let mut random = Splitmix::of("rows_are_the_filters_transposed_and_back");
    for words in (0..=130).chain([240, 1_024, 4_097, 7_680]) {
        let filters = some_filters(&mut random, words);
        let expected = naive(words, &filters);
        for kernel in Kernel::all() {
            let mut rows = vec![!0; words * SLOTS];
            sliced::build(kernel, &mut rows, &sources(&filters));
            assert!(rows == expected, "{kernel}: build of {words} words");
            let mut back: Vec<_> = filters.iter().map(|filter| vec![!0; filter.len()]).collect();
            let mut targets = back.iter_mut().map(|filter| &mut filter[..]);
            let mut targets = std::array::from_fn(|_| targets.next().unwrap());
            sliced::unbuild(kernel, &rows, &mut targets);
            assert!(back == filters, "{kernel}: unbuild of {words} words");
        }
        for (slot, filter) in filters.iter().enumerate().step_by(1 + words / 20) {
            let mut word = vec![!0; filter.len()];
            sliced::extract(&expected, slot, &mut word);
            assert_eq!(&word, filter, "slot {slot} of {words} words");
        }
    }
}

#[test]
fn slices_of_the_work_make_the_whole() {
    let mut random = Splitmix::of("slices_of_the_work_make_the_whole");
    for (words, slice) in [(100, 8), (120, 40), (123, 16), (7, 8), (240, 64)] {
        let filters = some_filters(&mut random, words);
        let expected = naive(words, &filters);
        for kernel in Kernel::all() {
            // From an unaligned place.
            let mut rows = vec![!0; words * SLOTS + 1];
            let rows = &mut rows[1..];
            let mut back: Vec<_> = filters.iter().map(|filter| vec![!0; filter.len()]).collect();
            let mut targets = back.iter_mut().map(|filter| &mut filter[..]);
            let mut targets = std::array::from_fn(|_| targets.next().unwrap());
            for from in (0..words).step_by(slice) {
                let part = from..(from + slice).min(words);
                sliced::build_words(kernel, rows, &sources(&filters), part.clone());
                assert!(rows[part.end * SLOTS..].iter().all(|&row| row == !0));
                sliced::unbuild_words(kernel, rows, &mut targets, part);
            }
            assert!(rows == expected && back == filters, "{kernel}: {words} words by {slice}");
        }
    }
}

#[test]
fn unbuild_folds_to_the_length_that_is_wanted() {
    let mut random = Splitmix::of("unbuild_folds_to_the_length_that_is_wanted");
    let filters: Vec<Vec<u64>> = (0..SLOTS)
        .map(|_| (0..120).map(|_| random.next() & random.next() & random.next()).collect())
        .collect();
    let mut rows = vec![0; 120 * SLOTS];
    sliced::build(Kernel::Scalar, &mut rows, &sources(&filters));
    for kernel in Kernel::all() {
        for factor in [1, 2, 3, 5, 8, 120] {
            let mut back = vec![vec![!0; 120 / factor]; SLOTS];
            let mut targets = back.iter_mut().map(|filter| &mut filter[..]);
            let mut targets = std::array::from_fn(|_| targets.next().unwrap());
            sliced::unbuild(kernel, &rows, &mut targets);
            for (back, filter) in back.iter().zip(&filters) {
                let mut folded = filter.clone();
                scalar::words::fold(&mut folded, factor);
                assert_eq!(back, &folded, "{kernel}: by {factor}");
            }
        }
    }
}

#[test]
fn an_unfolded_filter_answers_as_the_short_one() {
    let mut random = Splitmix::of("an_unfolded_filter_answers_as_the_short_one");
    let layers = params::layers_for(64, random.next());
    let mut short = vec![0; 20];
    for _ in 0..30 {
        scalar::bloomrf::insert(&layers, &mut short, &mut [], random.next());
    }
    let filters: Vec<_> = (0..SLOTS).map(|_| short.clone()).collect();
    let mut rows = vec![0; 60 * SLOTS];
    sliced::build(Kernel::best(), &mut rows, &sources(&filters));
    let mut long = vec![0; 60];
    sliced::extract(&rows, 9, &mut long);
    for _ in 0..20_000 {
        let key = random.next();
        assert_eq!(
            scalar::bloomrf::contains(&layers, &long, &[], key),
            scalar::bloomrf::contains(&layers, &short, &[], key)
        );
    }
}

#[test]
#[should_panic(expected = "a filter of 7 words does not unfold to the group's 24")]
fn a_filter_that_does_not_divide_the_group_is_refused() {
    let filters = vec![vec![1; 7]; SLOTS];
    sliced::build(Kernel::best(), &mut [0; 24 * SLOTS], &sources(&filters));
}

#[test]
#[should_panic(expected = "100 rows are not 64 for each word")]
fn rows_of_half_a_word_are_refused() {
    sliced::build(Kernel::best(), &mut [0; 100], &[&[]; SLOTS]);
}
