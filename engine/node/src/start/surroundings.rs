//! What a node takes from the world: by default the machine's own.

use std::fmt;
use std::sync::Arc;

use bloomrf_engine::env::Clock;
use bloomrf_netio::{FrameSender, Link};

/// Links and clock of a node; what is `None` is the machine's. For tests and simulation.
#[derive(Default)]
pub struct Surroundings {
    /// Time.
    pub clock: Option<Arc<dyn Clock>>,
    /// One per ingest queue, instead of UDP sockets; then nothing is bound for ingest.
    pub links: Option<Vec<Box<dyn Link>>>,
    /// The sending half of these links, where they are of a raw port.
    pub sender: Option<Box<dyn FrameSender>>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let links = self.links.as_ref().map(|l| l.iter().map(|l| l.describe()).collect::<Vec<_>>());
        f.debug_struct("Surroundings")
            .field("clock", &self.clock.is_some())
            .field("links", &links)
            .field("sender", &self.sender.is_some())
            .finish()
    }
}
