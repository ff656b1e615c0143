//! Why a port of `af_packet` does not open, with what to do.
//!
//! Hot path: not on it.

use std::io;

use rustix::io::Errno;

/// Why a port does not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AfPacketError {
    /// Its argument is wrong.
    #[error("`{word}` is not understood: expected {expected}")]
    Argument {
        /// What was read.
        word: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// There is no such interface.
    #[error("there is no interface `{interface}`; there are: {present}")]
    Missing {
        /// Its name.
        interface: String,
        /// Those that exist.
        present: String,
    },
    /// It is down.
    #[error("interface `{interface}` is down: `ip link set {interface} up`")]
    Down {
        /// Its name.
        interface: String,
    },
    /// It is not Ethernet.
    #[error(
        "interface `{interface}` is no Ethernet interface (its hardware type is {kind}): raw links \
         read Ethernet frames only; take `link = \"udp\"` on it"
    )]
    NotEthernet {
        /// Its name.
        interface: String,
        /// Its ARPHRD_* number.
        kind: u16,
    },
    /// More queues than a port may have.
    #[error("{queues} queues: a port has 1 to {most}")]
    Queues {
        /// Wanted.
        queues: usize,
        /// The limit.
        most: usize,
    },
    /// Its rings would be too large.
    #[error(
        "{queues} rings of {blocks} blocks of {block_kib} KiB are more than {most_mib} MiB: lower \
         blocks or block_kib"
    )]
    TooLarge {
        /// Rings.
        queues: usize,
        /// Blocks of each.
        blocks: usize,
        /// KiB of a block.
        block_kib: usize,
        /// The limit, MiB.
        most_mib: usize,
    },
    /// This process may not.
    #[error(
        "packet sockets need CAP_NET_RAW: run as root, or `setcap cap_net_raw+ep` on the program, \
         or `AmbientCapabilities=CAP_NET_RAW` in its unit ({source})"
    )]
    Permission {
        /// The system's reason.
        source: io::Error,
    },
    /// The system has no memory for it.
    #[error(
        "no memory for a ring of {mib} MiB ({source}): lower blocks or block_kib, or raise the \
         memory limit of the service"
    )]
    Memory {
        /// Wanted, MiB.
        mib: usize,
        /// The system's reason.
        source: io::Error,
    },
    /// Queues could not be joined to one port.
    #[error(
        "the queues do not join to a fan-out group ({source}): the interface went down meanwhile, \
         or all 65,536 groups of this network namespace are taken"
    )]
    FanOut {
        /// The system's reason.
        source: io::Error,
    },
    /// The host's stack could not be kept away.
    #[error(
        "host_stack=0 needs Linux 6.6 or newer and CAP_BPF with CAP_NET_ADMIN: leave it out, and \
         frames cost more ({source})"
    )]
    HostStack {
        /// The system's reason.
        source: io::Error,
    },
    /// Any other call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl AfPacketError {
    /// Of a call that failed with no more special meaning.
    pub(super) fn system(what: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| match errno {
            Errno::PERM | Errno::ACCESS => AfPacketError::Permission { source: errno.into() },
            errno => AfPacketError::System { what, source: errno.into() },
        }
    }
}
