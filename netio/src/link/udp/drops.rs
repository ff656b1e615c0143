//! The kernel's count of datagrams that it dropped before a socket (its receive buffer was full).
//!
//! With several queues on a multicast or broadcast port the kernel hands each of them a copy, and
//! counts those that a queue's filter leaves to the others as drops as well. [`host_losses`] counts
//! no such copies, but those of every other socket of the host: the truth is at most either.
//! Both are of the network namespace of the thread that asks, which must be that of the sockets.
//!
//! Hot path: not on it. Reading is a pass over a table of the system's: for the control thread.

use std::os::fd::AsFd;

/// Reads the drop count of one socket. Only Linux tells it.
#[derive(Clone, Copy, Debug)]
pub struct DropGauge {
    inode: u64,
    table: &'static str,
}

impl DropGauge {
    pub(super) fn of(socket: impl AsFd, ipv6: bool) -> Option<Self> {
        let inode = rustix::fs::fstat(socket).ok()?.st_ino;
        let table = if ipv6 { UDP6 } else { UDP4 };
        cfg!(target_os = "linux").then_some(DropGauge { inode, table })
    }

    /// Datagrams dropped since the socket was opened; `None` where the system does not tell.
    #[must_use]
    pub fn read(&self) -> Option<u64> {
        drops(&std::fs::read_to_string(self.table).ok()?, self.inode)
    }
}

/// Datagrams that the kernel dropped before any UDP socket of this host: no room, no memory, a
/// wrong checksum. `None` where the system does not tell.
#[must_use]
pub fn host_losses() -> Option<u64> {
    let ipv4 = losses4(&std::fs::read_to_string(SNMP).ok()?)?;
    // No such file where there is no IPv6.
    let ipv6 = std::fs::read_to_string(SNMP6).unwrap_or_default();
    Some(ipv4 + losses6(&ipv6))
}

// Not `/proc/net`: that is of the process's first thread.
const UDP4: &str = "/proc/thread-self/net/udp";
const UDP6: &str = "/proc/thread-self/net/udp6";
const SNMP: &str = "/proc/thread-self/net/snmp";
const SNMP6: &str = "/proc/thread-self/net/snmp6";
/// Counters of losses, without the copies that filters refuse.
const LOSSES: [&str; 3] = ["RcvbufErrors", "MemErrors", "InCsumErrors"];

/// Two lines that start with `Udp:`, names and values.
fn losses4(table: &str) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let names = lines.next()?.split_ascii_whitespace();
    let values = lines.next()?.split_ascii_whitespace();
    let counted = names.zip(values).filter(|(name, _)| LOSSES.contains(name));
    counted.map(|(_, value)| value.parse::<u64>().ok()).sum()
}

/// A line per name and value.
fn losses6(table: &str) -> u64 {
    let value = |line: &str| {
        let (name, value) = line.strip_prefix("Udp6")?.split_once(char::is_whitespace)?;
        value.trim().parse::<u64>().ok().filter(|_| LOSSES.contains(&name))
    };
    table.lines().filter_map(value).sum()
}

/// Columns of the table: ..., uid, timeout, inode (the 10th), reference count, pointer, drops.
fn drops(table: &str, inode: u64) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace();
        let found: u64 = columns.nth(9)?.parse().ok()?;
        (found == inode).then(|| columns.nth(2)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::{losses4, losses6};

    #[test]
    fn losses_of_the_host_are_those_without_refused_copies() {
        let table = "Tcp: InErrs\nTcp: 9\n\
                     Udp: InDatagrams NoPorts InErrors RcvbufErrors InCsumErrors MemErrors\n\
                     Udp: 1000 7 500 40 3 2\nUdpLite: RcvbufErrors\nUdpLite: 11\n";
        assert_eq!(losses4(table), Some(45));
        assert_eq!(losses4("Udp: RcvbufErrors\n"), None);
        let table = "Udp6InErrors 50\nUdp6RcvbufErrors  \t4\nUdp6MemErrors 1\n\
                     UdpLite6RcvbufErrors 9\nIp6InReceives 3\n";
        assert_eq!((losses6(table), losses6("")), (5, 0));
    }

    #[test]
    fn the_drop_column_is_found_by_inode() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
                     uid  timeout inode ref pointer drops\n\
                     garbage\n\
                     1: 0100007F:1B4B 00000000:0000 07 00000000:00000000 00:00000000 00000000 \
                     0 0 777 2 0000000000000000 0\n\
                     2: 0100007F:1B4B 00000000:0000 07 00000000:00000000 00:00000000 00000000 \
                     0 0 778 2 0000000000000000 42\n";
        assert_eq!(super::drops(table, 778), Some(42));
        assert_eq!(super::drops(table, 777), Some(0));
        assert_eq!(super::drops(table, 779), None);
    }
}
