//! A machine made of files: one that is as it should be, to be spoilt by a test.

use std::fs;
use std::path::Path;

use bloomrf_node::Config;
use tempfile::TempDir;

use super::super::host::Host;
use super::super::wanted::Wanted;

/// Files below a folder of its own.
pub(super) struct Machine {
    root: TempDir,
}

const FLAGS: &str = "fpu avx2 bmi1 bmi2 popcnt avx512f avx512bw avx512cd avx512dq avx512vl \
                     avx512vbmi gfni hypervisor";

impl Machine {
    /// With nothing at all.
    pub(super) fn empty() -> Self {
        // Some thousand small files: in memory, where there is such a folder.
        let root = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        Machine { root: root.unwrap() }
    }

    /// As a node likes it: four cores of which two are kept apart, pages, a card bound to VFIO.
    pub(super) fn good() -> Self {
        let machine = Machine::empty();
        for (path, text) in [
            ("/proc/cpuinfo", format!("processor\t: 0\nflags\t\t: {FLAGS}\n").as_str()),
            ("/proc/cmdline", "quiet isolcpus=managed_irq,2-3 nohz_full=2-3 rcu_nocbs=all\n"),
            (
                "/proc/meminfo",
                "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nHugePages_Free: 64\n",
            ),
            ("/proc/self/status", "CapEff:\t0000000000003000\nCpus_allowed_list:\t0-3\n"),
            ("/proc/self/mounts", "/dev/sda / ext4 rw 0 0\nproc /proc proc rw 0 0\n"),
            ("/proc/self/limits", LIMITS),
            ("/proc/1/comm", "init\n"),
            ("/proc/net/packet", "sk RefCnt\n"),
            ("/proc/net/route", "Iface Destination\neth0 00000000\n"),
            ("/proc/net/if_inet6", "fe800000 02 40 20 80 eth1\n"),
            ("/proc/net/udp", SOCKETS),
            ("/proc/net/tcp6", SOCKETS),
            ("/proc/sys/net/core/rmem_max", "33554432\n"),
            ("/proc/sys/kernel/osrelease", "6.8.0-41-generic\n"),
            ("/proc/sys/kernel/seccomp/actions_avail", "kill_process trap errno log allow\n"),
            ("/sys/kernel/security/lsm", "lockdown,capability,landlock,yama"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("/sys/kernel/iommu_groups/12/type", "DMA\n"),
            ("/sys/module/vfio_pci/refcnt", "1\n"),
            ("/dev/vfio/vfio", ""),
            ("/dev/vfio/12", ""),
            ("/usr/lib/x86_64-linux-gnu/librte_eal.so.23", ""),
            ("/usr/lib/x86_64-linux-gnu/dpdk/pmds-23.0/librte_net_null.so", ""),
            ("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x8086\n"),
            ("/sys/devices/system/cpu/online", "0-3\n"),
            ("/sys/devices/system/cpu/cpufreq/boost", "1\n"),
            ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("/sys/devices/system/node/online", "0\n"),
            ("/sys/devices/system/node/node0/cpulist", "0-3\n"),
            ("/sys/class/net/bonding_masters", ""),
        ] {
            machine.file(path, text);
        }
        for core in 0..4 {
            let folder = format!("/sys/devices/system/cpu/cpu{core}");
            machine.file(&format!("{folder}/cpufreq/scaling_governor"), "performance\n");
            machine.file(&format!("{folder}/topology/thread_siblings_list"), &core.to_string());
        }
        machine.pages(2048, 64, 64);
        machine.pages(1_048_576, 0, 0);
        machine.link("/sys/bus/pci/devices/0000:03:00.0/driver", "../../drivers/vfio-pci");
        machine.interface("eth1", "up", "0x1003");
        machine.folder("/var/lib/fermihdi/bloomrf");
        machine
    }

    pub(super) fn host(&self) -> Host {
        Host::below(self.root.path())
    }

    pub(super) fn file(&self, path: &str, text: &str) {
        let path = self.host().path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn folder(&self, path: &str) {
        fs::create_dir_all(self.host().path(path)).unwrap();
    }

    pub(super) fn link(&self, path: &str, target: &str) {
        let path = self.host().path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(Path::new(target), path).unwrap();
    }

    pub(super) fn remove(&self, path: &str) {
        let path = self.host().path(path);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    /// Reserved pages of a size, all on node 0.
    pub(super) fn pages(&self, kib: u64, total: u64, free: u64) {
        for folder in ["/sys/kernel/mm/hugepages", "/sys/devices/system/node/node0/hugepages"] {
            self.file(&format!("{folder}/hugepages-{kib}kB/nr_hugepages"), &total.to_string());
            self.file(&format!("{folder}/hugepages-{kib}kB/free_hugepages"), &free.to_string());
        }
    }

    pub(super) fn interface(&self, name: &str, state: &str, flags: &str) {
        let folder = format!("/sys/class/net/{name}");
        for (file, text) in
            [("operstate", state), ("flags", flags), ("speed", "25000"), ("device/numa_node", "0")]
        {
            self.file(&format!("{folder}/{file}"), text);
        }
        self.folder(&format!("{folder}/queues/rx-0"));
        self.folder(&format!("{folder}/queues/rx-1"));
        self.folder(&format!("{folder}/queues/tx-0"));
        self.link(&format!("{folder}/device/driver"), "../../bus/pci/drivers/ice");
    }
}

/// A small node: 18 MiB of arena, so that no disk is too small for it.
pub(super) fn wanted(stated: bool) -> Wanted {
    Wanted { config: Config { arena_bytes: 16 << 20, ..Config::default() }, stated }
}

const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max open files            4096                 4096                 files
Max locked memory         8388608              8388608              bytes
";

/// 53 is in use, by a socket that one finds at process 7 in some tests.
const SOCKETS: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
  7: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 99 2 0 0
";
