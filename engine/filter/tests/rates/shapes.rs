//! Hashes as they come, and as they should not come: items of a shape are numbered, and those that
//! are there lie next to those that are asked for.

use bloomrf_filter::HashRule;
use bloomrf_kernels::hash::Hash128;

use crate::seeded::mixed;

/// A sequence of distinct items.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) item: fn(u64) -> Hash128,
}

/// Numbers of items are below this.
pub(crate) const NUMBERS: u64 = 1 << 24;

const C: u64 = 0x0123_4567_89AB_CDEF;

macro_rules! shapes {
    ($($name:literal => |$i:ident| $lo:expr, $hi:expr;)*) => {
        &[$(Shape { name: $name, item: |$i| Hash128 { lo: $lo, hi: $hi } }),*]
    };
}

/// What callers have: hashes of keys.
pub(crate) const HASHED: &[Shape] = &[
    Shape { name: "sequential keys", item: |i| native(i) },
    Shape { name: "strided keys", item: |i| native(i << 12) },
    Shape { name: "keys of high bits", item: |i| native(i << 40) },
    Shape { name: "random keys", item: |i| native(mixed(i)) },
    Shape { name: "64 bits of hash", item: |i| HashRule::Parquet.hash(&i.to_le_bytes()) },
];

/// What no hash gives, and a rule should bear.
pub(crate) const PLAIN: &[Shape] = shapes! {
    "lo counts, hi 0" => |i| i, 0;
    "hi counts, lo 0" => |i| 0, i;
    "lo counts, hi is one" => |i| i, C;
    "hi counts, lo is one" => |i| C, i;
    "both count" => |i| i, i;
    "one counts up, one down" => |i| i, !i;
    "lo in steps" => |i| i << 20, 0;
    "hi in steps" => |i| 0, i << 20;
    "high bits of lo" => |i| i << 40, 0;
    "high bits of hi" => |i| 0, i << 40;
    "high bits of both" => |i| i << 40, i << 40;
    "halves of a number" => |i| mixed(i) >> 32, mixed(i) << 32;
    "lo random, hi 0" => |i| mixed(i), 0;
    "hi random, lo 0" => |i| 0, mixed(i);
    "random and the same" => |i| mixed(i), mixed(i);
};

/// All shapes.
pub(crate) fn all() -> impl Iterator<Item = &'static Shape> {
    HASHED.iter().chain(PLAIN)
}

fn native(key: u64) -> Hash128 {
    HashRule::Native { seed: 5 }.hash(&key.to_le_bytes())
}
