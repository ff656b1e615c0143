//! What was lost before the rings of a port.
//!
//! Hot path: not on it; read with the link's counters, some microseconds each time, without
//! allocation.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What all queues of a port share.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) interface: String,
    /// `/proc/thread-self/net/dev`, of the network namespace that the port was opened in.
    table: File,
    /// As the table stood when the port was opened.
    at_open: InterfaceCounts,
    /// Keeps the host's stack away while it is open.
    pub(super) cut: Option<OwnedFd>,
    /// Whatever was lost at any ring of the port, and each time its interface went down.
    losses: AtomicU64,
}

/// Counters of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InterfaceCounts {
    /// Frames damaged on the wire.
    pub(super) errors: u64,
    /// Frames for which interface or stack had no room.
    pub(super) drops: u64,
}

impl Port {
    /// Of the calling thread's namespace.
    pub(super) fn open(interface: &str) -> std::io::Result<Self> {
        let table = File::open(TABLE)?;
        let mut port = Port {
            interface: interface.to_owned(),
            table,
            at_open: InterfaceCounts::default(),
            cut: None,
            losses: AtomicU64::new(0),
        };
        port.at_open = port.read(&mut [0; ROOM_BYTES]).unwrap_or_default();
        Ok(port)
    }

    /// Counts since the port was opened; `None` where the system does not tell them any more.
    pub(super) fn counts(&self, room: &mut [u8]) -> Option<InterfaceCounts> {
        let now = self.read(room)?;
        // Some drivers start again when their interface goes down and up.
        Some(InterfaceCounts {
            errors: now.errors.saturating_sub(self.at_open.errors),
            drops: now.drops.saturating_sub(self.at_open.drops),
        })
    }

    fn read(&self, room: &mut [u8]) -> Option<InterfaceCounts> {
        let (mut at, mut kept) = (0, 0);
        // A read brings whole lines; 1,024 of them are more interfaces than anybody has.
        for _ in 0..1_024 {
            let length = self.table.read_at(room.get_mut(kept..)?, at).ok()?;
            if length == 0 {
                return None;
            }
            at += length as u64;
            let end = kept + length;
            if let Some(counts) = find(room.get(..end)?, &self.interface) {
                return Some(counts);
            }
            // The last line may go on with the next read.
            let line =
                room.get(..end)?.iter().rposition(|&byte| byte == b'\n').map_or(0, |n| n + 1);
            room.copy_within(line..end, 0);
            kept = end - line;
        }
        None
    }

    /// Counts losses that another place has seen.
    pub(super) fn add_losses(&self, losses: u64) {
        if losses > 0 {
            self.losses.fetch_add(losses, Relaxed);
        }
    }

    /// Moves with each loss.
    pub(super) fn losses(&self) -> u64 {
        self.losses.load(Relaxed)
    }
}

/// Columns behind the name: bytes, packets, errs, drop, fifo, ...
fn find(text: &[u8], interface: &str) -> Option<InterfaceCounts> {
    let whole = text.iter().rposition(|&byte| byte == b'\n')?;
    let text = std::str::from_utf8(text.get(..whole)?).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(interface)?.strip_prefix(':'))?;
    let mut columns = line.split_ascii_whitespace().skip(2).map(|word| word.parse::<u64>().ok());
    let errors = columns.next()??;
    let drops = columns.next()??.wrapping_add(columns.next()??);
    Some(InterfaceCounts { errors, drops })
}

/// Names of all interfaces of the calling thread's namespace, for messages.
pub(super) fn interfaces() -> String {
    let table = std::fs::read_to_string(TABLE).unwrap_or_default();
    let names: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split_once(':').map(|(name, _)| name.trim()))
        .take(64)
        .collect();
    names.join(", ")
}

const TABLE: &str = "/proc/thread-self/net/dev";
/// Room for what one read brings, and a line.
pub(super) const ROOM_BYTES: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_by_its_whole_name() {
        let text = "Inter-|   Receive        |  Transmit\n face |bytes packets errs drop fifo\n\
                    veth-a2: 9 9 9 9 9 0 0 0 0 0 0 0 0 0 0 0\n\
                    veth-a: 100 5 1 2 3 0 0 0 7 7 7 7 0 0 0 0\n\
                    veth-b: 1 1 1 1";
        let expected = InterfaceCounts { errors: 1, drops: 5 };
        assert_eq!(find(text.as_bytes(), "veth-a"), Some(expected));
        assert_eq!(find(text.as_bytes(), "veth"), None);
        assert_eq!(find(text.as_bytes(), "veth-b"), None, "half a line");
    }

    #[test]
    fn the_loopback_is_counted_and_another_name_is_not() {
        let port = |name: &str| Port::open(name).unwrap();
        assert!(port("lo").counts(&mut [0; ROOM_BYTES]).is_some());
        assert!(port("no-such").counts(&mut [0; ROOM_BYTES]).is_none());
        assert!(interfaces().split(", ").any(|name| name == "lo"));
    }
}
