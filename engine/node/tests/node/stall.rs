//! A thread that stands still is told, and told when it goes on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bloomrf_netio::link::mem::{self, MemLink};
use bloomrf_netio::{Burst, Link, LinkError, LinkStats, Waker};
use bloomrf_node::{Node, Surroundings};

use crate::http::get_from;
use crate::world::{config, wait_for};

/// Stands still in a receive while somebody else holds the gate.
struct GatedLink {
    link: MemLink,
    gate: Arc<Mutex<()>>,
}

impl Link for GatedLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        drop(self.gate.lock());
        self.link.rx_burst(burst)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        self.link.wait(timeout)
    }

    fn waker(&self) -> Waker {
        self.link.waker()
    }

    fn stats(&self) -> LinkStats {
        self.link.stats()
    }

    fn describe(&self) -> String {
        self.link.describe()
    }
}

#[test]
fn a_thread_that_stands_still_is_told_in_readyz_and_metrics_until_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Arc::new(Mutex::new(()));
    let links: Vec<Box<dyn Link>> = (0..2)
        .map(|i| {
            let gate = if i == 1 { Arc::clone(&gate) } else { Arc::default() };
            Box::new(GatedLink { link: mem::pair(16).1, gate }) as Box<dyn Link>
        })
        .collect();
    let surroundings = Surroundings { links: Some(links), ..Surroundings::default() };
    let node = Node::start_in(config(&folder, None), surroundings).unwrap();
    let read = |path: &str| get_from(node.ports().http, path);
    let gauge = |value| format!("stalled_threads{{thread=\"bloomrf-rx-1\"}} {value}\n");
    wait_for("no stall", || read("/readyz") == (200, "ready\n".to_owned()));
    let held = gate.lock().unwrap();
    wait_for("the stall", || {
        read("/readyz") == (200, "ready\nstalled thread: bloomrf-rx-1\n".to_owned())
    });
    assert!(read("/metrics").1.contains(&gauge(1)));
    drop(held);
    wait_for("the end of the stall", || read("/readyz").1 == "ready\n");
    assert!(read("/metrics").1.contains(&gauge(0)));
}

#[test]
fn as_many_links_as_queues_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let links: Vec<Box<dyn Link>> = vec![Box::new(mem::pair(1).1)];
    let surroundings = Surroundings { links: Some(links), ..Surroundings::default() };
    let error = Node::start_in(config(&folder, None), surroundings).err().unwrap();
    assert!(error.to_string().contains("1 are given"), "{error}");
}
