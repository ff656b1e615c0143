//! What the node is to be: its settings, and what follows from them for the machine.

use bloomrf_netio::link::LinkKind;
use bloomrf_node::Config;

use super::core_list::CoreList;
use super::report::Level;

/// Settings of a node, and whether somebody wrote them down.
pub(super) struct Wanted {
    pub(super) config: Config,
    /// From a file: what they ask for and cannot have is a failure. Else they are the defaults, and
    /// nobody asked for them.
    pub(super) stated: bool,
}

/// MiB of DPDK's memory where `dpdk_args` does not say.
const DPDK_MEMORY_MIB: u64 = 256;

impl Wanted {
    /// Of something that a node with these settings cannot do without.
    pub(super) fn needed(&self) -> Level {
        if self.stated { Level::Fail } else { Level::Warn }
    }

    pub(super) fn kind(&self) -> LinkKind {
        self.config.link.spec.kind
    }

    pub(super) fn is_dpdk(&self) -> bool {
        self.kind() == LinkKind::Dpdk
    }

    /// Cores that queues are pinned to.
    pub(super) fn cores(&self) -> CoreList {
        self.config.cores.iter().copied().collect()
    }

    /// The network interface that the link receives on, where it is one of Linux.
    pub(super) fn interface(&self) -> Option<&str> {
        let mut words = self.config.link.spec.argument.split(',');
        match self.kind() {
            LinkKind::AfPacket => words.next().map(str::trim),
            LinkKind::Dpdk => words.find_map(|word| {
                let (key, value) = word.split_once('=')?;
                (key.ends_with("iface") || key == "rx_iface_in").then_some(value)
            }),
            _ => None,
        }
    }

    /// The PCI address of DPDK's device, with its domain, where it is on that bus.
    pub(super) fn pci(&self) -> Option<String> {
        let device = self.config.link.spec.argument.split(',').next().unwrap_or_default();
        if !self.is_dpdk() || !device.contains(':') {
            return None;
        }
        let whole = device.matches(':').count() > 1;
        Some(if whole { device.to_owned() } else { format!("0000:{device}") })
    }

    /// MiB that DPDK takes, 0 without it.
    pub(super) fn dpdk_mib(&self) -> u64 {
        if !self.is_dpdk() {
            return 0;
        }
        let stated = |argument: &String| argument.strip_prefix("memory_mib=")?.parse().ok();
        self.config.link.dpdk_args.iter().find_map(stated).unwrap_or(DPDK_MEMORY_MIB)
    }

    /// MiB of the store's arena as it is mapped: an eighth more than is counted.
    pub(super) fn arena_mib(&self) -> u64 {
        let bytes = self.config.arena_bytes as u64;
        (bytes + bytes / 8).div_ceil(1 << 20)
    }
}
