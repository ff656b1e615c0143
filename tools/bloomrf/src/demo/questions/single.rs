//! Questions about one column: points and ranges, in the data and beside it.

use std::net::{Ipv4Addr, Ipv6Addr};

use bloomrf_engine::schema::ColumnType;
use bloomrf_oracle::{FieldType, Unit, Value};

use super::{Class, Draft, Generator, Shape};

impl Generator<'_> {
    /// A value that is there.
    pub(super) fn point(&mut self, column: usize) -> Option<Draft> {
        let value = self.value(column)?;
        let text = format!("{} = {}", self.name(column), literal(&value)?);
        Some((text, Some(Class { column: column as u16, shape: Shape::Point })))
    }

    /// A range around a value that is there.
    pub(super) fn range(&mut self, column: usize) -> Option<Draft> {
        let value = self.value(column)?;
        let text = self.range_around(column, &value)?;
        Some((text, Some(Class { column: column as u16, shape: Shape::Range })))
    }

    /// A value that may not be there.
    pub(super) fn point_beside(&mut self, column: usize) -> Option<Draft> {
        let value = self.value_beside(column)?;
        Some((format!("{} = {}", self.name(column), literal(&value)?), None))
    }

    /// A range that may be empty.
    pub(super) fn range_beside(&mut self, column: usize) -> Option<Draft> {
        let value = self.value_beside(column)?;
        Some((self.range_around(column, &value)?, None))
    }

    /// A value near or like those in the data.
    pub(super) fn value_beside(&mut self, column: usize) -> Option<Value> {
        let value = self.value(column)?;
        let kind = self.schema.columns()[column].kind();
        Some(match value {
            Value::Int(n) => Value::Int(self.number_beside(kind, n)),
            Value::Time(t, unit) => {
                let step = self.chance.between(1, 3_000_000_000) as i64;
                Value::Time(if self.chance.percent(50) { t + step } else { t - step }, unit)
            }
            Value::Octets(kind, mut octets) => {
                let random = self.chance.next_u64().to_le_bytes();
                let changed = self.chance.between(1, 3) as usize;
                let length = octets.len();
                for (octet, random) in octets.iter_mut().skip(length - changed).zip(random) {
                    *octet = random;
                }
                Value::Octets(kind, octets)
            }
            other => other,
        })
    }

    fn number_beside(&mut self, kind: ColumnType, n: i128) -> i128 {
        let highest: u64 = match kind.width() {
            1 => 0xff,
            2 => 0xffff,
            // Lengths: random ones of the whole domain would all lie far outside.
            _ => 0x1_ffff,
        };
        if self.chance.percent(40) {
            (n + self.chance.between(1, 3) as i128).min(i128::from(highest))
        } else {
            i128::from(self.chance.between(0, highest))
        }
    }

    /// 16 wide, a /24, or a time window.
    fn range_around(&mut self, column: usize, value: &Value) -> Option<String> {
        let name = self.name(column);
        match value {
            Value::Int(n) => {
                let low = n.div_euclid(16) * 16;
                Some(format!("{name} BETWEEN {low} AND {}", low + 15))
            }
            Value::Octets(FieldType::Ipv4, _) => {
                Some(format!("in_net({name}, '{}')", network(value, 24)?))
            }
            Value::Time(t, Unit::Ns) => {
                let &width = self.chance.pick(&WINDOWS_NS)?;
                let low = t.div_euclid(width) * width;
                let (low, high) = (iso(low), iso(low + width - 1));
                Some(format!("{name} BETWEEN '{low}' AND '{high}'"))
            }
            _ => None,
        }
    }
}

/// A value as WHERE text spells it.
pub(super) fn literal(value: &Value) -> Option<String> {
    match value {
        Value::Int(n) => Some(n.to_string()),
        Value::Bool(b) => Some(if *b { "TRUE" } else { "FALSE" }.to_owned()),
        Value::Time(t, Unit::Ns) => Some(format!("'{}'", iso(*t))),
        Value::Octets(FieldType::Mac, octets) => {
            let parts: Vec<String> = octets.iter().map(|o| format!("{o:02x}")).collect();
            Some(format!("'{}'", parts.join(":")))
        }
        Value::Octets(..) => Some(format!("'{}'", address(value)?)),
        _ => None,
    }
}

/// An IP address as text.
pub(super) fn address(value: &Value) -> Option<String> {
    match value {
        Value::Octets(FieldType::Ipv4, o) => {
            Some(Ipv4Addr::from(<[u8; 4]>::try_from(o.as_slice()).ok()?).to_string())
        }
        Value::Octets(FieldType::Ipv6, o) => {
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(o.as_slice()).ok()?).to_string())
        }
        _ => None,
    }
}

/// The network of `bits` bits around an address, without host bits.
pub(super) fn network(value: &Value, bits: u32) -> Option<String> {
    let Value::Octets(FieldType::Ipv4, octets) = value else { return None };
    let address = u32::from_be_bytes(octets.as_slice().try_into().ok()?);
    let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
    Some(format!("{}/{bits}", Ipv4Addr::from(address & mask)))
}

/// ISO 8601, UTC, as WHERE text spells a time.
pub(super) fn iso(ns: i64) -> String {
    let (seconds, fraction) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days to a date of the Gregorian calendar, counted from 1 March of the year 0.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if fraction != 0 {
        text.push('.');
        text.push_str(format!("{fraction:09}").trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// A second, ten, a minute.
const WINDOWS_NS: [i64; 3] = [1_000_000_000, 10_000_000_000, 60_000_000_000];
