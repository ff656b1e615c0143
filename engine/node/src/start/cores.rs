//! Cores of poll loops: enough of them, and nobody else on them.
//!
//! A poll loop that shares its core loses frames while the other runs, and its counters only say
//! that frames were lost. So too few cores are an error, and a core with company is a warning.

use std::fs;
use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use rustix::thread::{current_timer_slack, set_current_timer_slack};

use super::StartError;
use crate::config::{Config, Idle};

/// Checks cores, and warns about what else they do; sleeps for a moment where cores are named.
pub(super) fn check(config: &Config) -> Result<(), StartError> {
    let allowed: Vec<usize> =
        core_affinity::get_core_ids().unwrap_or_default().iter().map(|id| id.id).collect();
    are_enough(config, allowed.len())?;
    for warning in of_layout(config, &allowed) {
        tracing::warn!("{warning}");
    }
    if config.cores.is_empty() {
        return Ok(());
    }
    let isolated = fs::read_to_string(ISOLATED).unwrap_or_default();
    let isolated = parse_list(&isolated);
    let before = stat();
    thread::sleep(LOOK);
    for warning in of_company(&config.cores, &before, &stat(), &isolated) {
        tracing::warn!("{warning}");
    }
    Ok(())
}

/// Runs `start` so that the threads that it starts wake from naps when they are over, and not up
/// to 50 us later: the system gives them the slack that this thread has at that moment.
pub(super) fn with_exact_naps<T>(idle: Idle, start: impl FnOnce() -> T) -> T {
    let slack = current_timer_slack().ok().and_then(NonZeroU64::new);
    if idle != Idle::Pause || set_current_timer_slack(NonZeroU64::new(1)).is_err() {
        return start();
    }
    let started = start();
    // A thread may always set its own slack, as it just did.
    let _ = set_current_timer_slack(slack);
    started
}

/// An error where queues that poll would share a core. Those that sleep, and are not pinned, may.
fn are_enough(config: &Config, cores: usize) -> Result<(), StartError> {
    let queues = config.queue_count();
    let may_share = config.cores.is_empty() && config.link.idle == Idle::Sleep;
    // Where the system tells nothing, nothing is known to be wrong.
    if may_share || cores == 0 || queues <= cores {
        return Ok(());
    }
    Err(StartError::Cores { queues, cores })
}

/// What is wrong with the layout by itself.
fn of_layout(config: &Config, allowed: &[usize]) -> Vec<String> {
    let Config { cores, link, .. } = config;
    let idle = link.idle.name();
    let mut warnings = Vec::new();
    if link.idle != Idle::Sleep && cores.is_empty() {
        warnings.push(format!(
            "idle = {idle:?} and cores is empty: queues wander, and two may meet on one core; name \
             a core for each queue in cores (environment BLOOMRF_CORES)"
        ));
    }
    for (i, core) in cores.iter().enumerate() {
        if cores.iter().take(i).any(|other| other == core) {
            warnings.push(format!(
                "core {core} has two ingest queues: each waits for the other; name different cores"
            ));
        }
    }
    if link.idle == Idle::Busy && !allowed.is_empty() && config.queue_count() >= allowed.len() {
        warnings.push(format!(
            "idle = {idle:?} on all {} cores of this process: seal and lookups wait for ingest; \
             leave at least one core out of cores, or set idle = \"pause\"",
            allowed.len()
        ));
    }
    warnings
}

/// Which poll cores were busy between two looks, though no poll loop ran yet.
fn of_company(cores: &[usize], before: &Stat, after: &Stat, isolated: &[usize]) -> Vec<String> {
    let mut warnings = Vec::new();
    for &core in cores {
        let Some(percent) = busy_percent(core, before, after).filter(|p| *p >= BUSY_PERCENT) else {
            continue;
        };
        let remedy = if isolated.contains(&core) {
            "it is isolated, so something is pinned to it: move that away".to_owned()
        } else {
            format!("keep others off it (boot with isolcpus={core} nohz_full={core}, or a cpuset)")
        };
        warnings.push(format!(
            "core {core} was busy {percent} % of the time before its ingest queue began: frames \
             may be lost; {remedy}, or name another core in cores (environment BLOOMRF_CORES)"
        ));
    }
    warnings
}

/// Ticks of each core since the machine's start: its number, those in use, all of them.
type Stat = Vec<(usize, u64, u64)>;

fn stat() -> Stat {
    parse_stat(&fs::read_to_string(STAT).unwrap_or_default())
}

/// Reads lines like `cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL GUEST GUEST_NICE`.
fn parse_stat(text: &str) -> Stat {
    let line = |line: &str| {
        let mut fields = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let core = fields.next()?.parse().ok()?;
        // Guests' time is part of USER and NICE.
        let ticks: Vec<u64> = fields.take(8).map(|f| f.parse().unwrap_or(0)).collect();
        let all: u64 = ticks.iter().fold(0, |sum, ticks| sum.saturating_add(*ticks));
        let free = ticks.get(3)?.saturating_add(*ticks.get(4)?);
        Some((core, all.saturating_sub(free), all))
    };
    text.lines().filter_map(line).collect()
}

fn busy_percent(core: usize, before: &Stat, after: &Stat) -> Option<u64> {
    let of = |stat: &Stat| stat.iter().find(|(of, _, _)| *of == core).copied();
    let ((_, busy_before, all_before), (_, busy, all)) = (of(before)?, of(after)?);
    let busy = busy.saturating_sub(busy_before);
    busy.saturating_mul(100).checked_div(all.saturating_sub(all_before))
}

/// Reads a list of cores such as `2-3,5`.
fn parse_list(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse::<usize>().ok()?.min(CORE_MAX))
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

const STAT: &str = "/proc/stat";
const ISOLATED: &str = "/sys/devices/system/cpu/isolated";
/// Between two looks at what cores do: some twenty ticks of the system's clock.
const LOOK: Duration = Duration::from_millis(200);
/// From here on a core has company.
const BUSY_PERCENT: u64 = 25;
/// Highest core number looked for.
const CORE_MAX: usize = 1_023;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LinkConfig;

    fn config(idle: Idle, cores: &[usize], queues: usize) -> Config {
        let link = LinkConfig { idle, ..LinkConfig::default() };
        Config { link, cores: cores.to_vec(), queues, ..Config::default() }
    }

    #[test]
    fn more_queues_than_cores_are_an_error_unless_they_sleep_and_are_not_pinned() {
        let refused = |idle, cores: &[usize], queues| {
            are_enough(&config(idle, cores, queues), 2).err().map(|e| e.to_string())
        };
        assert_eq!(refused(Idle::Sleep, &[], 64), None);
        assert_eq!(refused(Idle::Busy, &[], 2), None);
        assert_eq!(refused(Idle::Sleep, &[0, 1], 1), None);
        for text in [
            refused(Idle::Busy, &[], 3),
            refused(Idle::Pause, &[], 3),
            refused(Idle::Sleep, &[0, 1, 2], 1),
        ] {
            let text = text.unwrap();
            for part in ["3 ingest queues", "2 cores", "BLOOMRF_QUEUES", "idle = \"sleep\""] {
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[test]
    fn a_layout_that_costs_frames_is_warned_about_with_what_to_do() {
        let warnings = |idle, cores: &[usize]| of_layout(&config(idle, cores, 2), &[0, 1, 2]);
        assert_eq!(warnings(Idle::Sleep, &[]), [""; 0]);
        assert_eq!(warnings(Idle::Busy, &[1, 2]), [""; 0]);
        assert!(warnings(Idle::Pause, &[])[0].contains("BLOOMRF_CORES"));
        assert!(warnings(Idle::Sleep, &[1, 1])[0].contains("core 1 has two ingest queues"));
        assert!(warnings(Idle::Busy, &[0, 1, 2])[0].contains("all 3 cores"));
    }

    #[test]
    fn a_busy_core_is_told_with_its_share_and_whether_it_is_isolated() {
        let before = parse_stat("cpu  9 9\ncpu1 10 0 0 90 0 0 0 0 0 0\ncpu2 5 5 5 5 5 5 5 5 0 0\n");
        let after = parse_stat("cpu1 20 0 0 110 0 0 0 0 0 0\ncpu2 5 5 5 25 5 5 5 5 0 0\nintr 1\n");
        assert_eq!(busy_percent(1, &before, &after), Some(33));
        assert_eq!(busy_percent(2, &before, &after), Some(0));
        assert_eq!(busy_percent(3, &before, &after), None);
        assert_eq!(busy_percent(1, &before, &before), None);
        let warnings =
            |isolated: &str| of_company(&[1, 2, 3], &before, &after, &parse_list(isolated));
        let [text] = &warnings("")[..] else { panic!("one core has company") };
        assert!(text.contains("core 1 was busy 33 %") && text.contains("isolcpus=1"), "{text}");
        assert!(warnings("0-1\n")[0].contains("something is pinned"));
    }

    #[test]
    fn naps_are_exact_for_threads_started_within_and_for_nobody_else() {
        let slack = || current_timer_slack().unwrap();
        let before = slack();
        let of_thread = || thread::spawn(slack).join().unwrap();
        assert_eq!(with_exact_naps(Idle::Pause, of_thread), 1);
        assert_eq!((slack(), of_thread()), (before, before));
        assert_eq!(with_exact_naps(Idle::Sleep, of_thread), before);
    }

    #[test]
    fn lists_of_cores_are_read_as_the_system_writes_them() {
        assert_eq!(parse_list("2-4,7\n"), [2, 3, 4, 7]);
        assert_eq!(parse_list("\n"), [0; 0]);
        assert_eq!(parse_list("x,3-1,9-99999999999").len(), CORE_MAX - 8);
        assert!(!stat().is_empty() || cfg!(not(target_os = "linux")));
    }
}
