//! What is left of a filter whose bits went into a bit-sliced group, and the way back.

use bloomrf_kernels::scalar::bitmap;
use bloomrf_kernels::{Kernel, words};

use super::close::{shorter_list, top_of};
use super::{Filter, FilterKind, Top16};

/// What is kept of a filter whose bits went into a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlicedFilter {
    /// Kind.
    pub kind: FilterKind,
    /// Hashed words, or those of a bitmap; a group may hold each of them several times.
    pub words: u32,
    /// Bytes that it takes by itself.
    pub bytes: usize,
    /// Its fill.
    pub fill: f64,
    /// Its estimated false-positive rate.
    pub fpr: f64,
}

impl SlicedFilter {
    /// What is kept of `filter`. Cost: one pass over its words.
    #[must_use]
    pub fn of(kernel: Kernel, filter: &Filter) -> Self {
        let (fill, words) = match filter {
            Filter::BloomRf { hashed, .. } => (fill_of(kernel, hashed), hashed.len()),
            Filter::Blocked { blocks, .. } => (fill_of(kernel, blocks), blocks.len()),
            Filter::Bitmap8(words) => (filter.fill(), words.len()),
            Filter::Bitmap16(_) | Filter::List16(_) => (filter.fill(), bitmap::WORDS_16),
            Filter::Sliced(sliced) => return *sliced,
            Filter::None | Filter::Near16 { .. } | Filter::Exact(_) => (filter.fill(), 0),
        };
        SlicedFilter {
            kind: filter.kind(),
            words: words as u32,
            bytes: filter.bytes(),
            fill,
            fpr: filter.fpr_at(fill),
        }
    }

    /// The same of `filter`, whose hashed words were folded to `folded`.
    pub(crate) fn folded(self, kernel: Kernel, filter: &Filter, folded: &[u64]) -> Self {
        let (fill, less) = (fill_of(kernel, folded), self.words as usize - folded.len());
        SlicedFilter {
            words: folded.len() as u32,
            bytes: self.bytes - less * size_of::<u64>(),
            fill,
            fpr: filter.fpr_at(fill),
            ..self
        }
    }
}

impl Top16 {
    /// An exact set from its bitmap of 1,024 words, in the form that takes fewer bytes.
    #[must_use]
    pub(crate) fn of_bitmap(kernel: Kernel, words: Vec<u64>) -> Self {
        let ones = words::ones(kernel, &words);
        top_of(words.into(), ones)
    }
}

impl Filter {
    /// The exact filter of a bitmap of 1,024 words, in the form that takes fewer bytes.
    #[must_use]
    pub(crate) fn of_bitmap16(kernel: Kernel, words: Vec<u64>) -> Self {
        match shorter_list(&words, words::ones(kernel, &words)) {
            Some(list) => Filter::List16(list),
            None => Filter::Bitmap16(words.into()),
        }
    }
}

fn fill_of(kernel: Kernel, filter: &[u64]) -> f64 {
    let bits = filter.len() as f64 * 64.0;
    if filter.is_empty() { 0.0 } else { words::ones(kernel, filter) as f64 / bits }
}
