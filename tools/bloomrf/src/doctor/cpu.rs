//! The CPU: its kernel set, frequency and clock.

use bloomrf_node::config::Config;

use super::host::Host;
use super::report::Finding;
use super::wanted::Wanted;

/// Kernel sets from the portable one up, each with the flags that it needs beside those before it.
const SETS: [(&str, &[&str]); 4] = [
    ("scalar", &[]),
    ("avx2", &["avx2", "bmi1", "bmi2", "popcnt"]),
    ("avx512-no-vbmi", &["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
    ("avx512", &["avx512vbmi", "gfni"]),
];

/// Clocks that are read without a system call.
const FAST_CLOCKS: [&str; 4] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let findings = [
        Some(kernel_set(host, &wanted.config)),
        Some(governor(host)),
        turbo(host),
        Some(clock_source(host)),
    ];
    findings.into_iter().flatten().collect()
}

/// The best set that a CPU with these flags can run, and the flags that the next one lacks.
pub(super) fn best_set(flags: &[&str]) -> (&'static str, Vec<&'static str>) {
    let mut best = SETS[0].0;
    for (name, needs) in SETS {
        let lacks: Vec<_> = needs.iter().copied().filter(|flag| !flags.contains(flag)).collect();
        if !lacks.is_empty() {
            return (best, lacks);
        }
        best = name;
    }
    (best, Vec::new())
}

fn kernel_set(host: &Host, config: &Config) -> Finding {
    const CHECK: &str = "kernel_set";
    let Some(text) = host.field("/proc/cpuinfo", "flags") else {
        return Finding::ok(CHECK, "scalar runs: the other sets are for x86-64");
    };
    let flags: Vec<&str> = text.split_whitespace().collect();
    let (best, lacks) = best_set(&flags);
    let chosen = config.kernel.name();
    let rank = |name: &str| SETS.iter().position(|(set, _)| *set == name);
    if rank(chosen) < rank(best) {
        let says = format!("{chosen} runs, by the setting kernel; this CPU can run {best}");
        return Finding::warn(CHECK, says, "set kernel = \"auto\" (BLOOMRF_KERNEL)");
    }
    let why = match lacks.as_slice() {
        [] => "the best that there is".to_owned(),
        lacks => format!("a better one needs {}, which this CPU lacks", lacks.join(", ")),
    };
    let says = format!("{best} runs: {why}");
    // A guest shows what its host lets it show.
    if !lacks.is_empty() && flags.contains(&"hypervisor") {
        let mend = "give the guest the CPU of its host (libvirt: <cpu mode='host-passthrough'/>)";
        return Finding::warn(CHECK, format!("{says} or its hypervisor hides"), mend);
    }
    Finding::ok(CHECK, says)
}

fn governor(host: &Host) -> Finding {
    const CHECK: &str = "governor";
    let folder = "/sys/devices/system/cpu";
    let governors: Vec<(String, String)> = host
        .names(folder)
        .into_iter()
        .filter(|name| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok()))
        .filter_map(|cpu| {
            let governor = host.text(&format!("{folder}/{cpu}/cpufreq/scaling_governor"))?;
            Some((cpu, governor))
        })
        .collect();
    let slow: Vec<_> = governors.iter().filter(|(_, name)| name != "performance").collect();
    match slow.as_slice() {
        _ if governors.is_empty() => {
            Finding::ok(CHECK, "the frequency is not this system's to govern")
        }
        [] => Finding::ok(CHECK, format!("performance on all {} cores", governors.len())),
        [(cpu, name), ..] => Finding::warn(
            CHECK,
            format!("{} core(s) not at full frequency while idle ({cpu}: {name})", slow.len()),
            "cpupower frequency-set -g performance",
        ),
    }
}

fn turbo(host: &Host) -> Option<Finding> {
    const CHECK: &str = "turbo";
    let (intel, other) =
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "/sys/devices/system/cpu/cpufreq/boost");
    let (is_on, mend) = match (host.number(intel), host.number(other)) {
        (Some(off), _) => (off == 0, format!("echo 0 > {intel}")),
        (None, Some(on)) => (on != 0, format!("echo 1 > {other}")),
        (None, None) => return None,
    };
    Some(if is_on {
        Finding::ok(CHECK, "on: fast, and less steady where many cores are busy")
    } else {
        Finding::warn(CHECK, "off: steady, and slower than this CPU can be", mend)
    })
}

fn clock_source(host: &Host) -> Finding {
    const CHECK: &str = "clock_source";
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let Some(clock) = host.text(file) else {
        return Finding::warn(CHECK, "not known: sysfs is not there", "mount -t sysfs sysfs /sys");
    };
    if FAST_CLOCKS.contains(&clock.as_str()) {
        return Finding::ok(CHECK, format!("{clock}: read without a system call"));
    }
    let says = format!("{clock}: each look at the time is a slow read or a system call");
    Finding::warn(CHECK, says, format!("echo tsc > {file} (at boot: clocksource=tsc)"))
}
