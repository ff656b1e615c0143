//! Questions over several columns, or with more than one comparison.

use std::collections::HashSet;

use bloomrf_oracle::Value;

use super::single::{address, iso, literal, network};
use super::{Draft, Generator};

impl Generator<'_> {
    /// One of the kinds, by turn. `None` where the data has nothing to fill it with.
    pub(super) fn composed(&mut self, turn: usize) -> Option<Draft> {
        let text = match turn % 18 {
            0 => self.and_of_one_row("src_ip4", "dst_port"),
            1 => self.and_of_two_rows("src_ip4", "dst_ip4"),
            2 => self.host(),
            3 => self.in_list("dst_port"),
            4 => self.cidr(16),
            5 => self.not_leaf(),
            6 => self.time_and_host(),
            7 => self.either("src_port", "dst_port"),
            8 => self.port(),
            9 => self.is_null(),
            10 => self.cidr(8),
            11 => self.net(),
            12 => self.and_of_two_rows("src_mac", "dst_port"),
            13 => self.in_list("src_ip4"),
            14 => self.syn_to_port(),
            15 => self.long_packets(),
            16 => self.not_of_or(),
            _ => self.and_of_one_row("src_ip6", "dst_port"),
        };
        Some((text?, None))
    }

    fn ordinal(&self, name: &str) -> Option<usize> {
        self.schema.ordinal(name).map(usize::from)
    }

    /// `name = value` with a value from the data.
    fn equals(&mut self, name: &str) -> Option<String> {
        let column = self.ordinal(name)?;
        let value = self.value(column)?;
        Some(format!("{name} = {}", literal(&value)?))
    }

    /// A row that holds both columns: true at least once.
    fn and_of_one_row(&mut self, a: &str, b: &str) -> Option<String> {
        let (column_a, column_b) = (self.ordinal(a)?, self.ordinal(b)?);
        for _ in 0..32 {
            let row = self.row()?;
            let (Some(a_text), Some(b_text)) = (literal(&row[column_a]), literal(&row[column_b]))
            else {
                continue;
            };
            return Some(format!("{a} = {a_text} AND {b} = {b_text}"));
        }
        None
    }

    /// Both values are there, together perhaps never.
    fn and_of_two_rows(&mut self, a: &str, b: &str) -> Option<String> {
        Some(format!("{} AND {}", self.equals(a)?, self.equals(b)?))
    }

    fn either(&mut self, a: &str, b: &str) -> Option<String> {
        Some(format!("{} OR {}", self.equals(a)?, self.equals(b)?))
    }

    fn not_leaf(&mut self) -> Option<String> {
        Some(format!("{} AND NOT {}", self.equals("dst_ip4")?, self.equals("dst_port")?))
    }

    fn not_of_or(&mut self) -> Option<String> {
        let (first, second) = (self.equals("dst_port")?, self.equals("src_port")?);
        Some(format!("NOT ({first} OR {second}) AND {}", self.equals("src_ip4")?))
    }

    /// Three values that are there, two that may not be; each named once.
    fn in_list(&mut self, name: &str) -> Option<String> {
        let column = self.ordinal(name)?;
        let mut values = Vec::new();
        for _ in 0..3 {
            values.push(literal(&self.value(column)?)?);
        }
        for _ in 0..2 {
            values.push(literal(&self.value_beside(column)?)?);
        }
        let mut named = HashSet::new();
        values.retain(|value| named.insert(value.clone()));
        Some(format!("{name} IN ({})", values.join(", ")))
    }

    fn cidr(&mut self, bits: u32) -> Option<String> {
        let name = if self.chance.percent(50) { "src_ip4" } else { "dst_ip4" };
        let column = self.ordinal(name)?;
        let value = if self.chance.percent(60) { self.value(column)? } else { self.any_address() };
        Some(format!("in_net({name}, '{}')", network(&value, bits)?))
    }

    fn any_address(&mut self) -> Value {
        let octets = self.chance.next_u64().to_le_bytes()[..4].to_vec();
        Value::Octets(bloomrf_oracle::FieldType::Ipv4, octets)
    }

    /// An address that is there, as source or destination.
    fn host(&mut self) -> Option<String> {
        let names = ["src_ip4", "dst_ip4", "src_ip6", "dst_ip6"];
        let name = *self.chance.pick(&names)?;
        let column = self.ordinal(name)?;
        let value = self.value(column)?;
        Some(format!("host = '{}'", address(&value)?))
    }

    fn net(&mut self) -> Option<String> {
        let column = self.ordinal("dst_ip4")?;
        let value = if self.chance.percent(70) { self.value(column)? } else { self.any_address() };
        Some(format!("net = '{}'", network(&value, 24)?))
    }

    fn port(&mut self) -> Option<String> {
        let column = self.ordinal("src_port")?;
        let value = self.value(column)?;
        Some(format!("port = {}", literal(&value)?))
    }

    fn time_and_host(&mut self) -> Option<String> {
        let column = self.ordinal("ts")?;
        let Value::Time(t, _) = self.value(column)? else { return None };
        let low = t.div_euclid(TEN_SECONDS_NS) * TEN_SECONDS_NS;
        let (low, high) = (iso(low), iso(low + TEN_SECONDS_NS));
        Some(format!("ts >= '{low}' AND ts < '{high}' AND {}", self.equals("dst_ip4")?))
    }

    fn is_null(&mut self) -> Option<String> {
        let names = ["vlan", "src_ip4", "src_ip6", "proto", "src_port", "tcp_flags"];
        let name = *self.chance.pick(&names)?;
        Some(match self.chance.below(3) {
            0 => format!("{name} IS NULL"),
            1 => format!("{name} IS NOT NULL"),
            _ => format!("{name} IS NULL AND {}", self.equals("dst_mac")?),
        })
    }

    fn syn_to_port(&mut self) -> Option<String> {
        Some(format!("tcp_flags = 2 AND {}", self.equals("dst_port")?))
    }

    fn long_packets(&mut self) -> Option<String> {
        let length = self.chance.between(60, 1_500);
        Some(format!("length > {length} AND {}", self.equals("src_port")?))
    }
}

const TEN_SECONDS_NS: i64 = 10_000_000_000;
