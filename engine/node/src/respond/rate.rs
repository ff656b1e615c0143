//! How often a source network may ask: token buckets in a sketch of fixed size.
//!
//! Hot path: no allocation, no lock; one hash and `ROWS` cells per datagram, 128 KiB in all.
//!
//! A network is the first 24 bits of an IPv4 address, or the first 56 of an IPv6 one: what one
//! asker can change of its address at will lies behind them. Each network has one cell in each of
//! `ROWS` rows, shared with whoever else falls on it; it is over its limit when *all* of them are.
//! So while `a` networks are at their limits, another one is refused with them with a probability
//! of at most `(a / CELLS) ^ ROWS`: 4e-7 for 100, 4e-3 for 1,000. And a flood of forged sources
//! from everywhere spends a cell's share only where it is `CELLS` times the limit. Which cells
//! a network has depends on a secret drawn at start: nobody can aim at a neighbour's.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

use crate::networks::bits;

/// The sketch of one responder thread.
#[derive(Debug)]
pub(super) struct RateSketch {
    /// Per row and cell: when the bucket will be full again, nanoseconds.
    full_ns: Vec<u64>,
    /// Between two questions at the limit, nanoseconds.
    interval_ns: u64,
    secret: RandomState,
}

impl RateSketch {
    /// A sketch that admits `per_second` questions of each network, and a quarter of a second's
    /// worth at once. 0: no limit.
    pub(super) fn new(per_second: u32) -> Option<Self> {
        let interval_ns = 1_000_000_000_u64.checked_div(u64::from(per_second))?;
        let full_ns = vec![0; ROWS * CELLS];
        Some(RateSketch { full_ns, interval_ns, secret: RandomState::new() })
    }

    /// Whether a question of `source` is within its network's limit; if so, it is charged.
    pub(super) fn admit(&mut self, source: IpAddr, now_ns: u64) -> bool {
        let mut hash = self.secret.hash_one(network(source));
        let interval_ns = self.interval_ns;
        let mut places = [0; ROWS];
        for (row, place) in places.iter_mut().enumerate() {
            *place = row * CELLS + (hash as usize % CELLS);
            hash >>= CELL_BITS;
        }
        let room = |full_ns: &u64| full_ns.saturating_sub(now_ns) <= BURST_NS;
        let admitted = places.iter().any(|&at| self.full_ns.get(at).is_some_and(room));
        if admitted {
            for at in places {
                // A cell that others have used up is not charged beyond its limit.
                if let Some(full_ns) = self.full_ns.get_mut(at).filter(|full_ns| room(full_ns)) {
                    *full_ns = (*full_ns).max(now_ns) + interval_ns;
                }
            }
        }
        admitted
    }
}

/// The part of an address that an asker cannot choose.
fn network(source: IpAddr) -> u128 {
    match source.to_canonical() {
        ip @ IpAddr::V4(_) => bits(ip) >> 8,
        ip @ IpAddr::V6(_) => bits(ip) >> (128 - 56),
    }
}

const ROWS: usize = 4;
const CELL_BITS: u32 = 12;
const CELLS: usize = 1 << CELL_BITS;
/// How far a network may be ahead of its rate.
const BURST_NS: u64 = 250_000_000;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn v4(bits: u32) -> IpAddr {
        Ipv4Addr::from_bits(bits).into()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_gets_its_rate_and_no_more_and_addresses_of_it_share_it() {
        let mut sketch = RateSketch::new(1_000).unwrap();
        let start = 5_000_000_000;
        let asked = |sketch: &mut RateSketch, n: u64, over_ns: u64, from: u64| {
            let at = |i: u64| from + i * over_ns / n;
            (0..n).filter(|&i| sketch.admit(v4(0x0a01_0200 + i as u32 % 256), at(i))).count()
        };
        // A quarter of a second's worth at once, then the rate: ten times as many are asked.
        assert_eq!(asked(&mut sketch, 1_000, 1, start), 251);
        let admitted = asked(&mut sketch, 100_000, 10_000_000_000, start);
        assert!((9_999..=10_001).contains(&admitted), "{admitted}");
        // Other networks have their own.
        assert!(sketch.admit(ip("10.1.3.0"), start + 10_000_000_000));
        assert!(sketch.admit(ip("2001:db8::1"), start + 10_000_000_000));
        // A rest fills the bucket again, and no further.
        assert_eq!(asked(&mut sketch, 1_000, 1, start + 60_000_000_000), 251);
    }

    #[test]
    fn an_ipv6_network_is_its_first_56_bits_and_mapped_addresses_are_ipv4() {
        let mut sketch = RateSketch::new(1).unwrap();
        assert!(sketch.admit(ip("2001:db8:1:100::1"), 1));
        assert!(!sketch.admit(ip("2001:db8:1:1ff:ffff::2"), 2));
        assert!(sketch.admit(ip("2001:db8:1:200::1"), 3));
        assert!(sketch.admit(ip("192.0.2.7"), 4));
        assert!(!sketch.admit(ip("::ffff:192.0.2.200"), 5));
        assert!(RateSketch::new(0).is_none());
        assert!(RateSketch::new(u32::MAX).unwrap().admit(ip("::1"), u64::MAX / 2));
    }

    #[test]
    fn networks_at_their_limits_take_others_along_no_more_often_than_stated() {
        for (flooders, bound) in [(100_u32, 4e-7_f64), (1_000, 4e-3)] {
            let mut sketch = RateSketch::new(1).unwrap();
            let now = 1_000_000_000;
            for i in 0..flooders {
                // The first takes the bucket; a flooder goes on asking.
                (0..4).for_each(|_| _ = sketch.admit(v4((20 << 24) + (i << 8)), now));
            }
            let honest = 20_000;
            let mut refused = 0;
            for i in 0..honest {
                // Each on the same state: an honest one does not wear out the next one's cells.
                let before = sketch.full_ns.clone();
                refused += u32::from(!sketch.admit(v4((60 << 24) + (i << 8)), now));
                sketch.full_ns = before;
            }
            let expected = f64::from(honest) * bound;
            let most = expected + 5.0 * expected.sqrt() + 3.0;
            println!("{flooders} flooders: {refused} of {honest} refused, at most {most:.0}");
            assert!(f64::from(refused) <= most, "{refused} of {honest} refused");
        }
    }

    #[test]
    fn a_flood_from_everywhere_leaves_an_honest_network_its_share() {
        let mut sketch = RateSketch::new(1_000).unwrap();
        // Two million a second from forged sources: 500 a cell and second.
        let (mut now, mut asked, mut refused) = (0, 0, 0);
        for i in 0..2_000_000_u32 {
            now += 500;
            let forged = i.wrapping_mul(0x9e37_79b9);
            sketch.admit(v4(forged), now);
            if i % 4_000 == 0 {
                asked += 1;
                refused += u32::from(!sketch.admit(ip("192.0.2.1"), now));
            }
        }
        assert_eq!((asked, refused), (500, 0));
    }
}
