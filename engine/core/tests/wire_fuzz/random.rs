//! Seeded chance, and random valid values of every message.

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::TimeUnit;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_engine::wire::lookup::{
    Candidates, IdRange, LookupReply, LookupRequest, LookupStatus, reply_bytes,
};

use super::seeded::Splitmix;

/// Draws values of the wire's types.
pub(crate) struct Random(Splitmix);

impl Random {
    /// The draws of this run; the seed is printed.
    pub(crate) fn seeded() -> Self {
        Random(Splitmix::from_env(1))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number of `0..n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    pub(crate) fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        self.0.bytes(n)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next() as u8)
    }

    /// A number of any magnitude, the ends of the domain included.
    pub(crate) fn id(&mut self) -> u64 {
        match self.below(6) {
            0 => 0,
            1 => u64::MAX,
            _ => self.next() >> self.below(64),
        }
    }

    pub(crate) fn algorithm(&mut self) -> HashAlgorithm {
        self.pick(&HashAlgorithm::ALL)
    }

    pub(crate) fn batch_hash(&mut self) -> BatchHash {
        let algorithm = self.algorithm();
        let mut digest = self.array();
        digest[algorithm.digest_bytes()..].fill(0);
        BatchHash { algorithm, digest }
    }

    pub(crate) fn literal(&mut self) -> Literal {
        let unit = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns];
        match self.below(10) {
            0 => Literal::Unsigned(self.id()),
            1 => Literal::Signed(self.id() as i64),
            2 => Literal::Float(f64::from_bits(self.next())),
            3 => Literal::Bool(self.chance(2)),
            4 => Literal::Timestamp(self.next() as i64, self.pick(&unit)),
            5 => Literal::Ipv4(self.array()),
            6 => Literal::Ipv6(self.array()),
            7 => Literal::Mac(self.array()),
            8 => Literal::Uuid(self.array()),
            _ => {
                let n = self.below(20);
                Literal::Bytes(self.bytes(n))
            }
        }
    }

    /// A tree of at most `depth` levels, with three children a node at most.
    pub(crate) fn predicate(&mut self, depth: usize) -> Predicate {
        use CompareOp::*;
        let column = self.next() as u16;
        match self.below(if depth > 1 { 9 } else { 6 }) {
            0 => {
                let op = self.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
                Predicate::Compare { column, op, literal: self.literal() }
            }
            1 => Predicate::Between { column, low: self.literal(), high: self.literal() },
            2 => {
                let n = self.below(5);
                Predicate::In { column, list: (0..n).map(|_| self.literal()).collect() }
            }
            3 => Predicate::IsNull { column },
            4 => Predicate::IsNotNull { column },
            5 => Predicate::Unknown,
            6 => Predicate::Not(Box::new(self.predicate(depth - 1))),
            which => {
                let n = self.below(4);
                let children = (0..n).map(|_| self.predicate(depth - 1)).collect();
                if which == 7 { Predicate::And(children) } else { Predicate::Or(children) }
            }
        }
    }

    pub(crate) fn candidates(&mut self) -> Candidates {
        let n = self.below(40);
        if self.chance(2) {
            return Candidates::List((0..n).map(|_| self.id()).collect());
        }
        let ranges: Vec<_> = (0..n / 8).map(|_| self.range()).collect();
        match ranges[..] {
            [IdRange { first, count }] => Candidates::Range { first, count },
            _ => Candidates::Ranges(ranges),
        }
    }

    fn range(&mut self) -> IdRange {
        let count = self.below(300) as u32;
        IdRange { first: self.id().min(u64::MAX - u64::from(count)), count }
    }

    pub(crate) fn request(&mut self) -> LookupRequest {
        LookupRequest {
            query_id: self.next(),
            cluster: ClusterId(u128::from(self.next()) << 64 | u128::from(self.next())),
            fingerprint: Fingerprint(self.next()),
            budget_us: self.next() as u32,
            float_order: self.pick(&[FloatOrder::Unstated, FloatOrder::Ieee, FloatOrder::Total]),
            candidates: self.candidates(),
            predicate: self.predicate(5),
        }
    }

    pub(crate) fn reply(&mut self) -> LookupReply {
        use LookupStatus::*;
        let n = self.below(400);
        let status = self.pick(&[Ok, TimedOut, OtherSchema, TooShort, NotReady]);
        let bitmap = if status == TooShort { 0 } else { reply_bytes(n) - reply_bytes(0) };
        LookupReply {
            query_id: self.next(),
            status,
            candidates: n as u32,
            evaluated: self.next() as u32,
            no_filter: self.next() as u32,
            excluded_zone_map: self.next() as u32,
            excluded_filter: self.next() as u32,
            micros: self.next() as u32,
            excluded: self.bytes(bitmap),
        }
    }
}
