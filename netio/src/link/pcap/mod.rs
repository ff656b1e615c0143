//! Replay of capture files as a port: the test bench of everything behind it, without privilege.
//!
//! Frames fan out to queues by the hash of their flow, as a card does it ([`crate::rss`]); what is
//! not IP goes to queue 0. Queues share nothing but the moment at which the replay begins.
//!
//! Played once, the file is read as it is played, whatever its size; each queue reads all of it
//! and keeps its own frames. Looped, it is read once and dealt out into memory, at most
//! [`LOOP_BYTES_MAX`] for all queues together. Where a file is cut or damaged, what lies before
//! that is played, and the damage counts as one error.
//!
//! Hot path: no lock; looped, no system call, allocation or copy. Work bounded by `READS_MAX`.

mod finite;
mod looped;
mod schedule;
mod spec;

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

pub use schedule::{Clock, Monotonic};
pub use spec::{PcapConfig, Speed};

use super::udp::QUEUES_MAX;
use super::waker::WakeSource;
use super::{Framing, Link, LinkError, LinkStats, Waker};
use crate::burst::{BURST_MAX, Burst, Received};
use crate::capture::{Capture, Cut, Packet};
use crate::rss::Rss;
use finite::Finite;
use looped::Looped;
use schedule::Schedule;

/// Most memory that a looped capture takes: its frames, and some 40 bytes for each. While it is
/// loaded, up to twice as much.
pub const LOOP_BYTES_MAX: usize = 1 << 30;

/// Most packets of the file that one burst looks at, other queues' included.
const READS_MAX: usize = 16 * BURST_MAX;

/// A queue of a replay.
#[derive(Debug)]
pub struct PcapLink {
    replay: Replay,
    wake: WakeSource,
    stats: LinkStats,
    name: String,
    queue: usize,
    queues: usize,
}

#[derive(Debug)]
enum Replay {
    Once(Box<Finite>),
    Looped(Looped),
}

impl PcapLink {
    /// Opens the file for all queues; also returns warnings for the log.
    ///
    /// # Errors
    /// It cannot be read, is no capture, or is too large to be looped.
    pub fn open(
        config: &PcapConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<(Vec<PcapLink>, Vec<String>), LinkError> {
        Self::open_within(config, clock, LOOP_BYTES_MAX)
    }

    fn open_within(
        config: &PcapConfig,
        clock: Arc<dyn Clock>,
        loop_bytes_max: usize,
    ) -> Result<(Vec<PcapLink>, Vec<String>), LinkError> {
        check(config).map_err(|e| failed(config, e))?;
        let rss = Arc::new(Rss::symmetric(config.queues));
        let schedule = Schedule::new(config.speed, clock);
        let open = || Capture::open(&config.path).map_err(|e| failed(config, io::Error::other(e)));
        let mut warnings = Vec::new();
        let mut links = Vec::with_capacity(config.queues);
        if config.looped {
            let loaded = looped::load(open()?, &rss, loop_bytes_max)
                .map_err(|e| failed(config, io::Error::new(ErrorKind::FileTooLarge, e)))?;
            warnings.extend(loaded.cut.as_ref().map(|cut| words(config, cut)));
            for (queue, share) in loaded.shares.into_iter().enumerate() {
                let mut link =
                    link(config, queue, Replay::Looped(Looped::new(share, schedule.clone())))?;
                link.stats.dropped.errors = u64::from(queue == 0 && loaded.cut.is_some());
                links.push(link);
            }
        } else {
            for queue in 0..config.queues {
                let spread = Spread { rss: rss.clone(), queue };
                let finite = Finite::new(open()?, config, schedule.clone(), spread);
                links.push(link(config, queue, Replay::Once(Box::new(finite)))?);
            }
        }
        Ok((links, warnings))
    }
}

impl Link for PcapLink {
    fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>) -> Result<(), LinkError> {
        match &mut self.replay {
            Replay::Once(finite) => finite.rx_burst(burst, &mut self.stats),
            Replay::Looped(looped) => looped.rx_burst(burst, &mut self.stats),
        }
        Ok(())
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let idle_ns = match &self.replay {
            Replay::Once(finite) => finite.idle_ns(),
            Replay::Looped(looped) => looped.idle_ns(),
        };
        match idle_ns.map_or(timeout, |ns| timeout.min(Duration::from_nanos(ns))) {
            Duration::ZERO => Ok(()),
            timeout => self.wake.wait(timeout).map_err(LinkError::Receive),
        }
    }

    fn waker(&self) -> Waker {
        self.wake.waker()
    }

    fn framing(&self) -> Framing {
        Framing::Frames
    }

    fn stats(&self) -> LinkStats {
        self.stats
    }

    fn describe(&self) -> String {
        let PcapLink { name, queue, queues, .. } = self;
        let text = format!("pcap {name} queue {queue} of {queues}");
        match &self.replay {
            Replay::Looped(looped) => format!("{text}, {} frames looped", looped.frames()),
            Replay::Once(finite) => match finite.cut() {
                Some(Cut { offset, reason }) => format!("{text}, cut at byte {offset}: {reason}"),
                None => text,
            },
        }
    }

    fn is_exhausted(&self) -> bool {
        matches!(&self.replay, Replay::Once(finite) if finite.is_done())
    }
}

/// Which frames are a queue's.
#[derive(Clone, Debug)]
struct Spread {
    rss: Arc<Rss>,
    queue: usize,
}

impl Spread {
    fn is_mine(&self, packet: &Packet) -> bool {
        looped::queue_of(&self.rss, packet) == self.queue
    }
}

fn received(bytes: &[u8], ts_ns: i64, wire_bytes: u32, link_type: u16) -> Received<'_> {
    Received { bytes, source: 0, ts_ns, wire_bytes, link_type }
}

fn link(config: &PcapConfig, queue: usize, replay: Replay) -> Result<PcapLink, LinkError> {
    Ok(PcapLink {
        replay,
        wake: WakeSource::new().map_err(|e| failed(config, e))?,
        stats: LinkStats::default(),
        name: config.path.display().to_string(),
        queue,
        queues: config.queues,
    })
}

fn check(config: &PcapConfig) -> io::Result<()> {
    if config.queues == 0 || config.queues > QUEUES_MAX {
        let reason = format!("{} queues asked for, 1 to {QUEUES_MAX} possible", config.queues);
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    // A pipe would give each queue another part of the capture.
    if config.path.metadata()?.is_file() {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "not a file: each queue reads it for itself"))
}

fn words(config: &PcapConfig, cut: &Cut) -> String {
    let Cut { offset, reason } = cut;
    let path = config.path.display();
    format!("pcap {path}: cut at byte {offset}: {reason}; the packets before it are played")
}

fn failed(config: &PcapConfig, source: io::Error) -> LinkError {
    LinkError::Setup { what: "pcap", address: config.path.display().to_string(), source }
}

#[cfg(test)]
mod tests;
