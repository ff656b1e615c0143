//! The network: every interface with its driver, and the buffers of sockets.

use bloomrf_netio::link::LinkKind;

use super::host::Host;
use super::report::{Finding, Level};
use super::rights::has_capability;
use super::wanted::Wanted;

const NET: &str = "/sys/class/net";

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let mut findings: Vec<Finding> = host
        .names(NET)
        .iter()
        // `bonding_masters` is a file among the folders.
        .filter(|name| *name != "lo" && host.has(&format!("{NET}/{name}/operstate")))
        .map(|name| Interface::read(host, name).tell(wanted))
        .collect();
    if let Some(name) = wanted.interface()
        && !host.has(&format!("{NET}/{name}"))
    {
        let says = format!("link = \"{}\": there is no such interface", wanted.config.link.spec);
        findings.push(Finding::bad(wanted.needed(), "interface", says, "ip -br link").about(name));
    }
    if let Some(name) = wanted.interface() {
        findings.extend(addressed(host, name));
    }
    if wanted.kind() == LinkKind::Udp {
        findings.push(receive_buffer(host, wanted));
    }
    findings
}

/// What sysfs tells about an interface.
struct Interface {
    name: String,
    driver: Option<String>,
    is_up: bool,
    /// Mb/s.
    speed: Option<i64>,
    queues: usize,
    numa_node: Option<i64>,
}

impl Interface {
    fn read(host: &Host, name: &str) -> Self {
        let of = |file: &str| format!("{NET}/{name}/{file}");
        // Virtual devices say "unknown" and are up; IFF_UP is the lowest flag.
        let flags = host.text(&of("flags")).unwrap_or_default();
        let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
        let state = host.text(&of("operstate")).unwrap_or_default();
        Interface {
            name: name.to_owned(),
            driver: host.link(&of("device/driver")),
            is_up: flags & 1 == 1 && state != "down" && state != "lowerlayerdown",
            speed: host.number(&of("speed")).filter(|&speed| speed > 0),
            queues: host.names(&of("queues")).iter().filter(|q| q.starts_with("rx-")).count(),
            numa_node: host.number(&of("device/numa_node")).filter(|&node| node >= 0),
        }
    }

    fn tell(&self, wanted: &Wanted) -> Finding {
        let mut parts = vec![if self.is_up { "up" } else { "down" }.to_owned()];
        parts.push(self.driver.as_ref().map_or("virtual".to_owned(), |d| format!("driver {d}")));
        parts.extend(self.speed.map(|speed| format!("{speed} Mb/s")));
        parts.push(format!("{} receive queue(s)", self.queues));
        parts.extend(self.numa_node.map(|node| format!("NUMA node {node}")));
        let (name, says) = (&self.name, parts.join(", "));
        let finding = if wanted.interface() == Some(name) && !self.is_up {
            let mend = format!("ip link set {name} up (and look at its cable)");
            Finding::bad(wanted.needed(), "interface", says, mend)
        } else {
            Finding::ok("interface", says)
        };
        finding.about(name)
    }
}

/// Where the interface of a raw link has an address, the system's own stack handles each frame,
/// too: five times the work.
fn addressed(host: &Host, name: &str) -> Option<Finding> {
    let routes = host.text("/proc/net/route").unwrap_or_default();
    let v4 = routes.lines().skip(1).any(|line| line.split_whitespace().next() == Some(name));
    let six = host.text("/proc/net/if_inet6").unwrap_or_default();
    // Scope 20 is link-local, which every interface that is up gives itself.
    let global = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.last() == Some(&name) && words.get(3).is_some_and(|scope| *scope != "20")
    };
    (v4 || six.lines().any(global)).then(|| {
        let says = "it has addresses or routes: the system handles each frame a second time";
        let mend = format!("ip addr flush dev {name} (if nothing else needs it)");
        Finding::warn("interface_addresses", says, mend).about(name)
    })
}

fn receive_buffer(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "receive_buffer";
    let file = "/proc/sys/net/core/rmem_max";
    let asked = wanted.config.receive_buffer_bytes as u64;
    let Some(most) = host.number(file).and_then(|most| u64::try_from(most).ok()) else {
        return Finding::bad(
            Level::Warn,
            CHECK,
            "rmem_max cannot be read (in a network namespace it is the host's)",
            format!("on the host: sysctl -w net.core.rmem_max={asked}"),
        );
    };
    if most >= asked {
        return Finding::ok(CHECK, format!("{asked} B are asked for, up to {most} B are granted"));
    }
    let says = format!("{asked} B are asked for, and net.core.rmem_max grants {most} B");
    if has_capability(host, "CAP_NET_ADMIN") {
        return Finding::ok(CHECK, format!("{says}; CAP_NET_ADMIN goes past it"));
    }
    Finding::warn(CHECK, says, format!("sysctl -w net.core.rmem_max={asked}"))
}
