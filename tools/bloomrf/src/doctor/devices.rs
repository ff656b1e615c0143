//! DPDK and the devices that it drives: the library, VFIO, the IOMMU, the card.

use super::host::Host;
use super::report::{Finding, Level};
use super::wanted::Wanted;

/// Folders of shared libraries, as distributions have them.
const LIBRARY_FOLDERS: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/lib",
];

/// Drivers that DPDK uses beside the kernel's own, without VFIO.
const BIFURCATED: [&str; 3] = ["mlx5_core", "mlx4_core", "mana"];

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let mut findings = vec![built(wanted), library(host, wanted)];
    findings.extend([vfio(host, wanted), iommu(host, wanted)]);
    if let Some(address) = wanted.pci() {
        findings.push(device(host, wanted, &address));
    }
    findings
}

/// What something is worth that only a link of DPDK needs.
fn level(wanted: &Wanted, needed: bool) -> Option<Level> {
    (wanted.is_dpdk() && needed).then(|| wanted.needed())
}

fn built(wanted: &Wanted) -> Finding {
    const CHECK: &str = "dpdk_built";
    #[cfg(feature = "dpdk")]
    let version = Some(bloomrf_netio::link::dpdk::version());
    #[cfg(not(feature = "dpdk"))]
    let version: Option<String> = None;
    if let Some(version) = version {
        return Finding::ok(CHECK, format!("this program was built with DPDK and runs {version}"));
    }
    let says = "this program was built without DPDK";
    match level(wanted, true) {
        None => Finding::ok(CHECK, format!("{says}, and its link needs none")),
        Some(level) => {
            let mend = "cargo build --release --features dpdk (needs libdpdk-dev, 22.11 or newer)";
            Finding::bad(level, CHECK, says, mend)
        }
    }
}

fn library(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "dpdk_library";
    let found = LIBRARY_FOLDERS.iter().find_map(|folder| {
        let names = host.names(folder);
        let abi = names.iter().find_map(|name| name.strip_prefix("librte_eal.so."))?;
        let plugins = names.contains(&"dpdk".to_owned());
        Some((format!("{folder}/librte_eal.so.{abi}"), plugins))
    });
    match found {
        Some((file, true)) => Finding::ok(CHECK, format!("{file}, with its drivers beside it")),
        Some((file, false)) => {
            Finding::ok(CHECK, format!("{file}; no folder of drivers beside it"))
        }
        None => match level(wanted, true) {
            None => Finding::ok(CHECK, "not installed, and not needed"),
            Some(level) => Finding::bad(
                level,
                CHECK,
                "not installed",
                "apt-get install --no-install-recommends libdpdk-dev",
            ),
        },
    }
}

fn vfio(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "vfio";
    let module = host.has("/sys/module/vfio_pci");
    let groups = host.names("/dev/vfio").iter().filter(|name| *name != "vfio").count();
    if module && host.has("/dev/vfio/vfio") {
        return Finding::ok(CHECK, format!("vfio-pci is loaded, {groups} group(s) are bound"));
    }
    // A card with a bifurcated driver needs none.
    let needed = wanted.pci().is_some_and(|address| !is_bifurcated(host, &address));
    match level(wanted, needed) {
        None => Finding::ok(CHECK, "not loaded, and not needed"),
        Some(level) => {
            let says = "vfio-pci is not loaded: no card can be driven from here";
            Finding::bad(
                level,
                CHECK,
                says,
                "modprobe vfio-pci (at boot: deploy/modules-load.conf)",
            )
        }
    }
}

fn iommu(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "iommu";
    let groups = host.names("/sys/kernel/iommu_groups").len();
    if groups > 0 {
        return Finding::ok(CHECK, format!("on, {groups} groups"));
    }
    let unsafe_mode = host.text("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
    let needed = wanted.pci().is_some_and(|address| !is_bifurcated(host, &address));
    let mend = "add intel_iommu=on iommu=pt (AMD: iommu=pt) to the kernel's command line and \
                switch VT-d / AMD-Vi on in the firmware";
    match (unsafe_mode.as_deref(), level(wanted, needed)) {
        (_, None) => Finding::ok(CHECK, "off or not there, and not needed"),
        (Some("Y" | "1"), Some(_)) => {
            let says = "off, and VFIO runs without it: the card can write to all memory";
            Finding::warn(CHECK, says, mend)
        }
        (_, Some(level)) => Finding::bad(
            level,
            CHECK,
            "off or not there: VFIO does not hand out the card",
            format!("{mend}; or, unsafe: modprobe vfio enable_unsafe_noiommu_mode=1"),
        ),
    }
}

fn driver(host: &Host, address: &str) -> Option<String> {
    host.link(&format!("/sys/bus/pci/devices/{address}/driver"))
}

fn is_bifurcated(host: &Host, address: &str) -> bool {
    driver(host, address).is_some_and(|driver| BIFURCATED.contains(&driver.as_str()))
}

fn device(host: &Host, wanted: &Wanted, address: &str) -> Finding {
    const CHECK: &str = "dpdk_device";
    let folder = format!("/sys/bus/pci/devices/{address}");
    let mend = format!("driverctl set-override {address} vfio-pci (docs/OPERATIONS.md)");
    let finding = if !host.has(&folder) {
        let says = "there is no such device on the PCI bus";
        Finding::bad(wanted.needed(), CHECK, says, "lspci -D | grep -i ethernet")
    } else if is_bifurcated(host, address) {
        Finding::ok(CHECK, "its own driver serves DPDK, too: nothing to bind")
    } else {
        match driver(host, address).as_deref() {
            Some("vfio-pci") => Finding::ok(CHECK, "bound to vfio-pci"),
            Some(name) => {
                let says = format!("bound to {name}: the system has it, and DPDK cannot");
                Finding::bad(wanted.needed(), CHECK, says, mend)
            }
            None => Finding::bad(wanted.needed(), CHECK, "bound to no driver", mend),
        }
    };
    finding.about(address)
}
