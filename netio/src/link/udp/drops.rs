//! The kernel's count of datagrams that it dropped before a socket (its receive buffer was full).
//!
//! With several queues on a multicast or broadcast port the kernel hands each of them a copy and
//! counts those that a queue's own filter leaves to the others as drops, too: the sum is then an
//! upper bound.
//!
//! Hot path: not on it. Reading is a pass over `/proc/net/udp`: for the control thread.

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
        let table = if ipv6 { "/proc/net/udp6" } else { "/proc/net/udp" };
        cfg!(target_os = "linux").then_some(DropGauge { inode, table })
    }

    /// Datagrams dropped since the socket was opened; `None` where the system does not tell.
    #[must_use]
    pub fn read(&self) -> Option<u64> {
        drops(&std::fs::read_to_string(self.table).ok()?, self.inode)
    }
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
