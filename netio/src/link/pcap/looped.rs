//! A capture played over and over: each queue's share of it lies in memory.
//!
//! Hot path: no allocation, no copy, no system call; at most `READS_MAX` entries per burst.

use super::schedule::{Schedule, since};
use super::{READS_MAX, finite, received};
use crate::burst::{BUFFER_BYTES, Burst};
use crate::capture::{Capture, Cut, Packet};
use crate::link::LinkStats;
use crate::parse;
use crate::rss::{Flow, Rss};

/// A capture in memory, by queue.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) shares: Vec<Share>,
    pub(super) cut: Option<Cut>,
}

/// The frames of one queue.
#[derive(Debug, Default)]
pub(super) struct Share {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    round: Round,
}

/// What one pass over the file is.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Packets of all queues.
    packets: u64,
    first_ts_ns: i64,
    /// From the beginning of one pass to that of the next, by the capture's times.
    length_ns: u64,
}

#[derive(Debug)]
struct Entry {
    start: usize,
    ts_ns: i64,
    /// Place in the file.
    index: u64,
    length: u32,
    wire_bytes: u32,
    link_type: u16,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Frame,
    /// Longer than a buffer: without bytes, in every queue's share, for all take note of a loss.
    Oversize {
        mine: bool,
    },
}

/// Reads a capture into shares.
///
/// # Errors
/// It takes more than `bytes_max` of memory.
pub(super) fn load(mut capture: Capture, rss: &Rss, bytes_max: usize) -> Result<Loaded, String> {
    let mut shares: Vec<Share> = (0..rss.queues()).map(|_| Share::default()).collect();
    let (mut bytes, mut times, mut packet) = (0, Times::default(), Packet::default());
    let mut index = 0;
    while capture.next_into(&mut packet) {
        let queue = queue_of(rss, &packet);
        bytes += size_of::<Entry>() + packet.bytes.len().min(BUFFER_BYTES);
        if bytes > bytes_max {
            return Err(format!(
                "a looped capture is held in memory, up to {bytes_max} bytes, and this file's \
                 first {} packets take more: cut it (editcap -c), or play it once, without `loop`",
                index + 1
            ));
        }
        times.add(packet.ts_ns);
        for (number, share) in shares.iter_mut().enumerate() {
            share.take(&packet, index, number == queue);
        }
        index += 1;
    }
    for share in &mut shares {
        share.round = times.round(index);
        share.bytes.shrink_to_fit();
        share.entries.shrink_to_fit();
    }
    Ok(Loaded { shares, cut: capture.cut().cloned() })
}

/// Queue 0 has what is no flow.
pub(super) fn queue_of(rss: &Rss, packet: &Packet) -> usize {
    if rss.queues() == 1 {
        return 0;
    }
    let (headers, _) = parse::headers(packet.link_type, &packet.bytes);
    Flow::of(&headers).map_or(0, |flow| rss.queue(&flow))
}

impl Share {
    fn take(&mut self, packet: &Packet, index: u64, mine: bool) {
        let oversize = packet.bytes.len() > BUFFER_BYTES;
        if !mine && !oversize {
            return;
        }
        let start = self.bytes.len();
        if !oversize {
            self.bytes.extend_from_slice(&packet.bytes);
        }
        self.entries.push(Entry {
            start,
            ts_ns: packet.ts_ns,
            index,
            // At most BUFFER_BYTES.
            length: (self.bytes.len() - start) as u32,
            wire_bytes: packet.wire_bytes,
            link_type: finite::link_type(packet),
            kind: if oversize { Kind::Oversize { mine } } else { Kind::Frame },
        });
    }
}

/// First and last time, out of order or not; packets without time do not count.
#[derive(Debug, Default)]
struct Times {
    first_ns: i64,
    least_ns: i64,
    most_ns: i64,
    count: u64,
}

impl Times {
    fn add(&mut self, ts_ns: i64) {
        if ts_ns == 0 {
            return;
        }
        if self.count == 0 {
            (self.first_ns, self.least_ns, self.most_ns) = (ts_ns, ts_ns, ts_ns);
        }
        self.least_ns = self.least_ns.min(ts_ns);
        self.most_ns = self.most_ns.max(ts_ns);
        self.count += 1;
    }

    /// The next pass begins one mean distance behind the last packet; a second behind it, where
    /// there is no such distance.
    fn round(&self, packets: u64) -> Round {
        let span = since(self.least_ns, self.most_ns);
        let length_ns = match span {
            0 => 1_000_000_000,
            span => span + (span / (self.count - 1)).max(1),
        };
        Round { packets, first_ts_ns: self.first_ns, length_ns }
    }
}

#[derive(Debug)]
pub(super) struct Looped {
    share: Share,
    schedule: Schedule,
    next: usize,
    rounds: u64,
}

impl Looped {
    pub(super) fn new(share: Share, schedule: Schedule) -> Self {
        Looped { share, schedule, next: 0, rounds: 0 }
    }

    pub(super) fn rx_burst<'a>(&'a mut self, burst: &mut Burst<'a>, stats: &mut LinkStats) {
        let Looped { share, schedule, next, rounds } = self;
        let elapsed_ns = schedule.elapsed_ns();
        for _ in 0..READS_MAX {
            let Some(entry) = share.entries.get(*next) else { return };
            if entry.due_ns(schedule, &share.round, *rounds) > elapsed_ns {
                return;
            }
            match entry.kind {
                Kind::Frame => {
                    let bytes = &share.bytes[entry.start..entry.start + entry.length as usize];
                    let ts_ns = entry.ts_ns_in(&share.round, *rounds);
                    burst.push(received(bytes, ts_ns, entry.wire_bytes, entry.link_type));
                    stats.received += 1;
                    stats.bytes += bytes.len() as u64;
                }
                Kind::Oversize { mine } => {
                    stats.oversize += u64::from(mine);
                    stats.loss_mark += 1;
                }
            }
            *next += 1;
            if *next == share.entries.len() {
                *next = 0;
                *rounds += 1;
            }
            if burst.is_full() {
                return;
            }
        }
    }

    /// How long until something is due; `None` where nothing will ever be.
    pub(super) fn idle_ns(&self) -> Option<u64> {
        let entry = self.share.entries.get(self.next)?;
        let due_ns = entry.due_ns(&self.schedule, &self.share.round, self.rounds);
        Some(due_ns.saturating_sub(self.schedule.elapsed_ns()))
    }

    pub(super) fn frames(&self) -> usize {
        self.share.entries.iter().filter(|entry| entry.kind == Kind::Frame).count()
    }
}

impl Entry {
    fn due_ns(&self, schedule: &Schedule, round: &Round, rounds: u64) -> u64 {
        let index = rounds.wrapping_mul(round.packets).wrapping_add(self.index);
        let passed_ns = rounds.saturating_mul(round.length_ns);
        let since_first_ns = since(round.first_ts_ns, self.ts_ns);
        schedule.due_ns(index, passed_ns.saturating_add(since_first_ns))
    }

    /// Times go on growing from round to round.
    fn ts_ns_in(&self, round: &Round, rounds: u64) -> i64 {
        let passed_ns = rounds.saturating_mul(round.length_ns);
        match self.ts_ns {
            0 => 0,
            ts_ns => ts_ns.saturating_add(i64::try_from(passed_ns).unwrap_or(i64::MAX)),
        }
    }
}
