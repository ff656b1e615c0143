//! Memory: huge pages, who takes them away, NUMA nodes, the lock limit.

use bloomrf_kernels::arena::PagesWanted;

use super::core_list::CoreList;
use super::host::Host;
use super::report::Finding;
use super::rights::has_capability;
use super::wanted::Wanted;

const NODES: &str = "/sys/devices/system/node";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let mut findings = vec![available(host, wanted)];
    findings.extend(huge_2m(host, wanted));
    findings.extend(huge_1g(host));
    findings.push(transparent(host, wanted));
    findings.push(damon(host));
    findings.push(numa(host, wanted));
    findings.push(memlock(host, wanted));
    findings
}

/// A field of `/proc/meminfo`: KiB, or a count.
fn meminfo(host: &Host, name: &str) -> Option<u64> {
    host.field("/proc/meminfo", name)?.split_whitespace().next()?.parse().ok()
}

fn available(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "memory";
    let Some(free_mib) = meminfo(host, "MemAvailable").map(|kib| kib / 1024) else {
        return Finding::warn(CHECK, "/proc/meminfo cannot be read", "mount -t proc proc /proc");
    };
    let reserved_mib = meminfo(host, "HugePages_Free").unwrap_or(0) * 2;
    let needed = wanted.arena_mib() + wanted.dpdk_mib();
    let says = format!(
        "{free_mib} MiB available and {reserved_mib} MiB in free huge pages; {needed} MiB for \
         arena and link, beside open batches"
    );
    if free_mib + reserved_mib < needed {
        let mend = format!("set arena_memory to at most {}M", (free_mib + reserved_mib) / 2);
        return Finding::bad(wanted.needed(), CHECK, says, mend);
    }
    Finding::ok(CHECK, says)
}

/// Reserved and free pages of `size_kib`, as a whole and node by node.
struct Reserved {
    total: u64,
    free: u64,
    by_node: String,
}

fn reserved(host: &Host, size_kib: u64) -> Option<Reserved> {
    let count = |folder: &str, name: &str| {
        host.number(&format!("{folder}/hugepages-{size_kib}kB/{name}"))?.try_into().ok()
    };
    let whole = "/sys/kernel/mm/hugepages";
    let (total, free) = (count(whole, "nr_hugepages")?, count(whole, "free_hugepages")?);
    let nodes = host.names(NODES).into_iter().filter_map(|node| {
        let number: u32 = node.strip_prefix("node")?.parse().ok()?;
        let folder = format!("{NODES}/{node}/hugepages");
        let (total, free) = (count(&folder, "nr_hugepages")?, count(&folder, "free_hugepages")?);
        Some(format!("node {number}: {free} of {total}"))
    });
    Some(Reserved { total, free, by_node: nodes.collect::<Vec<_>>().join(", ") })
}

fn huge_2m(host: &Host, wanted: &Wanted) -> Option<Finding> {
    const CHECK: &str = "huge_pages_2m";
    let arena = match wanted.config.pages {
        PagesWanted::Auto => wanted.arena_mib(),
        _ => 0,
    };
    let needed = (arena + wanted.dpdk_mib()).div_ceil(2);
    let Some(Reserved { total, free, by_node }) = reserved(host, 2048) else {
        let says = "this system has none: filters lie on ordinary pages";
        return Some(Finding::warn(CHECK, says, "use a kernel with CONFIG_HUGETLBFS"));
    };
    let says = format!("{free} of {total} free ({by_node}); {needed} for arena and link");
    if free >= needed {
        return Some(Finding::ok(CHECK, says));
    }
    let reserve = total + needed - free;
    let mend = format!("sysctl -w vm.nr_hugepages={reserve} (at boot: deploy/hugepages.service)");
    Some(Finding::warn(CHECK, says, mend))
}

/// Nothing of ours needs them; DPDK takes them where they are.
fn huge_1g(host: &Host) -> Option<Finding> {
    let Reserved { total, free, by_node } = reserved(host, 1_048_576)?;
    let says = match total {
        0 => "none reserved, and none needed".to_owned(),
        _ => format!("{free} of {total} free ({by_node})"),
    };
    Some(Finding::ok("huge_pages_1g", says))
}

fn transparent(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "huge_pages_transparent";
    let text = host.text(THP).unwrap_or_default();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split(']').next());
    match chosen {
        Some(mode @ ("always" | "madvise")) => {
            Finding::ok(CHECK, format!("{mode}: open filters lie on them"))
        }
        _ if wanted.config.pages == PagesWanted::Small => {
            Finding::ok(CHECK, "off, and pages = \"small\" wants none")
        }
        Some(mode) => Finding::warn(
            CHECK,
            format!("{mode}: open filters lie on small pages, ingest is slower"),
            format!("echo madvise > {THP}"),
        ),
        None => Finding::warn(
            CHECK,
            "this system has none: open filters lie on small pages",
            "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE",
        ),
    }
}

/// DAMON may be told to reclaim what nobody touched for a while: filters of batches about which
/// nobody asked are exactly that, and the question that comes then waits for page faults.
fn damon(host: &Host) -> Finding {
    const CHECK: &str = "damon";
    let by_module = ["damon_reclaim", "damon_lru_sort"].into_iter().find(|module| {
        let enabled = host.text(&format!("/sys/module/{module}/parameters/enabled"));
        enabled.is_some_and(|value| value.eq_ignore_ascii_case("y"))
    });
    if let Some(module) = by_module {
        let says = format!("{module} is on and takes pages that were not touched for a while");
        let mend = format!("echo N > /sys/module/{module}/parameters/enabled");
        return Finding::warn(CHECK, says, mend);
    }
    match host.processes("kdamond").first() {
        Some((pid, name)) => Finding::warn(
            CHECK,
            format!("{name} (process {pid}) runs and may take pages that are seldom touched"),
            "echo off > /sys/kernel/mm/damon/admin/kdamonds/0/state, or reserve 2 MiB pages, \
             which it leaves alone",
        ),
        None => Finding::ok(CHECK, "does not run"),
    }
}

fn numa(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "numa";
    let nodes = CoreList::parse(&host.text(&format!("{NODES}/online")).unwrap_or_default());
    let cores_of = |node: usize| {
        CoreList::parse(&host.text(&format!("{NODES}/node{node}/cpulist")).unwrap_or_default())
    };
    if let Some(node) = wanted.config.numa_node.filter(|&node| !nodes.has(node as usize)) {
        let says = format!("numa_node = {node}, and this machine has {nodes}");
        return Finding::bad(
            wanted.needed(),
            CHECK,
            says,
            format!("set numa_node to one of {nodes}"),
        );
    }
    if nodes.len() < 2 {
        return Finding::ok(CHECK, "one node: all memory is equally near");
    }
    let used: CoreList = wanted
        .cores()
        .iter()
        .filter_map(|core| nodes.iter().find(|&node| cores_of(node).has(core)))
        .collect();
    let says = format!("{} nodes", nodes.len());
    match (used.len(), wanted.config.numa_node) {
        (0, _) => Finding::ok(CHECK, format!("{says}; no queue is pinned")),
        (1, None) => Finding::warn(
            CHECK,
            format!("{says}, queues on node {used}, filters wherever they are touched first"),
            format!("set numa_node = {used}"),
        ),
        (1, Some(node)) if used.has(node as usize) => {
            Finding::ok(CHECK, format!("{says}; queues and filters on node {node}"))
        }
        (1, Some(node)) => Finding::warn(
            CHECK,
            format!("queues on node {used}, filters on node {node}: each access crosses over"),
            format!("set numa_node = {used}, or cores to some of {}", cores_of(node as usize)),
        ),
        (_, _) => Finding::warn(
            CHECK,
            format!("queues on nodes {used}: filters are far from some of them"),
            "set cores to those of one node, the network card's",
        ),
    }
}

fn memlock(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "memlock";
    let text = host.text("/proc/self/limits").unwrap_or_default();
    let row = text.lines().find_map(|line| line.strip_prefix("Max locked memory"));
    let limit = row.and_then(|row| row.split_whitespace().next()).unwrap_or("0");
    let bytes = limit.parse::<u64>().unwrap_or(if limit == "unlimited" { u64::MAX } else { 0 });
    let shown = match bytes {
        u64::MAX => "unlimited".to_owned(),
        bytes => format!("{} KiB", bytes >> 10),
    };
    if wanted.pci().is_none() {
        return Finding::ok(CHECK, format!("{shown}; this link locks no memory"));
    }
    if bytes >> 20 >= wanted.dpdk_mib() || has_capability(host, "CAP_IPC_LOCK") {
        return Finding::ok(CHECK, format!("{shown}; VFIO locks what the card writes to"));
    }
    let says = format!("{shown}: VFIO must lock {} MiB for the card", wanted.dpdk_mib());
    Finding::bad(
        wanted.needed(),
        CHECK,
        says,
        "ulimit -l unlimited (systemd: LimitMEMLOCK=infinity)",
    )
}
