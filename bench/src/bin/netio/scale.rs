//! For scale: links that no kernel and no device stands behind. A looped capture, whose frames are
//! where they are, and the queue in memory of tests.

use std::fs::File;
use std::hint::black_box;
use std::io::BufWriter;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bloomrf_netio::capture::writer::PcapWriter;
use bloomrf_netio::link::mem::{self, MemSender};
use bloomrf_netio::link::pcap::{Monotonic, PcapConfig, PcapLink, Speed};
use bloomrf_netio::{BURST_MAX, Burst, Link};
use tempfile::TempDir;

use crate::cores::thread_ns;
use crate::frames::{Size, frame};
use crate::turn::{Count, Turn};

pub(crate) fn turns() -> Result<Vec<Box<dyn Turn>>, String> {
    let mut turns: Vec<Box<dyn Turn>> = Vec::new();
    for size in Size::BOTH {
        let frames: Vec<Vec<u8>> = (0..FRAMES).map(|n| frame(n, size)).collect();
        let case = format!("memory {}", size.name());
        turns.push(Box::new(replay(&case, &frames)?));
        let (sender, link) = mem::frame_pair(frames.len());
        turns.push(Box::new(Queue { case, sender, link, frames }));
    }
    Ok(turns)
}

/// Takes bursts for so long and lets them go; returns packets and the thread's CPU time.
pub(crate) fn drain(link: &mut dyn Link, length: Duration) -> Result<Count, String> {
    let (begin, begin_ns, mut packets) = (Instant::now(), thread_ns(), 0);
    while begin.elapsed() < length {
        // The clock is read once for so many bursts.
        for _ in 0..BURSTS {
            let mut burst = Burst::new();
            link.rx_burst(&mut burst).map_err(|why| why.to_string())?;
            packets += burst.len() as u64;
            black_box(&burst);
        }
    }
    Ok(Count { packets, thread_ns: thread_ns() - begin_ns, ..Count::default() })
}

/// A looped capture.
struct Replay {
    case: String,
    link: PcapLink,
    _folder: TempDir,
}

fn replay(case: &str, frames: &[Vec<u8>]) -> Result<Replay, String> {
    let folder = tempfile::tempdir().map_err(|why| format!("temporary folder: {why}"))?;
    let path = folder.path().join("frames.pcap");
    write(&path, frames.iter().map(Vec::as_slice))?;
    let config = PcapConfig { path, looped: true, speed: Speed::Max, queues: 1 };
    let (mut links, _) =
        PcapLink::open(&config, Arc::new(Monotonic::new())).map_err(|why| why.to_string())?;
    let link = links.pop().ok_or("the capture has no queue")?;
    Ok(Replay { case: case.to_owned(), link, _folder: folder })
}

/// Writes frames as a capture.
pub(crate) fn write<'a>(
    path: &std::path::Path,
    frames: impl Iterator<Item = &'a [u8]>,
) -> Result<(), String> {
    let write = || -> std::io::Result<()> {
        let mut writer = PcapWriter::new(BufWriter::new(File::create(path)?), 1)?;
        for frame in frames {
            writer.write(1, frame, frame.len() as u32)?;
        }
        writer.finish()?;
        Ok(())
    };
    write().map_err(|why| format!("{}: {why}", path.display()))
}

impl Turn for Replay {
    fn name(&self) -> (&str, &str) {
        (&self.case, "pcap looped")
    }

    fn turn(&mut self, length: Duration) -> Result<Count, String> {
        drain(&mut self.link, length / 4)
    }
}

/// The queue in memory, filled while no clock runs.
struct Queue {
    case: String,
    sender: MemSender,
    link: mem::MemLink,
    frames: Vec<Vec<u8>>,
}

impl Turn for Queue {
    fn name(&self) -> (&str, &str) {
        (&self.case, "mem")
    }

    fn turn(&mut self, length: Duration) -> Result<Count, String> {
        let (begin, mut all) = (Instant::now(), Count::default());
        while begin.elapsed() < length / 4 {
            for frame in &self.frames {
                self.sender.send(frame);
            }
            let begin_ns = thread_ns();
            for _ in 0..self.frames.len().div_ceil(BURST_MAX) {
                let mut burst = Burst::new();
                self.link.rx_burst(&mut burst).map_err(|why| why.to_string())?;
                all.packets += burst.len() as u64;
                black_box(&burst);
            }
            all.thread_ns += thread_ns() - begin_ns;
            all.sent += self.frames.len() as u64;
        }
        Ok(all)
    }
}

/// Frames of a capture, and of a filling of the queue.
const FRAMES: u32 = 4_096;
/// Bursts between two looks at the clock.
const BURSTS: usize = 256;
