//! Lookups all the time: of keys that are there by construction, of keys that are not, about
//! batches that come, live, and are gone. None that holds a key may ever be excluded.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bloomrf_bench::Splitmix;
use bloomrf_bench::live::traffic::{COLUMNS, Cells};
use bloomrf_bench::live::{Asker, Cluster};
use bloomrf_engine::predicate::Predicate;
use bloomrf_engine::wire::lookup::LookupStatus;

/// What the sender tells the asker.
#[derive(Default)]
pub(crate) struct Progress {
    /// Batches closed so far; their ids are 1 to this.
    pub(crate) closed: AtomicU64,
    /// The run is over.
    pub(crate) stop: AtomicBool,
}

/// What came of the questions.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Answered.
    pub(crate) answered: u64,
    /// Not answered in time, or cut off.
    pub(crate) late: u64,
    /// Batches that had to be found.
    pub(crate) known: u64,
    /// Batches excluded.
    pub(crate) excluded: u64,
    /// Batches with a usable filter.
    pub(crate) evaluated: u64,
    /// Time of each, as the asker saw it, nanoseconds.
    pub(crate) took_ns: Vec<u32>,
    /// What must not be.
    pub(crate) wrong: Vec<String>,
}

/// Asks until stopped.
pub(crate) fn ask(
    cluster: &Cluster,
    progress: &Progress,
    seed: u64,
    retained: u64,
    records: u64,
) -> Answers {
    let mut answers = Answers::default();
    // Kept from the start: the asker's own memory must not look like a leak of the node's.
    answers.took_ns.reserve_exact(TIMES_MAX);
    answers.took_ns.resize(TIMES_MAX, 1);
    answers.took_ns.clear();
    let mut random = Splitmix::new(seed);
    let mut asker = match Asker::new(cluster) {
        Ok(asker) => asker,
        Err(why) => {
            answers.wrong.push(why);
            return answers;
        }
    };
    while !progress.stop.load(Ordering::Acquire) {
        question(&mut asker, progress, retained, records, &mut random, &mut answers);
        std::thread::sleep(PAUSE);
    }
    answers
}

fn question(
    asker: &mut Asker,
    progress: &Progress,
    retained: u64,
    records: u64,
    random: &mut Splitmix,
    answers: &mut Answers,
) {
    let closed = progress.closed.load(Ordering::Acquire);
    if closed == 0 {
        return;
    }
    // From a few that are gone to a few that are not there yet.
    let first = closed.saturating_sub(retained + 8).max(1);
    let count = (closed + 8 - first) as u32;
    let batch = first + random.draw() % (closed + 1 - first);
    let is_known = random.draw() & 3 != 0;
    let cells = match is_known {
        true => Cells::of(batch, random.draw() % records),
        false => Cells::absent(random.draw()),
    };
    let column = (random.draw() % u64::from(COLUMNS)) as u16;
    let predicate = match random.draw() & 3 {
        0 => Predicate::And(cells.leaves()),
        1 if !is_known => Predicate::Or(cells.leaves()),
        _ => cells.equals(column),
    };
    let answer = match asker.ask(predicate, first, count) {
        Ok(Some(answer)) => answer,
        Ok(None) => {
            answers.late += 1;
            return;
        }
        Err(why) => return answers.wrong.push(why),
    };
    let reply = &answer.reply;
    answers.answered += 1;
    answers.late += u64::from(reply.status != LookupStatus::Ok);
    answers.known += u64::from(is_known);
    answers.excluded += u64::from(reply.excluded_zone_map + reply.excluded_filter);
    answers.evaluated += u64::from(reply.evaluated);
    if answers.took_ns.len() < TIMES_MAX {
        answers.took_ns.push(answer.took.as_nanos().min(u128::from(u32::MAX)) as u32);
    }
    if is_known && reply.is_excluded((batch - first) as usize) {
        answers.wrong.push(format!("false negative: column {column}, batch {batch}, {cells:?}"));
    }
    // Meanwhile others were closed, and the batch after the last one may be open; none behind it
    // was ever heard of.
    let closed = progress.closed.load(Ordering::Acquire);
    for unheard in closed + 2..first + u64::from(count) {
        if reply.is_excluded((unheard - first) as usize) {
            answers.wrong.push(format!("batch {unheard} was excluded before it was sent"));
        }
    }
}

/// Between two questions: the node's cores are few.
const PAUSE: Duration = Duration::from_micros(200);
/// Times that are kept.
const TIMES_MAX: usize = 1 << 21;
