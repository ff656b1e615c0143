//! What takes part in the contest: one face over every filter, ours and the peers'.

use bloomrf_bench::Splitmix;
use bloomrf_bench::rounds::shuffle;
use bloomrf_kernels::arena::Arena;

use crate::ours;

/// A filter in the contest. One memory may be worked on in several *ways* (our kernel sets).
pub(crate) trait Filter {
    /// Names of the ways, as in the records.
    fn ways(&self) -> Vec<String>;

    /// Inserts; returns how many keys were accepted.
    fn insert_many(&mut self, way: usize, keys: &[u64]) -> usize;

    /// Builds a filter that needs all keys at once.
    fn finish(&mut self) {}

    /// How many of `keys` are found.
    fn count_found(&self, way: usize, keys: &[u64]) -> u64;

    /// Bytes of the filter.
    fn bytes(&self) -> usize;

    /// Whether `insert_many` only collects and `finish` does the work.
    fn is_static(&self) -> bool {
        false
    }

    /// Whether it is known to drop keys that it accepted.
    fn may_lose(&self) -> bool {
        false
    }
}

/// What a filter is made for.
pub(crate) struct Shape<'a> {
    /// Bytes it should take.
    pub(crate) bytes: usize,
    /// Keys that will be inserted.
    pub(crate) keys: u64,
    /// Memory of ours, in the wanted pages.
    pub(crate) arena: &'a Arena,
}

/// Makes an empty filter; `None` where it has no such size.
pub(crate) type Make = Box<dyn Fn(&Shape<'_>) -> Option<Box<dyn Filter>>>;

/// An entrant: its name, and how it is made.
pub(crate) struct Entrant {
    pub(crate) name: String,
    pub(crate) make: Make,
}

impl Entrant {
    pub(crate) fn new(
        name: impl Into<String>,
        make: impl Fn(&Shape<'_>) -> Option<Box<dyn Filter>> + 'static,
    ) -> Self {
        Entrant { name: name.into(), make: Box::new(make) }
    }
}

/// Everybody: ours first, then the peers where they are built in.
pub(crate) fn entrants() -> Result<Vec<Entrant>, String> {
    let mut all = ours::entrants();
    #[cfg(feature = "peers")]
    all.extend(crate::peers::entrants()?);
    all.shrink_to_fit();
    Ok(all)
}

/// `0..count` in another order for every `round`.
pub(crate) fn order(count: usize, round: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    shuffle(&mut order, &mut Splitmix::new(round));
    order
}
