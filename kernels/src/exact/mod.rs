//! Called when a batch closes, off the ingest core; [`Exact::any`] is asked by lookups.
//!
//! Exact kinds, for columns whose keys are few or close together: never a false positive.
//!
//! A filter must guess; the sorted, distinct keys of one batch often fit the same memory as they
//! are. Three forms, the smallest wins: a short *list*; a *frame-of-reference* bitmap with a bit
//! for every key from the least to the greatest; and *Elias-Fano* ([`EliasFano`]), which takes
//! `2 + log2((max - min) / n)` bits a key, whatever the keys are. A batch whose keys lie 2^14 apart
//! on average is kept exactly in 16 bits a key.
//!
//! Cost: one pass over the sorted keys to build; a lookup of a list or a bitmap reads one or two
//! lines, of Elias-Fano four or five.

mod elias_fano;
mod near;
mod parts;
mod sort;

pub use elias_fano::EliasFano;
pub use near::Near;
pub use parts::{EliasFanoParts, PartsError};
pub use sort::sort_distinct;

/// An exact set of keys.
///
/// ```
/// use bloomrf_kernels::exact::Exact;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| 5_000_000_000 + i * i).collect();
/// let exact = Exact::smallest(&keys, 4_000).expect("two bytes a key are plenty");
/// assert!(exact.any(5_000_000_049, 5_000_000_049));
/// assert!(!exact.any(5_000_000_050, 5_000_000_063));
/// assert!(exact.bytes() < 2_200);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Exact {
    /// Sorted, distinct keys, at most [`LIST_MAX`].
    List(Box<[u64]>),
    /// A bit for every key of the span.
    Near(Near),
    /// Sorted keys in about `2 + log2(span / n)` bits each.
    EliasFano(EliasFano),
}

/// Keys of a list: one cache line, searched faster than anything else.
pub const LIST_MAX: usize = 8;

impl Exact {
    /// The smallest form of sorted, distinct keys that takes no more than `bytes_max` bytes.
    ///
    /// # Panics
    /// Where the keys are not sorted and distinct: our own mistake, and a false negative.
    #[must_use]
    pub fn smallest(keys: &[u64], bytes_max: usize) -> Option<Self> {
        assert!(keys.is_sorted_by(|a, b| a < b), "keys are sorted and distinct");
        let form = if keys.len() <= LIST_MAX {
            Exact::List(keys.into())
        } else if near::bytes_of(keys) <= elias_fano::bytes_of(keys) {
            if near::bytes_of(keys) > bytes_max {
                return None;
            }
            Exact::Near(Near::new(keys))
        } else {
            if elias_fano::bytes_of(keys) > bytes_max {
                return None;
            }
            Exact::EliasFano(EliasFano::new(keys))
        };
        (form.bytes() <= bytes_max).then_some(form)
    }

    /// Whether any key of `lo..=hi` is in the set; an empty range (`lo > hi`) holds none.
    #[must_use]
    pub fn any(&self, lo: u64, hi: u64) -> bool {
        match self {
            Exact::List(keys) => keys.iter().any(|&key| lo <= key && key <= hi),
            Exact::Near(near) => near.any(lo, hi),
            Exact::EliasFano(keys) => keys.any(lo, hi),
        }
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Exact::List(keys) => keys.len(),
            Exact::Near(near) => near.len(),
            Exact::EliasFano(keys) => keys.len(),
        }
    }

    /// True where there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Exact::List(keys) => size_of_val(&**keys),
            Exact::Near(near) => near.bytes(),
            Exact::EliasFano(keys) => keys.bytes(),
        }
    }

    /// Name of the form, for logs and metrics.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Exact::List(_) => "list",
            Exact::Near(_) => "frame-of-reference",
            Exact::EliasFano(_) => "elias-fano",
        }
    }

    /// The keys, ascending.
    #[must_use]
    pub fn keys(&self) -> Vec<u64> {
        match self {
            Exact::List(keys) => keys.to_vec(),
            Exact::Near(near) => near.keys().collect(),
            Exact::EliasFano(keys) => keys.keys().collect(),
        }
    }
}

#[cfg(test)]
mod tests;
