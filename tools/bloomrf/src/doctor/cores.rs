//! The cores that queues are pinned to: there, apart, and left alone by everything else.

use super::core_list::CoreList;
use super::host::Host;
use super::report::Finding;
use super::wanted::Wanted;

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let cores = wanted.cores();
    let mut findings = vec![present(host, wanted, &cores)];
    findings.extend(isolation(host, &cores));
    if !cores.is_empty() {
        findings.push(shared(host, &cores));
    }
    findings.push(irqbalance(host, &cores));
    findings
}

/// Cores that run, and that this process may use.
fn usable(host: &Host) -> CoreList {
    let list = host.text("/sys/devices/system/cpu/online").or_else(|| allowed(host));
    CoreList::parse(&list.unwrap_or_default())
}

fn allowed(host: &Host) -> Option<String> {
    host.field("/proc/self/status", "Cpus_allowed_list")
}

fn present(host: &Host, wanted: &Wanted, cores: &CoreList) -> Finding {
    const CHECK: &str = "cores";
    let online = usable(host);
    let queues = wanted.config.queue_count();
    if cores.is_empty() {
        let says = format!("{queues} queue(s) not pinned; {} core(s) run: {online}", online.len());
        if queues > online.len() && !online.is_empty() {
            return Finding::warn(CHECK, says, format!("set queues = {}", online.len()));
        }
        return Finding::ok(CHECK, says);
    }
    let missing = cores.without(&online);
    if !missing.is_empty() {
        return Finding::bad(
            wanted.needed(),
            CHECK,
            format!("cores names {missing}, and {online} run"),
            format!(
                "set cores to some of {online}, or switch {missing} on in /sys/devices/system/cpu"
            ),
        );
    }
    if let Some(allowed) = allowed(host).map(|list| CoreList::parse(&list)) {
        let outside = cores.without(&allowed);
        if !outside.is_empty() {
            return Finding::bad(
                wanted.needed(),
                CHECK,
                format!("cores names {outside}, and this process may use {allowed}"),
                format!("taskset -c {online} ... (systemd: CPUAffinity=, AllowedCPUs=)"),
            );
        }
    }
    if online.without(cores).is_empty() {
        let mend = "leave a core to the responder, seal and control: shorten cores";
        return Finding::warn(CHECK, format!("all of {online} poll, none is left"), mend);
    }
    Finding::ok(CHECK, format!("{queues} queue(s) on {cores}, of {online} that run"))
}

/// `isolcpus`, `nohz_full`, `rcu_nocbs`: what keeps the scheduler, the tick and RCU away.
fn isolation(host: &Host, cores: &CoreList) -> Vec<Finding> {
    let line = host.text("/proc/cmdline").unwrap_or_default();
    let parameters = [
        ("isolcpus", "isolcpus", "other threads are scheduled there"),
        ("nohz_full", "nohz_full", "a timer interrupts it up to 1,000 times a second"),
        ("rcu_nocbs", "rcu_nocbs", "the kernel's deferred work runs there"),
    ];
    parameters
        .map(|(check, name, otherwise)| {
            let value = |word: &str| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
            let stated = line.split_whitespace().find_map(value);
            // What runs may differ from what was asked for at boot.
            let file = format!("/sys/devices/system/cpu/{}", name.replace("isolcpus", "isolated"));
            let listed = stated.or_else(|| host.text(&file)).unwrap_or_default();
            // `all` is every core but the first.
            let set = match listed.as_str() {
                "all" => usable(host).iter().filter(|&core| core > 0).collect(),
                list => CoreList::parse(list),
            };
            let open = cores.without(&set);
            if open.is_empty() {
                let set = if set.is_empty() { "no core".to_owned() } else { set.to_string() };
                let pinned = if cores.is_empty() { "; no queue is pinned" } else { "" };
                return Finding::ok(check, format!("{set}{pinned}"));
            }
            let says = format!("poll core(s) {open} not among them: {otherwise}");
            Finding::warn(
                check,
                says,
                format!(
                    "add {name}={cores} to the kernel's command line (GRUB_CMDLINE_LINUX), boot"
                ),
            )
        })
        .into()
}

/// Two poll threads on one physical core halve each other.
fn shared(host: &Host, cores: &CoreList) -> Finding {
    const CHECK: &str = "cores_shared";
    let siblings = |core: usize| {
        let file = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
        CoreList::parse(&host.text(&file).unwrap_or_default())
    };
    for core in cores.iter() {
        let both: CoreList = siblings(core).iter().filter(|&other| other != core).collect();
        if let Some(other) = both.iter().find(|&other| cores.has(other)) {
            return Finding::warn(
                CHECK,
                format!("poll cores {core} and {other} are two threads of one physical core"),
                format!(
                    "leave {other} out of cores, and idle: \
                     echo 0 > /sys/devices/system/cpu/cpu{other}/online"
                ),
            );
        }
    }
    if cores.has(0) {
        let mend = "leave 0 out of cores: interrupts and the system's own work go there first";
        return Finding::warn(CHECK, "core 0 polls, and the system works there", mend);
    }
    Finding::ok(CHECK, "no two of them are threads of one physical core")
}

fn irqbalance(host: &Host, cores: &CoreList) -> Finding {
    const CHECK: &str = "irqbalance";
    match host.processes("irqbalance").first() {
        Some((pid, _)) if !cores.is_empty() => Finding::warn(
            CHECK,
            format!("runs (process {pid}) and may move interrupts to poll cores {cores}"),
            format!("systemctl disable --now irqbalance (or IRQBALANCE_BANNED_CPULIST={cores})"),
        ),
        Some(_) => Finding::ok(CHECK, "runs; no queue is pinned, so it does no harm"),
        None => Finding::ok(CHECK, "does not run"),
    }
}
