//! The two cores of a run, and what their time went into.
//!
//! The first one receives and is what is measured; the second one sends, and does all else.

use std::fs;
use std::time::Instant;

use bloomrf_kernels::cycles;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Cores of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    /// Receives.
    pub(crate) receiver: usize,
    /// Sends; `None`: this process has one core only.
    pub(crate) sender: Option<usize>,
}

impl Cores {
    /// The first two that this process may use.
    pub(crate) fn choose() -> Result<Self, String> {
        let set = sched_getaffinity(None).map_err(|why| format!("cores: {why}"))?;
        let mut allowed = (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core));
        let receiver = allowed.next().ok_or("cores: none is allowed")?;
        Ok(Cores { receiver, sender: allowed.next() })
    }

    /// The second core, or why nothing can be measured without one.
    pub(crate) fn two(self) -> Result<(usize, usize), String> {
        let sender = self.sender.ok_or("it takes two cores: sender and receiver")?;
        Ok((self.receiver, sender))
    }
}

/// The calling thread stays on one core until this is dropped.
pub(crate) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    pub(crate) fn to(core: usize) -> Result<Self, String> {
        let before = sched_getaffinity(None).map_err(|why| format!("core {core}: {why}"))?;
        pin(None, core)?;
        Ok(Pinned { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // What was allowed before is allowed now.
        let _ = sched_setaffinity(None, &self.before);
    }
}

/// Pins a thread of this process; `None`: the calling one.
pub(crate) fn pin(thread: Option<Pid>, core: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(thread, &set).map_err(|why| format!("core {core}: {why}"))
}

/// CPU time of the calling thread, ns.
pub(crate) fn thread_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// CPU time of a thread of some process, ns.
#[cfg(feature = "dpdk")]
pub(crate) fn task_ns(process: u32, thread: u32) -> Result<u64, String> {
    let path = format!("/proc/{process}/task/{thread}/schedstat");
    let text = fs::read_to_string(&path).map_err(|why| format!("{path}: {why}"))?;
    let first = text.split_whitespace().next().and_then(|field| field.parse().ok());
    first.ok_or_else(|| format!("{path}: no number in {text:?}"))
}

/// Threads of a process, with their names.
pub(crate) fn tasks(process: u32) -> Vec<(u32, String)> {
    let entries = fs::read_dir(format!("/proc/{process}/task"));
    let numbers = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let name = fs::read_to_string(entry.path().join("comm")).ok()?;
        Some((number, name.trim().to_owned()))
    });
    numbers.collect()
}

/// A moment of a core.
pub(crate) struct CoreMoment {
    when: Instant,
    idle_ns: u64,
}

impl CoreMoment {
    /// Now. The kernel tells idle time in steps of 10 ms, of which a turn has hundreds.
    pub(crate) fn of(core: usize) -> Result<Self, String> {
        let text = fs::read_to_string("/proc/stat").map_err(|why| format!("/proc/stat: {why}"))?;
        let idle_ns = idle_ns(&text, core).ok_or_else(|| format!("/proc/stat: no cpu{core}"))?;
        Ok(CoreMoment { when: Instant::now(), idle_ns })
    }

    /// What the core has worked since, ns: whatever was neither idle nor taken by the hypervisor.
    /// The time of interrupts is in it, whoever was interrupted; the kernel's counts of work
    /// by kind are only sampled at ticks.
    pub(crate) fn busy_ns(&self, until: &CoreMoment) -> u64 {
        let wall = until.when.duration_since(self.when).as_nanos();
        u64::try_from(wall).unwrap_or(u64::MAX).saturating_sub(until.idle_ns - self.idle_ns)
    }
}

/// Idle, waiting for disks, stolen.
fn idle_ns(stat: &str, core: usize) -> Option<u64> {
    let name = format!("cpu{core}");
    let line = stat.lines().find(|line| line.split(' ').next() == Some(&name))?;
    let fields: Vec<u64> = line.split_whitespace().skip(1).flat_map(str::parse).collect();
    let hundredths = fields.get(3)? + fields.get(4)? + fields.get(7)?;
    Some(hundredths * 10_000_000)
}

/// Ticks of [`cycles`] in a nanosecond.
pub(crate) fn ticks_per_ns() -> f64 {
    let (ticks, time) = (cycles::now(), Instant::now());
    std::thread::sleep(std::time::Duration::from_millis(50));
    let passed = cycles::now().wrapping_sub(ticks);
    passed as f64 / time.elapsed().as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_of_the_core_that_was_asked_for() {
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu1 1 2 3 400 5 6 7 8 0 0\ncpu10 0 0 0 1 1 0 0 1\n";
        assert_eq!(idle_ns(stat, 1), Some(4_130_000_000));
        assert_eq!(idle_ns(stat, 10), Some(30_000_000));
        assert_eq!(idle_ns(stat, 0), None);
    }
}
