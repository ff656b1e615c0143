//! Asking the node, as a controller does, and judging the answers by reading every batch.

use std::collections::HashSet;
use std::time::Duration;

use bloomrf_engine::controller::{Mode, Unusable};
use bloomrf_engine::identity::BatchId;
use bloomrf_engine::predicate::FloatOrder;
use bloomrf_engine::wire::lookup::{Candidates, LookupRequest};
use bloomrf_refcluster::scc::{Consult, Via};
use bloomrf_refcluster::storage::file::FileError;
use bloomrf_refcluster::truth::{self, Judge};

use super::cluster::Cluster;
use super::questions::Question;

/// Who asks about what.
pub(crate) struct Asker<'c> {
    pub(crate) cluster: &'c Cluster,
    pub(crate) ids: &'c [BatchId],
    pub(crate) mode: Mode,
    pub(crate) timeout: Duration,
}

/// One question, its answer, and the truth.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) candidates: u64,
    pub(crate) excluded: HashSet<BatchId>,
    pub(crate) excluded_zone_map: u64,
    pub(crate) excluded_filter: u64,
    pub(crate) no_filter: u64,
    /// From question to answer, as the asker saw it.
    pub(crate) micros: u64,
    /// Inside the node.
    pub(crate) node_micros: u64,
    /// Why there is no usable answer.
    pub(crate) doubt: Option<Unusable>,
    pub(crate) timed_out: bool,
    /// Batches with a row that matches.
    pub(crate) matching: u64,
    pub(crate) false_positives: u64,
    pub(crate) false_negatives: u64,
}

impl Asked {
    /// Two neighbours of `ids`, of which one is excluded and one is not.
    pub(crate) fn boundary(&self, ids: &[BatchId]) -> Option<(BatchId, BatchId)> {
        let differ =
            |pair: &&[BatchId]| pair.iter().filter(|id| self.excluded.contains(id)).count() == 1;
        ids.windows(2).find(differ).and_then(|pair| Some((*pair.first()?, *pair.last()?)))
    }
}

impl Asker<'_> {
    /// Asks over the real lookup: UDP, and now and then TCP.
    pub(crate) fn ask(&self, number: u64, question: Question) -> Asked {
        let consult = Consult {
            mode: self.mode,
            timeout: self.timeout,
            node: self.cluster.ports().lookup,
            via: if number % TCP_EVERY == TCP_EVERY - 1 { Via::Tcp } else { Via::Auto },
        };
        let plan = consult.plan(&LookupRequest {
            query_id: number + 1,
            cluster: Cluster::ID,
            fingerprint: self.cluster.schema().fingerprint(),
            budget_us: 0,
            float_order: FloatOrder::Unstated,
            candidates: Candidates::of(self.ids),
            predicate: question.predicate.clone(),
        });
        let answer = plan.answer.as_ref();
        Asked {
            question,
            candidates: self.ids.len() as u64,
            excluded: answer.into_iter().flat_map(|a| a.excluded.iter().copied()).collect(),
            excluded_zone_map: answer.map_or(0, |a| u64::from(a.excluded_zone_map)),
            excluded_filter: answer.map_or(0, |a| u64::from(a.excluded_filter)),
            no_filter: answer.map_or(self.ids.len() as u64, |a| u64::from(a.no_filter)),
            micros: plan.took.as_micros() as u64,
            node_micros: answer.map_or(0, |a| u64::from(a.micros)),
            timed_out: answer.is_some_and(|a| a.timed_out),
            doubt: plan.doubt,
            matching: 0,
            false_positives: 0,
            false_negatives: 0,
        }
    }

    /// Reads every batch file, and counts what the answers got wrong.
    pub(crate) fn judge(
        &self,
        asked: &mut [Asked],
        mut read_one: impl FnMut(),
    ) -> Result<(), FileError> {
        let schema = self.cluster.schema();
        let fields = truth::fields(schema);
        // The generator asks nothing without a meaning.
        let judges: Vec<Judge> =
            asked.iter().filter_map(|a| Judge::new(schema, &a.question.predicate)).collect();
        assert_eq!(judges.len(), asked.len());
        for &batch in self.ids {
            let folder = self.cluster.batch_folder();
            let counts = truth::count_matches(folder, batch, &fields, &judges)?;
            for (asked, matches) in asked.iter_mut().zip(counts) {
                let excluded = asked.excluded.contains(&batch);
                asked.matching += u64::from(matches > 0);
                asked.false_negatives += u64::from(matches > 0 && excluded);
                asked.false_positives += u64::from(matches == 0 && !excluded);
            }
            read_one();
        }
        Ok(())
    }
}

/// One question of this many goes over TCP.
const TCP_EVERY: u64 = 8;
