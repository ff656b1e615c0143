//! Machines that are spoilt in one respect, with what is said of them.

use bloomrf_kernels::Kernel;
use bloomrf_kernels::arena::PagesWanted;
use bloomrf_node::Config;
use bloomrf_node::config::Sandbox;

use super::super::examine;
use super::super::report::Finding;
use super::super::report::Level::{self, Fail, Ok, Warn};
use super::machine::{Machine, wanted};

/// A machine, settings, and the finding that they make.
struct Case {
    spoil: fn(&Machine, &mut Config),
    check: &'static str,
    level: Level,
    says: &'static str,
    mend: &'static str,
}

impl Case {
    /// Whether a finding is the one that is expected.
    fn is(&self, finding: &Finding) -> bool {
        (finding.check, finding.level) == (self.check, self.level)
            && finding.says.contains(self.says)
            && finding.mend.as_deref().unwrap_or_default().contains(self.mend)
    }
}

#[test]
fn each_check_tells_good_from_bad_and_what_nobody_stated_is_no_failure() {
    for case in CASES {
        let (machine, mut wanted) = (Machine::good(), wanted(true));
        (case.spoil)(&machine, &mut wanted.config);
        let report = examine(&machine.host(), &wanted);
        let Case { check, level, says, mend, .. } = case;
        let found = report.findings().any(|(_, finding)| case.is(finding));
        assert!(found, "{check} {level:?} {says:?} {mend:?}:\n{}", report.to_text());
        for (_, finding) in report.findings() {
            assert_eq!(finding.mend.is_some(), finding.level != Level::Ok, "{finding:?}");
            assert!(!finding.says.is_empty() && !finding.says.contains('\n'), "{finding:?}");
        }
        wanted.stated = false;
        let report = examine(&machine.host(), &wanted);
        assert!(!report.fails(), "{}", report.to_text());
    }
}

fn link(config: &mut Config, text: &str) {
    config.link.spec = text.parse().unwrap();
}

/// Queues on cores 2 and 3.
fn pinned(config: &mut Config) {
    config.cores = vec![2, 3];
}

const AVX512: &str = "avx2 bmi1 bmi2 popcnt avx512f avx512bw avx512cd avx512dq avx512vl";
const CARD: &str = "dpdk:03:00.0";
const CARD_FOLDER: &str = "/sys/bus/pci/devices/0000:03:00.0";

macro_rules! cases {
    ($($check:literal $level:ident $says:literal $mend:literal $spoil:expr;)*) => {
        &[$(Case { spoil: $spoil, check: $check, level: $level, says: $says, mend: $mend }),*]
    };
}

#[rustfmt::skip] // A table.
const CASES: &[Case] = cases! {
    "kernel_set" Warn "needs bmi1, bmi2, popcnt" "host-passthrough"
        |m, _| m.file("/proc/cpuinfo", "flags : avx2 hypervisor\n");
    "kernel_set" Ok "a better one needs avx512vbmi, gfni, which this CPU lacks" ""
        |m, _| m.file("/proc/cpuinfo", &format!("flags : {AVX512}\n"));
    "kernel_set" Ok "the other sets are for x86-64"
        "" |m, _| m.file("/proc/cpuinfo", "Features : neon\n");
    "kernel_set" Warn "scalar runs, by the setting"
        "kernel = \"auto\"" |_, c| c.kernel = Kernel::Scalar;
    "governor" Warn "1 core(s) not at full frequency while idle (cpu2: powersave)"
        "frequency-set -g performance"
        |m, _| m.file("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave");
    "turbo" Warn "off" "echo 1 > /sys/devices/system/cpu/cpufreq/boost"
        |m, _| m.file("/sys/devices/system/cpu/cpufreq/boost", "0");
    "turbo" Warn "slower than this CPU can be" "echo 0 >"
        |m, _| m.file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1");
    "clock_source" Warn "hpet" "echo tsc >"
        |m, _| m.file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");

    "cores" Fail "cores names 5, and 0-3 run" "set cores" |_, c| c.cores = vec![2, 5];
    "cores" Fail "this process may use 0-2" "taskset -c"
        |m, c| { pinned(c); m.file("/proc/self/status", "Cpus_allowed_list:\t0-2\n"); };
    "cores" Warn "all of 0-3 poll" "shorten cores" |_, c| c.cores = vec![0, 1, 2, 3];
    "cores" Warn "9 queue(s) not pinned" "queues = 4" |_, c| c.queues = 9;
    "isolcpus" Warn "poll core(s) 1 not among them" "isolcpus=1-2" |_, c| c.cores = vec![1, 2];
    "nohz_full" Warn "poll core(s) 2-3" "nohz_full=2-3"
        |m, c| { pinned(c); m.file("/proc/cmdline", "isolcpus=2-3"); };
    "rcu_nocbs" Warn "poll core(s) 0 not" "rcu_nocbs=0" |_, c| c.cores = vec![0];
    "isolcpus" Ok "2-3" ""
        |m, c| {
            pinned(c);
            m.file("/proc/cmdline", "");
            m.file("/sys/devices/system/cpu/isolated", "2-3");
        };
    "cores_shared" Warn "2 and 3 are two threads of one" "cpu3/online"
        |m, c| {
            pinned(c);
            m.file("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3");
        };
    "cores_shared" Warn "core 0 polls" "leave 0 out" |_, c| c.cores = vec![0];
    "irqbalance" Warn "runs (process 8)" "systemctl disable --now irqbalance"
        |m, c| { pinned(c); m.file("/proc/8/comm", "irqbalance\n"); };
    "irqbalance" Ok "no harm" "" |m, _| m.file("/proc/8/comm", "irqbalance\n");

    "memory" Fail "MiB for arena" "arena_memory" |_, c| c.arena_bytes = 1 << 40;
    "huge_pages_2m" Warn "3 of 4 free (node 0: 3 of 4); 9 for"
        "vm.nr_hugepages=10" |m, _| m.pages(2048, 4, 3);
    "huge_pages_2m" Warn "137 for arena and link" "vm.nr_hugepages=137"
        |m, c| { link(c, "dpdk:net_null0"); m.pages(2048, 64, 64); };
    "huge_pages_2m" Ok "; 0 for arena and link" ""
        |m, c| { c.pages = PagesWanted::Small; m.pages(2048, 0, 0); };
    "huge_pages_1g" Ok "2 of 2 free (node 0: 2 of 2)" "" |m, _| m.pages(1_048_576, 2, 2);
    "huge_pages_transparent" Warn "never" "echo madvise >"
        |m, _| m.file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
    "damon" Warn "kdamond.0 (process 9)"
        "kdamonds/0/state" |m, _| m.file("/proc/9/comm", "kdamond.0");
    "damon" Warn "damon_reclaim is on" "echo N > /sys/module/damon_reclaim"
        |m, _| m.file("/sys/module/damon_reclaim/parameters/enabled", "Y");
    "numa" Fail "numa_node = 3, and this machine has 0" "numa_node" |_, c| c.numa_node = Some(3);
    "numa" Warn "queues on node 1, filters wherever" "set numa_node = 1"
        |m, c| { pinned(c); two_nodes(m); };
    "numa" Warn "each access crosses over" "numa_node = 1, or cores to some of 0-1"
        |m, c| { pinned(c); two_nodes(m); c.numa_node = Some(0); };
    "numa" Warn "queues on nodes 0-1"
        "those of one node" |m, c| { two_nodes(m); c.cores = vec![1, 2]; };
    "numa" Ok "queues and filters on node 1" ""
        |m, c| { pinned(c); two_nodes(m); c.numa_node = Some(1); };
    "memlock" Fail "VFIO must lock 256 MiB" "LimitMEMLOCK=infinity" |_, c| link(c, CARD);
    "memlock" Ok "VFIO locks" ""
        |_, c| { link(c, CARD); c.link.dpdk_args = vec!["memory_mib=8".into()]; };

    "capability" Fail "wants it: raw frames" "setcap cap_net_raw+ep"
        |m, c| { link(c, "af_packet:eth1"); m.file("/proc/self/status", "CapEff:\t0\n"); };
    "capability" Fail "net_af_packet0,iface=eth1" "AmbientCapabilities=CAP_NET_RAW"
        |m, c| {
            link(c, "dpdk:net_af_packet0,iface=eth1");
            m.file("/proc/self/status", "CapEff:\t0\n");
        };
    "capability" Ok "not held, not needed" "" |m, _| m.file("/proc/self/status", "CapEff:\t0\n");

    "interface" Fail "there is no such interface"
        "ip -br link" |_, c| link(c, "af_packet:eth7,blocks=8");
    "interface" Fail "down, driver ice" "ip link set eth1 up"
        |m, c| { link(c, "af_packet:eth1"); m.interface("eth1", "down", "0x1002"); };
    "interface" Ok "down, driver ice" "" |m, _| m.interface("eth2", "down", "0x1002");
    "interface_addresses" Warn "addresses or routes" "ip addr flush dev eth1"
        |m, c| { link(c, "af_packet:eth1"); m.file("/proc/net/route", "Iface\neth1\t0001\n"); };
    "receive_buffer" Warn "grants 212992 B" "sysctl -w net.core.rmem_max=16777216"
        |m, _| {
            m.file("/proc/sys/net/core/rmem_max", "212992");
            m.file("/proc/self/status", "");
        };
    "receive_buffer" Ok "CAP_NET_ADMIN goes past it"
        "" |m, _| m.file("/proc/sys/net/core/rmem_max", "212992");

    "port" Fail "in use by named (process 7)" "set production_port"
        |m, c| {
            c.production_port = 53;
            m.file("/proc/7/comm", "named");
            m.link("/proc/7/fd/3", "socket:[99]");
        };
    "port" Fail "in use by another process" "set lookup_port" |_, c| c.lookup_port = Some(53);
    "port" Ok "free, for observability_port" "" |_, c| c.observability_port = 53;

    "dpdk_library" Fail "not installed" "apt-get install"
        |m, c| { link(c, CARD); m.remove("/usr/lib/x86_64-linux-gnu/librte_eal.so.23"); };
    "dpdk_library" Ok "no folder of drivers" "" |m, _| m.remove("/usr/lib/x86_64-linux-gnu/dpdk");
    "vfio" Fail "not loaded"
        "modprobe vfio-pci" |m, c| { link(c, CARD); m.remove("/sys/module/vfio_pci"); };
    "vfio" Ok "not needed" "" |m, _| m.remove("/sys/module/vfio_pci");
    "iommu" Fail "off or not there" "intel_iommu=on"
        |m, c| { link(c, CARD); m.remove("/sys/kernel/iommu_groups"); };
    "iommu" Warn "can write to all memory" "iommu=pt"
        |m, c| { link(c, CARD); m.remove("/sys/kernel/iommu_groups");
                 m.file("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y"); };
    "dpdk_device" Ok "bound to vfio-pci" "" |_, c| link(c, CARD);
    "dpdk_device" Ok "nothing to bind" ""
        |m, c| { link(c, CARD); m.remove("/sys/module/vfio_pci");
                 m.link(&format!("{CARD_FOLDER}/driver"), "../../drivers/mlx5_core"); };
    "dpdk_device" Fail "bound to ice" "driverctl set-override 0000:03:00.0 vfio-pci"
        |m, c| { link(c, CARD); m.link(&format!("{CARD_FOLDER}/driver"), "../../drivers/ice"); };
    "dpdk_device" Fail "bound to no driver" "driverctl"
        |m, c| { link(c, CARD); m.remove(&format!("{CARD_FOLDER}/driver")); };
    "dpdk_device" Fail "no such device" "lspci" |_, c| link(c, "dpdk:0001:05:00.1,mprq_en=1");

    "landlock" Warn "needs Linux 5.13" "newer kernel"
        |m, c| { c.sandbox = Sandbox::Try; m.file("/proc/sys/kernel/osrelease", "5.10.0"); };
    "landlock" Fail "not among the kernel's security modules" "lsm="
        |m, c| {
            c.sandbox = Sandbox::Require;
            m.file("/sys/kernel/security/lsm", "capability,apparmor");
        };
    "landlock" Ok "rules for TCP need Linux 6.7"
        "" |m, _| m.file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64");
    "seccomp" Fail "keep all system calls" "CONFIG_SECCOMP_FILTER"
        |m, c| { c.sandbox = Sandbox::Require; m.remove("/proc/sys/kernel/seccomp"); };
    "packet_sockets" Fail "has none" "modprobe af_packet"
        |m, c| { link(c, "af_packet:eth1"); m.remove("/proc/net/packet"); };
    "open_files" Warn "256" "ulimit -n"
        |m, _| m.file("/proc/self/limits", "Max open files   256   4096   files\n");

    "data_folder" Fail "/proc/cpuinfo is no folder" "set data_dir"
        |_, c| c.data_dir = "/proc/cpuinfo/filters".into();
    "data_folder" Ok "a node makes it" "" |_, c| c.data_dir = "/var/lib/other/filters".into();
    "disk" Warn "no true syncs" "local disk"
        |m, _| m.file("/proc/self/mounts", "a / ext4 rw\nb /var/lib nfs4 rw\n");
    "disk" Warn "gone after a restart" "on a disk"
        |m, _| m.file("/proc/self/mounts", "a / ext4 rw\nb /var tmpfs rw\n");
    "disk" Warn "files take up to" "make room" |_, c| c.arena_bytes = 1 << 55;
    "capture" Fail "/day.pcap cannot be read" "pcap:FILE" |_, c| link(c, "pcap:/day.pcap,loop");
    "capture" Ok "/proc/cmdline can be read" "" |_, c| link(c, "pcap:/proc/cmdline,loop");

    "settings" Warn "can be forged" "ingest_keys" |_, _| ();
    "settings" Ok "second look" "" |_, c| c.ingest_keys = Some("keys".into());
};

fn two_nodes(machine: &Machine) {
    machine.file("/sys/devices/system/node/online", "0-1");
    machine.file("/sys/devices/system/node/node0/cpulist", "0-1");
    machine.file("/sys/devices/system/node/node1/cpulist", "2-3");
}
