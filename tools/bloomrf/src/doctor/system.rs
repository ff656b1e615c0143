//! What the kernel can: its version, the sandbox's parts, packet sockets, limits.

use bloomrf_netio::link::LinkKind;
use bloomrf_node::config::Sandbox;

use super::host::Host;
use super::report::{Finding, Level};
use super::wanted::Wanted;

/// First version with Landlock, and with rules for TCP.
const LANDLOCK: (u32, u32) = (5, 13);
const LANDLOCK_TCP: (u32, u32) = (6, 7);
/// Files that a node has open at most, roughly: HTTP and TCP connections, sockets, the disk.
const OPEN_FILES: u64 = 1024;

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let release = host.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = version(&release);
    let mut findings = vec![Finding::ok("kernel", format!("Linux {release}"))];
    findings.push(landlock(host, wanted, version));
    findings.push(seccomp(host, wanted));
    if wanted.kind() == LinkKind::AfPacket || host.has("/proc/net/packet") {
        findings.push(packet_sockets(host, wanted));
    }
    findings.push(open_files(host));
    findings
}

/// Major and minor of a release such as `6.1.0-18-amd64`.
fn version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// How bad it is that a part of the sandbox is missing; `None`: nobody wants it.
fn of_sandbox(wanted: &Wanted) -> Option<Level> {
    match wanted.config.sandbox {
        Sandbox::Off => None,
        Sandbox::Try => Some(Level::Warn),
        Sandbox::Require => Some(wanted.needed()),
    }
}

fn landlock(host: &Host, wanted: &Wanted, version: (u32, u32)) -> Finding {
    const CHECK: &str = "landlock";
    let modules = host.text("/sys/kernel/security/lsm");
    let is_on = modules.as_ref().map(|list| list.split(',').any(|module| module == "landlock"));
    let lacks = |says: &str, mend: &str| match of_sandbox(wanted) {
        None => Finding::ok(CHECK, format!("{says}; sandbox = \"off\"")),
        Some(level) => Finding::bad(level, CHECK, says, mend),
    };
    if version < LANDLOCK {
        return lacks("needs Linux 5.13: files are not confined", "use a newer kernel");
    }
    match is_on {
        Some(false) => lacks(
            "not among the kernel's security modules: files are not confined",
            "add landlock to lsm= on the kernel's command line",
        ),
        Some(true) if version < LANDLOCK_TCP => {
            Finding::ok(CHECK, "on, for files; rules for TCP need Linux 6.7")
        }
        Some(true) => Finding::ok(CHECK, "on, for files and TCP"),
        None => Finding::ok(CHECK, "this kernel is new enough; whether it is on says a node's log"),
    }
}

fn seccomp(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "seccomp";
    let actions = host.text("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let enough = ["kill_process", "errno"].iter().all(|a| actions.split(' ').any(|w| w == *a));
    match (enough, of_sandbox(wanted)) {
        (true, _) => Finding::ok(CHECK, "on"),
        (false, None) => Finding::ok(CHECK, "not there; sandbox = \"off\""),
        (false, Some(level)) => Finding::bad(
            level,
            CHECK,
            "not there: threads keep all system calls",
            "use a kernel with CONFIG_SECCOMP_FILTER, Linux 4.14 or newer",
        ),
    }
}

fn packet_sockets(host: &Host, wanted: &Wanted) -> Finding {
    const CHECK: &str = "packet_sockets";
    if host.has("/proc/net/packet") {
        return Finding::ok(CHECK, "there: link = \"af_packet:...\" can be had");
    }
    let says = "this kernel has none, or has not loaded them";
    Finding::bad(wanted.needed(), CHECK, says, "modprobe af_packet")
}

fn open_files(host: &Host) -> Finding {
    const CHECK: &str = "open_files";
    let text = host.text("/proc/self/limits").unwrap_or_default();
    let row = text.lines().find_map(|line| line.strip_prefix("Max open files"));
    let limit = row.and_then(|row| row.split_whitespace().next()).unwrap_or("unlimited");
    match limit.parse::<u64>() {
        Ok(most) if most < OPEN_FILES => {
            let says = format!("{most}: connections may be refused");
            Finding::warn(CHECK, says, "ulimit -n 4096 (systemd: LimitNOFILE=4096)")
        }
        _ => Finding::ok(CHECK, format!("up to {limit}")),
    }
}
