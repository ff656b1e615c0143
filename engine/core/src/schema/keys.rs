//! The key map: typed values to unsigned keys that keep their order. The one map that cells
//! (ingest) and literals (lookup) both go through.
//!
//! Hot path: no allocation; every function is total and a handful of instructions.
//!
//! | values | key |
//! | --- | --- |
//! | unsigned, ipv4, mac | the number itself |
//! | signed, timestamp | sign bit flipped within the width |
//! | float | bits, sign flipped where positive, all flipped where negative; -0.0 as +0.0 |
//! | bool | 0 or 1 |
//!
//! NaN has no key. A literal that the type cannot hold falls into a [`Fit::Gap`] between the
//! keys next to it, so that order comparisons with it stay exact.

use super::{ColumnType, TimeUnit};

/// Version of the key map of this module; part of every schema fingerprint.
pub const KEY_MAP_VERSION: u32 = 1;

/// Where a literal falls among the keys of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The column can hold exactly this value.
    Exact(u64),
    /// It cannot: the literal lies strictly between two neighbouring values, or past an end.
    Gap {
        /// Key of the greatest value below the literal; `None`: there is none.
        below: Option<u64>,
        /// Key of the least value above the literal; `None`: there is none.
        above: Option<u64>,
    },
}

/// Key of a signed number of `bits` (8..=64) bits: the sign bit flipped within the width.
#[inline]
#[must_use]
pub fn signed_key(value: i64, bits: u32) -> u64 {
    ((value as u64) ^ (1 << (bits - 1))) & (u64::MAX >> (64 - bits))
}

/// Key of a binary32, 32 bits wide; `None` for NaN.
#[inline]
#[must_use]
pub fn f32_key(value: f32) -> Option<u64> {
    if value.is_nan() {
        return None;
    }
    // Adding +0.0 turns -0.0 into +0.0 and changes nothing else.
    let bits = (value + 0.0).to_bits();
    let mask = if bits >> 31 == 1 { u32::MAX } else { 1 << 31 };
    Some(u64::from(bits ^ mask))
}

/// Key of a binary64; `None` for NaN.
#[inline]
#[must_use]
pub fn f64_key(value: f64) -> Option<u64> {
    if value.is_nan() {
        return None;
    }
    let bits = (value + 0.0).to_bits();
    Some(bits ^ if bits >> 63 == 1 { u64::MAX } else { 1 << 63 })
}

impl ColumnType {
    /// Least and greatest integer that a cell can hold: integers, timestamps (ticks), and as
    /// big-endian numbers ipv4 and mac. `None` for every other type, bool included.
    #[must_use]
    pub fn integer_bounds(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::U8 => (0, u8::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::U32 | Self::Ipv4 => (0, u32::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::Mac => (0, (1 << 48) - 1),
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::I64 | Self::Timestamp(_) => (i64::MIN.into(), i64::MAX.into()),
            _ => return None,
        })
    }

    /// Keys of the least and the greatest value (for floats: the infinities). `None` for types
    /// with wide keys.
    #[must_use]
    pub fn key_bounds(self) -> Option<(u64, u64)> {
        match self {
            Self::Bool => Some((0, 1)),
            Self::F32 => Some((f32_key(f32::NEG_INFINITY)?, f32_key(f32::INFINITY)?)),
            Self::F64 => Some((f64_key(f64::NEG_INFINITY)?, f64_key(f64::INFINITY)?)),
            _ => {
                let (low, high) = self.integer_bounds()?;
                Some((self.integer_key(low)?, self.integer_key(high)?))
            }
        }
    }

    /// Key of an integer; `None` when the type is not one of [`ColumnType::integer_bounds`] or
    /// cannot hold it.
    #[must_use]
    pub fn integer_key(self, value: i128) -> Option<u64> {
        let (low, high) = self.integer_bounds()?;
        if value < low || value > high {
            return None;
        }
        Some(if low < 0 { signed_key(value as i64, self.width() as u32 * 8) } else { value as u64 })
    }

    /// Where an integer falls. On float columns the number itself is compared, not its nearest
    /// float. `None`: the type has no numbers (bool, wide keys).
    #[must_use]
    pub fn fit_integer(self, value: i128) -> Option<Fit> {
        if self.is_float() {
            return self.fit_integer_among_floats(value);
        }
        let (low, high) = self.integer_bounds()?;
        Some(match self.integer_key(value) {
            Some(key) => Fit::Exact(key),
            None if value < low => Fit::Gap { below: None, above: self.integer_key(low) },
            None => Fit::Gap { below: self.integer_key(high), above: None },
        })
    }

    /// Where a binary64 falls; infinities lie past both ends of an integer type. `None`: NaN, or
    /// the type has no numbers (bool, wide keys).
    #[must_use]
    pub fn fit_float(self, value: f64) -> Option<Fit> {
        if value.is_nan() {
            return None;
        }
        match self {
            Self::F64 => f64_key(value).map(Fit::Exact),
            Self::F32 => {
                let near = value as f32;
                Some(match f64::from(near).total_cmp(&(value + 0.0)) {
                    _ if f64::from(near) == value => Fit::Exact(f32_key(near)?),
                    std::cmp::Ordering::Less => f32_gap(near, near.next_up()),
                    _ => f32_gap(near.next_down(), near),
                })
            }
            _ => {
                let (low, high) = self.integer_bounds()?;
                let floor = value.floor();
                // Both bounds are far inside i128, where the cast saturates instead of wrapping.
                let below = floor as i128;
                if floor == value && value.is_finite() {
                    return self.fit_integer(below);
                }
                let key = |v: i128| self.integer_key(v);
                Some(if value < low as f64 && below < low {
                    Fit::Gap { below: None, above: key(low) }
                } else if below >= high {
                    Fit::Gap { below: key(high), above: None }
                } else {
                    Fit::Gap { below: key(below), above: key(below + 1) }
                })
            }
        }
    }

    /// Where a time falls in a timestamp column, exactly and whatever the two units are. `None`:
    /// not a timestamp column.
    #[must_use]
    pub fn fit_time(self, ticks: i64, unit: TimeUnit) -> Option<Fit> {
        let Self::Timestamp(own) = self else { return None };
        let ns = i128::from(ticks) * i128::from(unit.tick_ns());
        let per_tick = i128::from(own.tick_ns());
        let below = ns.div_euclid(per_tick);
        if ns.rem_euclid(per_tick) == 0 {
            return self.fit_integer(below);
        }
        // A fraction: between `below` and the next tick. Only a coarser column has one, and its
        // domain is then the wider one, so both ends are inside.
        Some(Fit::Gap { below: self.integer_key(below), above: self.integer_key(below + 1) })
    }

    fn fit_integer_among_floats(self, value: i128) -> Option<Fit> {
        let near = value as f64;
        // The nearest float of an i128 is below 2^128, so the way back saturates at worst.
        let back = near as i128;
        let exact = back == value && near < i128::MAX as f64;
        if exact {
            return self.fit_float(near);
        }
        let (below, above) =
            if back < value { (near, near.next_up()) } else { (near.next_down(), near) };
        let below = match self.fit_float(below)? {
            Fit::Exact(key) => Some(key),
            Fit::Gap { below, .. } => below,
        };
        let above = match self.fit_float(above)? {
            Fit::Exact(key) => Some(key),
            Fit::Gap { above, .. } => above,
        };
        Some(Fit::Gap { below, above })
    }
}

impl TimeUnit {
    /// Nanoseconds of one tick.
    #[must_use]
    pub fn tick_ns(self) -> i64 {
        match self {
            Self::S => 1_000_000_000,
            Self::Ms => 1_000_000,
            Self::Us => 1_000,
            Self::Ns => 1,
        }
    }
}

fn f32_gap(below: f32, above: f32) -> Fit {
    Fit::Gap { below: f32_key(below), above: f32_key(above) }
}
