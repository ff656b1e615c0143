//! Questions through the engine's lookups: one leaf, many batches as candidates at once. Every
//! batch that is known to hold the key must be found.

use std::sync::Arc;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::lookup::{Evaluator, LookupConfig};
use bloomrf_engine::predicate::{CompareOp, FloatOrder, Literal, Predicate};
use bloomrf_engine::schema::{Column, Schema};
use bloomrf_engine::store::Snapshot;
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest, LookupStatus};
use bloomrf_kernels::Kernel;

use super::cells::{self, Cell};
use super::truth::ColumnTruth;
use crate::chance::Chance;
use crate::frozen::Frozen;
use crate::intake::CLUSTER;

/// A store's batches, asked on every kernel set in turn.
pub(super) struct Asker<'s> {
    schema: Arc<Schema>,
    snapshot: &'s Snapshot,
    evaluators: Vec<Evaluator>,
    /// First candidate.
    first: BatchId,
    request: LookupRequest,
    next: usize,
    /// (key, batch) pairs that had to be found by an equality.
    pub(super) equal: u64,
    /// The same by a range or a list.
    pub(super) wider: u64,
    /// Batches that do not hold the key, and how many of them were excluded.
    pub(super) others: (u64, u64),
    /// What was missed.
    pub(super) missed: Vec<Missed>,
}

/// A false negative, or an answer that is none.
pub(super) struct Missed {
    pub(super) batch: BatchId,
    pub(super) cell: Cell,
    pub(super) form: String,
}

impl<'s> Asker<'s> {
    /// Asks about the batches `first..first + count`.
    pub(super) fn new(
        schema: &Arc<Schema>,
        snapshot: &'s Snapshot,
        first: BatchId,
        count: u32,
    ) -> Self {
        let evaluator = |kernel| {
            Evaluator::new(LookupConfig {
                cluster: CLUSTER,
                schema: Arc::clone(schema),
                probes_max: 256,
                budget_us: 10_000,
                kernel,
            })
        };
        let request = LookupRequest {
            query_id: 12,
            cluster: CLUSTER,
            fingerprint: schema.fingerprint(),
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates: Candidates::Range { first, count },
            predicate: Predicate::Unknown,
        };
        Asker {
            schema: Arc::clone(schema),
            snapshot,
            evaluators: Kernel::all().into_iter().map(evaluator).collect(),
            first,
            request,
            next: 0,
            equal: 0,
            wider: 0,
            others: (0, 0),
            missed: Vec::new(),
        }
    }

    /// Asks for one in `every` cells of a column by equality, for some of them by a range around
    /// them, and for lists of neighbours.
    pub(super) fn column(
        &mut self,
        ordinal: u16,
        truth: &ColumnTruth,
        every: usize,
        chance: &mut Chance,
    ) {
        let schema = Arc::clone(&self.schema);
        let column = &schema.columns()[usize::from(ordinal)];
        let mut list: Vec<Literal> = Vec::new();
        let mut holders: Vec<(Cell, BatchId)> = Vec::new();
        for held in truth.cells().step_by(every) {
            let cell = &held[0].0;
            let Some(literal) = cells::literal(column, cell) else { continue };
            let equal =
                Predicate::Compare { column: ordinal, op: CompareOp::Eq, literal: literal.clone() };
            self.equal += held.len() as u64;
            self.ask(equal, held, "=", true);
            match chance.below(ONE_IN) {
                0 => self.range(ordinal, column, held, chance),
                1 => {
                    list.push(literal);
                    holders.extend_from_slice(held);
                }
                _ => {}
            }
            if list.len() == LIST {
                self.wider += distinct(&mut holders);
                let predicate = Predicate::In { column: ordinal, list: std::mem::take(&mut list) };
                self.ask(predicate, &holders, "IN", false);
                holders.clear();
            }
        }
    }

    fn range(
        &mut self,
        ordinal: u16,
        column: &Column,
        held: &[(Cell, BatchId)],
        chance: &mut Chance,
    ) {
        let width = 1u64 << chance.below(40);
        let (below, above) = (chance.below(width), chance.below(width));
        let range = cells::around(column, &held[0].0, below, above);
        let Some((low, high)) = range else { return };
        self.wider += held.len() as u64;
        self.ask(Predicate::Between { column: ordinal, low, high }, held, "BETWEEN", false);
    }

    fn ask(&mut self, predicate: Predicate, held: &[(Cell, BatchId)], form: &str, is_point: bool) {
        self.request.predicate = predicate;
        self.next = (self.next + 1) % self.evaluators.len();
        let evaluator = &mut self.evaluators[self.next];
        let reply = evaluator.answer(&self.request, self.snapshot, &Frozen);
        let miss = |(cell, batch): &(Cell, BatchId), why: &str| Missed {
            batch: *batch,
            cell: *cell,
            form: format!("{form}{why} on kernel set number {}", self.next),
        };
        // An answer that looked at nothing proves nothing.
        if reply.status != LookupStatus::Ok || reply.no_filter != 0 {
            let why = format!(" (status {:?}, {} without)", reply.status, reply.no_filter);
            self.missed.push(miss(&held[0], &why));
            return;
        }
        for pair in held {
            if reply.is_excluded((pair.1 - self.first) as usize) {
                self.missed.push(miss(pair, ""));
            }
        }
        if is_point {
            self.others.0 += u64::from(reply.candidates) - held.len() as u64;
            self.others.1 += u64::from(reply.excluded_zone_map + reply.excluded_filter);
        }
    }
}

/// Leaves one entry of every batch; how many there are.
fn distinct(holders: &mut Vec<(Cell, BatchId)>) -> u64 {
    holders.sort_unstable_by_key(|holder| holder.1);
    holders.dedup_by_key(|holder| holder.1);
    holders.len() as u64
}

/// One in so many cells is also asked by a range, and one in so many in a list.
const ONE_IN: u64 = 4;
/// Literals of a list.
const LIST: usize = 6;
