//! Why a batch is excluded, or why not: the tree once more, one candidate and leaf at a time.
//!
//! Cost: a line of text per candidate and leaf. It follows the masks of the lookup that it
//! explains (the same `live`, the same chunks out of time), and must agree with its reply.
//!
//! Hot path: never on it; only the reasons are shared.

use bloomrf_kernels::Kernel;

use super::NoOpinion;
use super::evaluate::{ChunkMasks, Deadline, Scratch};
use super::normal::{Node, Normal};
use super::walk::{Finding, Walk};
use super::zone::{ZoneFinding, of_batch};
use crate::identity::BatchId;
use crate::query;
use crate::schema::Schema;
use crate::seal::SealedBatch;
use crate::store::{CandidateRun, Chunk, Place, Snapshot};
use crate::wire::lookup::LookupRequest;

/// The outcome for one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The zone map alone settles the tree.
    ExcludedZoneMap,
    /// A filter proved absence.
    ExcludedFilter,
    /// Evaluated, and something may match.
    MayMatch,
    /// Not excluded for want of an opinion.
    NoOpinion(NoOpinion),
}

impl Outcome {
    /// Whether the batch need not be read.
    #[must_use]
    pub fn is_excluded(&self) -> bool {
        matches!(self, Outcome::ExcludedZoneMap | Outcome::ExcludedFilter)
    }
}

/// One candidate, explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchExplain {
    /// Batch.
    pub batch: BatchId,
    /// Outcome.
    pub outcome: Outcome,
    /// One line per leaf: the leaf as WHERE text, and what zone map and filter said.
    pub leaves: Vec<LeafExplain>,
}

/// One leaf of the predicate, for one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafExplain {
    /// The normalised leaf, for people.
    pub leaf: String,
    /// What decided it: "zone map", "filter", "filter (exact: list)", "no opinion: ...".
    pub by: String,
    /// Whether the leaf may match in this batch.
    pub may_match: bool,
}

/// Every candidate of a request that is not for this node.
pub(super) fn other_schema(request: &LookupRequest) -> Vec<BatchExplain> {
    let outcome = Outcome::NoOpinion(NoOpinion::Schema);
    let explain = |batch| BatchExplain { batch, outcome: outcome.clone(), leaves: Vec::new() };
    request.candidates.iter().map(explain).collect()
}

/// Every candidate of the lookup that `scratch` holds the masks of.
pub(super) fn all(
    schema: &Schema,
    request: &LookupRequest,
    snapshot: &Snapshot,
    normal: &Normal<'_>,
    kernel: Kernel,
    scratch: &mut Scratch,
) -> Vec<BatchExplain> {
    let texts: Vec<String> = (0..normal.leaves.len()).map(|i| text(schema, normal, i)).collect();
    let mut lines_left = LINES_MAX;
    let places = places(request.candidates.len(), &scratch.runs);
    let Scratch { chunks, plan, zones, .. } = scratch;
    let mut never = Deadline::never();
    let mut walk = Walk { normal, kernel, plan, zones, deadline: &mut never };
    let explain = |(batch, place): (BatchId, Option<Place>)| {
        let unexplained = |outcome| (outcome, Vec::new());
        let (outcome, findings) = match place.and_then(|place| live(snapshot, chunks, place)) {
            None => unexplained(Outcome::NoOpinion(snapshot.absence(batch).into())),
            Some(live) if lines_left >= texts.len() => {
                lines_left -= texts.len();
                one(&mut walk, &live)
            }
            Some(live) => unexplained(live.outcome()),
        };
        let line = |(text, (finding, form)): (&String, Explained)| LeafExplain {
            leaf: text.clone(),
            by: decided_by((finding, form)),
            may_match: finding.may_match(),
        };
        BatchExplain { batch, outcome, leaves: texts.iter().zip(findings).map(line).collect() }
    };
    request.candidates.iter().zip(places).map(explain).collect()
}

/// The place of every candidate, in the order sent.
fn places(candidates: usize, runs: &[CandidateRun]) -> Vec<Option<Place>> {
    let mut places = vec![None; candidates];
    for run in runs {
        for (place, i) in places[run.at..].iter_mut().zip(0..run.count) {
            *place = Some(Place { chunk: run.place.chunk, slot: run.place.slot + i });
        }
    }
    places
}

/// A slot that was live in the lookup.
struct Live<'s> {
    chunk: &'s Chunk,
    slot: usize,
    masks: ChunkMasks,
}

/// The slot at `place`, if it was live in that lookup.
fn live<'s>(snapshot: &'s Snapshot, chunks: &[ChunkMasks], place: Place) -> Option<Live<'s>> {
    let masks = *chunks.get(place.chunk as usize)?;
    let chunk = snapshot.chunks().get(place.chunk as usize)?;
    let live = Live { chunk, slot: place.slot as usize, masks };
    live.bit(masks.live).then_some(live)
}

impl Live<'_> {
    fn bit(&self, mask: u64) -> bool {
        mask >> self.slot & 1 == 1
    }

    /// The outcome, as the reply has it.
    fn outcome(&self) -> Outcome {
        let masks = &self.masks;
        match (self.bit(masks.by_zone), self.bit(masks.by_filter), masks.is_done) {
            (true, _, _) => Outcome::ExcludedZoneMap,
            (_, true, _) => Outcome::ExcludedFilter,
            (_, _, false) => Outcome::NoOpinion(NoOpinion::Time),
            (_, _, true) => Outcome::MayMatch,
        }
    }
}

/// One live batch: its outcome and what decided each leaf. Evaluates anew instead of repeating
/// the masks, so that a difference shows; what time did not suffice for is as the reply has it.
fn one(walk: &mut Walk<'_, '_>, live: &Live<'_>) -> (Outcome, Vec<Explained>) {
    let normal = walk.normal;
    let batch = live.chunk.slot(live.slot).map(|batch| &**batch);
    let zone: Vec<bool> =
        normal.leaves.iter().map(|leaf| of_batch(leaf, batch) != ZoneFinding::Absent).collect();
    let findings: Vec<Finding> =
        (0..zone.len()).map(|leaf| walk.finding(leaf, live.chunk, live.slot)).collect();
    let outcome = if !live.masks.is_done {
        live.outcome()
    } else if !holds(&normal.root, &|leaf| zone[leaf]) {
        Outcome::ExcludedZoneMap
    } else if !holds(&normal.root, &|leaf| findings[leaf].may_match()) {
        Outcome::ExcludedFilter
    } else {
        match want_of_opinion(&normal.root, &findings) {
            Some(why) => Outcome::NoOpinion(why),
            None => Outcome::MayMatch,
        }
    };
    let forms = normal.leaves.iter().map(|leaf| exact_form(batch, leaf.column));
    (outcome, findings.into_iter().zip(forms).collect())
}

/// The reason without which the batch would have been excluded, if there is one.
fn want_of_opinion(root: &Node, findings: &[Finding]) -> Option<NoOpinion> {
    let found = |leaf: usize| matches!(findings[leaf], Finding::Zone(true) | Finding::Filter(true));
    if holds(root, &found) {
        return None;
    }
    findings.iter().find_map(|finding| match finding {
        Finding::NoOpinion(why) => Some(*why),
        _ => None,
    })
}

/// The tree over truth values of its leaves.
fn holds(node: &Node, leaf: &impl Fn(usize) -> bool) -> bool {
    match node {
        Node::Leaf(index) => leaf(*index),
        Node::All(parts) => parts.iter().all(|part| holds(part, leaf)),
        Node::Any(parts) => parts.iter().any(|part| holds(part, leaf)),
    }
}

/// What decided a leaf, and the form of its column where that is exact.
type Explained = (Finding, Option<&'static str>);

/// The form in which the column of a leaf is stored, where it is an exact one.
fn exact_form(batch: Option<&SealedBatch>, column: u16) -> Option<&'static str> {
    let filter = &batch?.columns.get(usize::from(column))?.filter;
    filter.is_exact().then(|| filter.form())
}

fn decided_by((finding, form): Explained) -> String {
    match finding {
        Finding::Zone(_) => "zone map".to_owned(),
        Finding::Filter(_) => match form {
            Some(form) => format!("filter (exact: {form})"),
            None => "filter".to_owned(),
        },
        Finding::NoOpinion(why) => format!("no opinion: {why}"),
    }
}

/// The leaf as WHERE text, cut where it is very long.
fn text(schema: &Schema, normal: &Normal<'_>, leaf: usize) -> String {
    let leaf = &normal.leaves[leaf];
    let mut text = query::to_text(schema, leaf.stated);
    if leaf.negated {
        text = format!("NOT ({text})");
    }
    if let Some((end, _)) = text.char_indices().nth(TEXT_CHARS_MAX) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// Lines of one explanation, over all candidates; further ones get their outcome only. As JSON
/// some 4 MB at most: many slow readers may hold one each.
const LINES_MAX: usize = 1 << 14;
/// Characters of a leaf's text.
const TEXT_CHARS_MAX: usize = 200;
