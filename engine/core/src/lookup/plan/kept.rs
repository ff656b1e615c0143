//! What one lookup has hashed: range plans and hashes of values, per leaf and per shape of filter.
//!
//! Hot path: `reset` keeps the memory of the lookup before, so that a small question allocates
//! nothing; memory bounded by `PLANS_MAX` and `SHAPES_MAX`.

use bloomrf_kernels::{Layers, RangePlan, hash};

/// Plans and hashes, by (leaf, layers or seed, number of the range or value).
#[derive(Debug, Default)]
pub(super) struct Kept {
    probes_max: u32,
    /// First shape of each leaf, or `NONE`.
    leaves: Vec<u32>,
    shapes: Vec<Shape>,
    /// Of the shapes with layers: where in `plans` each range's plan is, or `NONE`.
    places: Vec<u32>,
    plans: Vec<RangePlan>,
    /// Plans of this lookup; the others are memory.
    used: usize,
    /// Of the shapes with a seed: a hash for each value.
    hashes: Vec<u64>,
    /// The plan of a range past `PLANS_MAX`.
    spare: RangePlan,
}

/// Filters that one set of plans or hashes answers for. The number of words does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    Layers(Layers),
    Seed(u64),
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    key: Key,
    /// First of its entries in `places` or `hashes`, and how many.
    first: usize,
    len: usize,
    /// The leaf's next shape, or `NONE`.
    next: u32,
}

impl Kept {
    /// Forgets everything, for a question of `leaves` leaves.
    pub(super) fn reset(&mut self, leaves: usize, probes_max: u32) {
        self.probes_max = probes_max;
        self.leaves.clear();
        self.leaves.resize(leaves, NONE);
        self.shapes.clear();
        self.places.clear();
        self.hashes.clear();
        self.plans.truncate(PLANS_SPARE);
        self.used = 0;
    }

    /// The plan of range number `index` of `ranges` under these layers; `None` past `SHAPES_MAX`.
    pub(super) fn plan(
        &mut self,
        leaf: usize,
        ranges: &[(u64, u64)],
        index: usize,
        layers: &Layers,
    ) -> Option<&RangePlan> {
        let &(lo, hi) = ranges.get(index)?;
        let shape = match self.find(leaf, |key| matches!(key, Key::Layers(l) if l == layers))? {
            Ok(shape) => shape,
            Err(last) => {
                let first = self.places.len();
                self.places.resize(first + ranges.len(), NONE);
                self.add(leaf, last, Key::Layers(*layers), first, ranges.len())
            }
        };
        let place = self.places.get_mut(shape.first + index)?;
        if *place == NONE {
            if self.used >= PLANS_MAX {
                self.spare.build(layers, lo, hi, self.probes_max);
                return Some(&self.spare);
            }
            if self.plans.len() == self.used {
                self.plans.push(RangePlan::default());
            }
            self.plans.get_mut(self.used)?.build(layers, lo, hi, self.probes_max);
            *place = self.used as u32;
            self.used += 1;
        }
        self.plans.get(*place as usize)
    }

    /// The hashes of a leaf's values under `seed`; `None` past `SHAPES_MAX`.
    pub(super) fn hashes(
        &mut self,
        leaf: usize,
        values: &[Box<[u8]>],
        seed: u64,
    ) -> Option<&[u64]> {
        let shape = match self.find(leaf, |key| *key == Key::Seed(seed))? {
            Ok(shape) => shape,
            Err(last) => {
                let first = self.hashes.len();
                self.hashes.extend(values.iter().map(|value| hash::bytes(value, seed)));
                self.add(leaf, last, Key::Seed(seed), first, values.len())
            }
        };
        self.hashes.get(shape.first..shape.first + shape.len)
    }

    /// The leaf's shape, or (as an error) its last one where it has none such yet; `None` past
    /// `SHAPES_MAX`.
    #[inline]
    fn find(&self, leaf: usize, is_it: impl Fn(&Key) -> bool) -> Option<Result<Shape, u32>> {
        let (mut at, mut last) = (*self.leaves.get(leaf)?, NONE);
        for _ in 0..SHAPES_MAX {
            let Some(shape) = self.shapes.get(at as usize) else { return Some(Err(last)) };
            if is_it(&shape.key) {
                return Some(Ok(*shape));
            }
            (last, at) = (at, shape.next);
        }
        None
    }

    /// Adds a shape behind the leaf's `last` one.
    fn add(&mut self, leaf: usize, last: u32, key: Key, first: usize, len: usize) -> Shape {
        let shape = Shape { key, first, len, next: NONE };
        let at = self.shapes.len() as u32;
        self.shapes.push(shape);
        if let Some(last) = self.shapes.get_mut(last as usize) {
            last.next = at;
        } else if let Some(head) = self.leaves.get_mut(leaf) {
            *head = at;
        }
        shape
    }
}

/// No shape, no plan.
const NONE: u32 = u32::MAX;
/// Distinct layer sets (or seeds) that one leaf is hashed for; filters of further ones have no
/// say. One data folder and schema epoch has one.
const SHAPES_MAX: usize = 8;
/// Range plans that one lookup keeps (some 300 bytes each); further ones are built anew for
/// every filter, within the time budget.
const PLANS_MAX: usize = 8_192;
/// Plans whose memory is kept for the next lookup.
const PLANS_SPARE: usize = 64;
