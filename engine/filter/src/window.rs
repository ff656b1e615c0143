//! A rolling window: items age out one generation at a time, without a gap.
//!
//! Time is cut into generations of `window / generations` each, rounded up; an item goes to that of
//! the moment of its insertion. A generation lives until the window has passed since its end, so an
//! item is found for at least the window and at most the window and one generation. At any moment
//! `generations + 1` of them live, each built for that share of the rate: their sum is the promise.
//! An item that is inserted again lives anew.
//!
//! Time is what the caller says it is, in milliseconds since 1970; asking drops nothing. Insertion
//! drops a generation only when it needs its place and the clock then says that it is past, so
//! however many rotations were missed, an insertion looks at each place once.
//! - A clock that goes *back* finds the generation of that moment again, or begins one. Nothing is
//!   dropped early: what was inserted under a later time lives until that has passed.
//! - A clock that leaps *ahead* makes all that is past its window absent, and its place free.
//! - A clock that goes back and forth can leave up to as many generations in its future as live in
//!   its present. They cost memory, and at worst as much of the rate once more. When places run out
//!   items join the nearest generation of the future. [`Rolling::mend`] tells the window that those
//!   times were wrong.
//!
//! Cost: a question is up to `generations + 1` questions, newest first; memory as many filters,
//! made when they are first needed.

#[cfg(test)]
mod tests;

use bloomrf_kernels::hash::Hash128;

use crate::scaling::either;
use crate::{Build, Inserted, Presence, SizeRefusal, Spec, in_turn};

/// Most generations of a window.
pub const GENERATIONS_MAX: u32 = 1_024;

/// What a window is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// For how long an item is found at least, 1 or more.
    pub window_ms: u64,
    /// Into how many parts it is cut, 1 to [`GENERATIONS_MAX`]: more are more exact, and slower.
    pub generations: u32,
    /// Distinct items that come within one part at most, and the rate of all together.
    pub spec: Spec,
}

/// Why there can be no such window.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowRefusal {
    /// No time at all.
    #[error("a window of no time: say for how many milliseconds an item is to be found")]
    NoTime,
    /// No generations, or too many.
    #[error("a window has 1 to {GENERATIONS_MAX} generations, not {0}")]
    Generations(u32),
    /// No generation can be made so.
    #[error("no such generation: {0}")]
    Size(SizeRefusal),
}

/// One generation: the items of a span of time.
#[derive(Clone, Debug)]
struct Generation<F> {
    /// Which: it began at this many times the span.
    number: u64,
    filter: F,
}

/// A rolling window of filters of one kind.
#[derive(Clone, Debug)]
pub struct Rolling<F> {
    window: Window,
    span_ms: u64,
    /// By number, ascending; equal ones only after [`Rolling::mend`].
    generations: Vec<Generation<F>>,
    over: u64,
}

impl<F: Build> Rolling<F> {
    /// An empty window.
    ///
    /// # Errors
    /// Where there can be none.
    pub fn new(window: Window) -> Result<Self, WindowRefusal> {
        if window.window_ms == 0 {
            return Err(WindowRefusal::NoTime);
        }
        if !(1..=GENERATIONS_MAX).contains(&window.generations) {
            return Err(WindowRefusal::Generations(window.generations));
        }
        let span_ms = window.window_ms.div_ceil(u64::from(window.generations));
        let rolling = Rolling { window, span_ms, generations: Vec::new(), over: 0 };
        // A size that cannot be is found here and not at the first insertion.
        F::build(&rolling.each()).map_err(WindowRefusal::Size)?;
        Ok(rolling)
    }

    /// Inserts one item, or makes it live anew. [`Inserted::Full`] where its generation is full.
    pub fn insert(&mut self, item: Hash128, now_ms: u64) -> Inserted {
        let was_there = self.contains(item, now_ms);
        match self.insert_many(&[item], now_ms) {
            0 if was_there => Inserted::Seen,
            0 => Inserted::New,
            _ => Inserted::Full,
        }
    }

    /// Inserts many, or makes them live anew; returns how many there was no room for.
    pub fn insert_many(&mut self, items: &[Hash128], now_ms: u64) -> usize {
        let Ok(at) = self.place(now_ms) else {
            return items.len();
        };
        let filter = &mut self.generations[at].filter;
        let (before, capacity) = (filter.inserted(), self.window.spec.items);
        let refused = filter.insert_many(items);
        self.over += filter.inserted().saturating_sub(before.max(capacity));
        refused
    }

    /// Tells the window that the clock was wrong whenever it was later than now: what was inserted
    /// then counts as inserted now, and is found for the window and one generation from now.
    pub fn mend(&mut self, now_ms: u64) {
        let now = now_ms / self.span_ms;
        for generation in &mut self.generations {
            generation.number = generation.number.min(now);
        }
    }

    /// The generation of this moment, which there is afterwards.
    fn place(&mut self, now_ms: u64) -> Result<usize, SizeRefusal> {
        let number = now_ms / self.span_ms;
        let at = match self.generations.binary_search_by_key(&number, |g| g.number) {
            Ok(at) => return Ok(at),
            Err(at) => at,
        };
        let past = self.generations.iter().position(|g| !self.is_live(g.number, now_ms));
        if past.is_none() && self.generations.len() >= self.places() {
            // One of the future lives long enough. Without one, the newest is made to.
            let at = at.min(self.generations.len() - 1);
            self.generations[at].number = self.generations[at].number.max(number);
            return Ok(at);
        }
        let filter = F::build(&self.each())?;
        if let Some(past) = past {
            self.generations.remove(past);
        }
        let at = self.generations.partition_point(|g| g.number < number);
        self.generations.insert(at, Generation { number, filter });
        Ok(at)
    }

    /// What each generation is.
    fn each(&self) -> Spec {
        let live = f64::from(self.window.generations) + 1.0;
        Spec { items: self.window.spec.items, fpr: self.window.spec.fpr / live }
    }
}

impl<F: Presence> Rolling<F> {
    /// Whether the item may have been inserted within the window before `now_ms`.
    #[must_use]
    pub fn contains(&self, item: Hash128, now_ms: u64) -> bool {
        self.live(now_ms).any(|filter| filter.contains(item))
    }

    /// Asks for many, as [`Presence::contains_many`].
    ///
    /// # Panics
    /// Unless `found` has a bit for every item.
    pub fn contains_many(&self, items: &[Hash128], now_ms: u64, found: &mut [u64]) {
        in_turn::contains_many(self.live(now_ms), items, found);
    }

    /// What it was made for.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The time that one generation spans.
    #[must_use]
    pub fn span_ms(&self) -> u64 {
        self.span_ms
    }

    /// The filters that answer at `now_ms`, newest first.
    pub fn live(&self, now_ms: u64) -> impl Iterator<Item = &F> + Clone {
        let live = move |g: &&Generation<F>| self.is_live(g.number, now_ms);
        self.generations.iter().rev().filter(live).map(|g| &g.filter)
    }

    /// The false-positive rate that it has at `now_ms`, by the fill of what answers.
    #[must_use]
    pub fn fpr(&self, now_ms: u64) -> f64 {
        either(self.live(now_ms).map(Presence::fpr))
    }

    /// New items that came to a generation that held as many as it was made for already: when this
    /// rises, the rate of the window does.
    #[must_use]
    pub fn over(&self) -> u64 {
        self.over
    }

    /// Bytes of all its filters.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.generations.iter().map(|g| g.filter.bytes()).sum()
    }

    /// Most filters at once: twice as many as live when the clock goes forward only.
    fn places(&self) -> usize {
        2 * (self.window.generations as usize + 1)
    }

    /// Whether the window has not passed since the end of a generation.
    fn is_live(&self, number: u64, now_ms: u64) -> bool {
        let end = (u128::from(number) + 1) * u128::from(self.span_ms);
        u128::from(now_ms) < end + u128::from(self.window.window_ms)
    }
}
