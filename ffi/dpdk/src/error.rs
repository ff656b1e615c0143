//! Why a port cannot be had, each with DPDK's own reason and what to do about it.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fmt;

use crate::ffi;
use crate::log::Mark;

/// DPDK's own reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Its error number, positive.
    pub code: i32,
    /// What that means.
    pub text: String,
    /// What it logged meanwhile; may be empty.
    pub log: String,
}

impl Reason {
    /// Of a call that gave `code`, negative, and may have logged since `mark`.
    pub(crate) fn of(code: i32, mark: Mark) -> Self {
        // SAFETY: it gives a string of the thread or of the program, never null.
        let text = unsafe { CStr::from_ptr(ffi::px_error_text(code)) };
        let text = text.to_string_lossy().into_owned();
        Reason { code: code.saturating_abs(), text, log: mark.text() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (error {})", self.text, self.code)?;
        match self.log.as_str() {
            "" => Ok(()),
            log => write!(f, "; DPDK says: {log}"),
        }
    }
}

/// What to look at where a device cannot be had.
fn advice(devargs: &str) -> &'static str {
    let name = devargs.split(',').next().unwrap_or_default();
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        address if address.contains(':') => {
            "is it there, bound to vfio-pci (`dpdk-devbind.py --status` shows both), and may we \
             open its group below /dev/vfio?"
        }
        "net_pcap" => "its files or interface must exist and be ours to read",
        "net_af_packet" | "net_af_xdp" | "net_tap" => {
            "its interface must exist, and the process needs CAP_NET_RAW (the others also \
             CAP_NET_ADMIN)"
        }
        _ => {
            "a virtual device is its driver's name and a number, like net_null0, and needs the \
             driver's package (Debian: librte-net-null23)"
        }
    }
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DpdkError {
    /// Objects of two builds were linked.
    #[error("the C shim and this program disagree on their records: build from scratch")]
    Shim,
    /// An argument holds a zero byte.
    #[error("argument {0:?} holds a zero byte")]
    Text(String),
    /// Twice in one process.
    #[error("DPDK's environment runs already: it starts once per process")]
    Running,
    /// Again in one process.
    #[error(
        "DPDK's environment has ended, and starts once per process only: start the process anew"
    )]
    Ended,
    /// The environment does not start.
    #[error(
        "DPDK's environment does not start with arguments `{arguments}`: {reason}; look at the \
         arguments that the configuration adds, and at free memory and huge pages"
    )]
    Environment {
        /// What it was given.
        arguments: String,
        /// Why.
        reason: Reason,
    },
    /// Huge pages were demanded.
    #[error(
        "{wanted_mib} MiB of huge pages are wanted and {free_mib} MiB are free: reserve them \
         (sysctl vm.nr_hugepages), or let memory be chosen by what there is"
    )]
    NoHugePages {
        /// MiB wanted.
        wanted_mib: u64,
        /// MiB free.
        free_mib: u64,
    },
    /// No such device, or it does not start.
    #[error("device `{devargs}` cannot be had: {reason}; {}", advice(devargs))]
    Missing {
        /// As it was asked for.
        devargs: String,
        /// Why.
        reason: Reason,
    },
    /// Somebody of this process has it.
    #[error("device `{devargs}` is open already in this process: give every link its own device")]
    Taken {
        /// As it was asked for.
        devargs: String,
    },
    /// The device does not tell what it is.
    #[error("device `{device}`: it does not describe itself: {reason}")]
    Description {
        /// Its name.
        device: String,
        /// Why.
        reason: Reason,
    },
    /// More queues than it has.
    #[error(
        "device `{device}` ({driver}) has {has} {direction} queues and {asked} are asked for: \
         lower the number of queues, or give the device more (net_pcap: one rx_pcap= per queue; \
         net_af_packet: qpairs=)"
    )]
    TooFewQueues {
        /// Its name.
        device: String,
        /// Its driver.
        driver: String,
        /// `receive` or `transmit`.
        direction: &'static str,
        /// Asked for.
        asked: usize,
        /// There are.
        has: usize,
    },
    /// A pool that starves its own port.
    #[error(
        "device `{device}`: a pool of {asked} mbufs is too small: its queues, their descriptors \
         and the threads' caches hold up to {least}; raise pool_mbufs, or leave it out"
    )]
    PoolTooSmall {
        /// Its name.
        device: String,
        /// Asked for.
        asked: u32,
        /// Fewest that will do.
        least: u32,
    },
    /// No memory for the pool.
    #[error(
        "device `{device}`: no memory for a pool of {mbufs} mbufs ({mib} MiB): {reason}; raise \
         memory_mib, reserve more huge pages, or lower pool_mbufs or descriptors"
    )]
    PoolMemory {
        /// Its name.
        device: String,
        /// Asked for.
        mbufs: u32,
        /// What they take.
        mib: u64,
        /// Why.
        reason: Reason,
    },
    /// The port does not start.
    #[error("device `{device}` ({driver}): {step}: {reason}")]
    Port {
        /// Its name.
        device: String,
        /// Its driver.
        driver: String,
        /// What was being done.
        step: &'static str,
        /// Why.
        reason: Reason,
    },
    /// A thread cannot become an lcore.
    #[error("this thread cannot be registered with DPDK: {reason}; at most 128 threads can be")]
    Lcore {
        /// Why.
        reason: Reason,
    },
    /// A counter cannot be read.
    #[error("device `{device}`: {what} cannot be read: {reason}")]
    Unread {
        /// Its name.
        device: String,
        /// What.
        what: &'static str,
        /// Why.
        reason: Reason,
    },
    /// Somebody kept mbufs beyond the end of their port.
    #[error(
        "{mbufs} mbufs had not come back when their port was closed: their memory was given up"
    )]
    Leaked {
        /// How many.
        mbufs: u64,
    },
    /// Sending a frame that no mbuf holds.
    #[error("a frame of {bytes} bytes does not fit an mbuf: at most {most} do")]
    FrameTooLong {
        /// Its length.
        bytes: usize,
        /// Longest that fits.
        most: usize,
    },
}
