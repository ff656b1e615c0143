//! Runs of a seed, and what came of them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::canary::Canary;
use crate::settings::Faults;
use crate::tally::Tally;
use crate::trace::Line;
use crate::world::World;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Which faults there are.
    pub faults: Faults,
    /// Events before the calm.
    pub steps: u64,
    /// A planted bug.
    pub canary: Option<Canary>,
}

/// A run in which everything held.
#[derive(Clone, Debug)]
pub struct Report {
    /// Events, those of the calm included.
    pub events: u64,
    /// Equal for equal runs.
    pub digest: u64,
    /// What happened.
    pub tally: Tally,
}

/// A run in which something did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Events until then.
    pub events: u64,
    /// What did not hold, and where that was found.
    pub what: String,
    /// What happened last, oldest first.
    pub trace: Vec<Line>,
}

/// Runs one seed.
pub fn run_seed(seed: u64, plan: &Plan) -> Result<Report, Box<Failure>> {
    let mut world = None;
    let ended = caught(|| {
        let world = world.insert(World::new(seed, plan.faults, plan.canary));
        world.run(plan.steps);
    });
    match (ended, world) {
        (Ok(()), Some(world)) => {
            Ok(Report { events: world.step, digest: world.trace.digest(), tally: world.tally })
        }
        (ended, world) => {
            let (events, trace) = world.map_or((0, Vec::new()), |world| {
                (world.step, world.trace.last().copied().collect())
            });
            let what = ended.err().unwrap_or_default();
            Err(Box::new(Failure { events, what, trace }))
        }
    }
}

/// Runs something; where it panics, says how, and prints nothing.
pub(crate) fn caught(act: impl FnOnce()) -> Result<(), String> {
    quiet_hook();
    IS_CAUGHT.set(true);
    let ended = panic::catch_unwind(AssertUnwindSafe(act));
    IS_CAUGHT.set(false);
    ended.map_err(|payload| {
        let place = PLACE.take();
        format!("{} ({place})", text_of(&*payload))
    })
}

/// Panics of threads that catch them are told by who catches them.
fn quiet_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if IS_CAUGHT.get() {
                PLACE.set(panic.location().map(ToString::to_string).unwrap_or_default());
            } else {
                usual(panic);
            }
        }));
    });
}

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} events: {}", self.events, self.what)
    }
}
