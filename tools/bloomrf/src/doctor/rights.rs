//! What this process may do, by its capabilities and those of its file.

use bloomrf_netio::link::LinkKind;

use super::host::Host;
use super::report::{Finding, Level};
use super::wanted::Wanted;

/// Capabilities that some link wants, with their bit and what for.
const CAPABILITIES: [(&str, u32, &str); 4] = [
    ("CAP_NET_RAW", 13, "raw frames of an interface"),
    ("CAP_NET_ADMIN", 12, "receive buffers past rmem_max, some drivers' settings"),
    ("CAP_IPC_LOCK", 14, "huge pages and locked memory past the limit"),
    ("CAP_SYS_NICE", 23, "real-time and NUMA choices of DPDK"),
];

/// Extended attribute in which a file keeps its capabilities.
const FILE_CAPABILITIES: &str = "security.capability";

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let held = held(host);
    let of_file = file_capabilities(host);
    let findings = CAPABILITIES.map(|(name, bit, what)| {
        let has = held & (1 << bit) != 0;
        let in_file = of_file & (1 << bit) != 0;
        let finding = match (has, level(wanted, name)) {
            (true, _) => Finding::ok("capability", format!("held: {what}")),
            (false, None) => Finding::ok("capability", format!("not held, not needed: {what}")),
            (false, Some(level)) => Finding::bad(
                level,
                "capability",
                format!("not held, and link = \"{}\" wants it: {what}", wanted.config.link.spec),
                mend(name),
            ),
        };
        let finding = if in_file {
            Finding { says: format!("{}; the program's file grants it", finding.says), ..finding }
        } else {
            finding
        };
        finding.about(name)
    });
    findings.into()
}

/// How much a missing capability matters; `None`: not at all.
fn level(wanted: &Wanted, name: &str) -> Option<Level> {
    let is_raw =
        wanted.kind() == LinkKind::AfPacket || (wanted.is_dpdk() && wanted.interface().is_some());
    match name {
        "CAP_NET_RAW" if is_raw => Some(wanted.needed()),
        "CAP_IPC_LOCK" if wanted.pci().is_some() => Some(Level::Warn),
        _ => None,
    }
}

fn mend(name: &str) -> String {
    let low = name.to_ascii_lowercase();
    format!("setcap {low}+ep /usr/local/bin/bloomrf (systemd: AmbientCapabilities={name})")
}

fn held(host: &Host) -> u64 {
    let text = host.field("/proc/self/status", "CapEff").unwrap_or_default();
    u64::from_str_radix(&text, 16).unwrap_or(0)
}

/// Whether this process holds the capability of that name.
pub(super) fn has_capability(host: &Host, name: &str) -> bool {
    CAPABILITIES.iter().any(|(known, bit, _)| *known == name && held(host) & (1 << bit) != 0)
}

/// What the file of this program grants; nothing where it has no such attribute.
fn file_capabilities(host: &Host) -> u64 {
    let mut room = [0_u8; 32];
    let path = host.path("/proc/self/exe");
    let length = rustix::fs::getxattr(path, FILE_CAPABILITIES, &mut room[..]).unwrap_or(0);
    permitted(room.get(..length).unwrap_or_default())
}

/// The permitted set in the attribute: a word of version and flags, then pairs of words (permitted,
/// inheritable), low half first.
fn permitted(attribute: &[u8]) -> u64 {
    let word = |index: usize| {
        let bytes = attribute.get(index * 4..index * 4 + 4)?;
        Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
    };
    word(1).unwrap_or(0) | word(3).unwrap_or(0) << 32
}

#[cfg(test)]
mod tests {
    use super::permitted;

    #[test]
    fn the_attribute_of_a_file_is_read_in_both_its_lengths() {
        // As `setcap cap_net_raw+ep` writes it: version 2, effective.
        let mut attribute = vec![1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0];
        assert_eq!(permitted(&attribute), 1 << 13, "version 1 has one pair");
        attribute.extend([0x80, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(permitted(&attribute), 1 << 13 | 1 << 39);
        assert_eq!(permitted(&[]), 0);
        assert_eq!(permitted(&attribute[..7]), 0);
    }
}
