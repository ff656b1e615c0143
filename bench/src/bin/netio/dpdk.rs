//! DPDK without a device: virtual ports that make frames of nothing, which leaves the loop alone.
//! The `dpdk` link as the node polls it, the queue below it, and `dpdk-testpmd rxonly`, on the same
//! core, with the same memory, bursts and mbufs.

use std::hint::black_box;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bloomrf_dpdk::{Eal, MemoryUsed, PortConfig, RxQueue};
use bloomrf_netio::Link;
use bloomrf_netio::link::{PortOptions, open};

use crate::cores::{Cores, thread_ns};
use crate::frames::Size;
use crate::scale::drain;
use crate::testpmd::Testpmd;
use crate::turn::{Count, Turn};

/// MiB for each side: enough for the pools of all its ports.
pub(crate) const MEMORY_MIB: u32 = 256;
/// Descriptors of a queue.
pub(crate) const DESCRIPTORS: u16 = 1_024;
/// Mbufs of a port.
pub(crate) const MBUFS: u32 = 8_191;

/// All of them, at both lengths. What is missing is said in `skipped`.
pub(crate) fn turns(cores: Cores, skipped: &mut Vec<String>) -> Result<Vec<Box<dyn Turn>>, String> {
    let mut turns: Vec<Box<dyn Turn>> = Vec::new();
    let peer = Testpmd::find();
    for (number, size) in (0..).zip(Size::BOTH) {
        let bytes = frame_bytes(size);
        let case = format!("dpdk net_null {}", size.name());
        let devargs = |number: u32| format!("net_null{number},size={bytes}");
        turns.push(Box::new(Ours::open(&case, &devargs(2 * number))?));
        turns.push(Box::new(Below::open(&case, &devargs(2 * number + 1))?));
        let is_huge = matches!(memory()?, MemoryUsed::Huge { .. });
        let testpmd =
            peer.clone().and_then(|program| Testpmd::new(program, &case, bytes, cores, is_huge));
        match testpmd {
            Ok(testpmd) => turns.push(Box::new(testpmd)),
            Err(why) => skipped.push(format!("{case} testpmd: {why}")),
        }
    }
    Ok(turns)
}

/// Ends DPDK in this process.
pub(crate) fn shutdown() -> Result<(), String> {
    bloomrf_netio::link::shutdown().map_err(|why| why.to_string())
}

/// As a device hands frames over, without their check sequence.
fn frame_bytes(size: Size) -> usize {
    match size {
        Size::Small => 64,
        Size::Full => 1_514,
    }
}

fn eal() -> Result<Eal, String> {
    Eal::running().ok_or_else(|| "DPDK does not run".to_owned())
}

fn memory() -> Result<MemoryUsed, String> {
    Ok(eal()?.memory())
}

/// The link, through its trait, as a poll loop has it.
struct Ours {
    case: String,
    link: Box<dyn Link>,
}

impl Ours {
    fn open(case: &str, devargs: &str) -> Result<Self, String> {
        let settings = [
            format!("memory_mib={MEMORY_MIB}"),
            format!("pool_mbufs={MBUFS}"),
            format!("descriptors={DESCRIPTORS}"),
        ];
        let options = PortOptions {
            queues: 1,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            groups: Vec::new(),
            receive_buffer: 0,
            busy_poll_us: 0,
            sends: false,
            dpdk_args: settings.to_vec(),
        };
        let spec = format!("dpdk:{devargs}").parse().map_err(|why| format!("{devargs}: {why}"))?;
        let mut port = open(&spec, &options).map_err(|why| why.to_string())?;
        let link = port.links.pop().ok_or("a port without a queue")?;
        Ok(Ours { case: case.to_owned(), link })
    }
}

impl Turn for Ours {
    fn name(&self) -> (&str, &str) {
        (&self.case, "dpdk link")
    }

    fn turn(&mut self, length: Duration) -> Result<Count, String> {
        drain(&mut *self.link, length)
    }
}

/// The queue that the link is made of.
struct Below {
    case: String,
    queue: RxQueue,
}

impl Below {
    fn open(case: &str, devargs: &str) -> Result<Self, String> {
        let config = PortConfig {
            descriptors: DESCRIPTORS,
            pool_mbufs: Some(MBUFS),
            ..PortConfig::default()
        };
        let device = eal()?.probe(devargs).map_err(|why| why.to_string())?;
        let mut port = device.open(&config).map_err(|why| why.to_string())?;
        let queue = port.queues.pop().ok_or("a port without a queue")?;
        Ok(Below { case: case.to_owned(), queue })
    }
}

impl Turn for Below {
    fn name(&self) -> (&str, &str) {
        (&self.case, "dpdk queue")
    }

    fn turn(&mut self, length: Duration) -> Result<Count, String> {
        self.queue.register().map_err(|why| why.to_string())?;
        let (begin, begin_ns, mut packets) = (Instant::now(), thread_ns(), 0);
        while begin.elapsed() < length {
            for _ in 0..BURSTS {
                packets += black_box(self.queue.burst()).len() as u64;
            }
        }
        Ok(Count { packets, thread_ns: thread_ns() - begin_ns, ..Count::default() })
    }
}

/// Bursts between two looks at the clock.
const BURSTS: usize = 256;
