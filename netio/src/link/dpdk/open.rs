//! Opening a port: the environment where it does not run yet, the device, its queues.
//!
//! Hot path: not on it; runs once at start and once at the end.

use std::fs;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bloomrf_dpdk::{
    DpdkError, Eal, EalOptions, Memory, MemoryUsed, PortConfig, PortHandle, leaked_mbufs, version,
};

use super::settings::{Settings, interface, is_finite, is_pci};
use super::{DpdkLink, DpdkSender, NAP_NS, Shared};
use crate::link::waker::WakeSource;
use crate::link::{FrameSender, Link, LinkError, Port, PortOptions};

/// How long a device of the PCI bus may take to find its carrier before that is a warning.
const CARRIER_WAIT: Duration = Duration::from_secs(3);

/// The environment of this process, until [`shutdown`].
static EAL: Mutex<Option<Eal>> = Mutex::new(None);

fn eal() -> MutexGuard<'static, Option<Eal>> {
    EAL.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(in crate::link) fn open(devargs: &str, options: &PortOptions) -> Result<Port, LinkError> {
    let settings = Settings::parse(&options.dpdk_args)?;
    let mut warnings = Vec::new();
    let eal = environment(devargs, &settings, &mut warnings)?;
    let config = PortConfig {
        queues: options.queues,
        descriptors: settings.descriptors,
        pool_mbufs: settings.pool_mbufs,
        rss: true,
        sends: options.sends,
    };
    let port = eal.probe(devargs)?.open(&config)?;
    warnings.extend(look(devargs, &port.handle, options.queues));
    let mac = port.handle.mac();
    let shared = Arc::new(Shared {
        handle: port.handle,
        queues: port.queues.len(),
        finite: is_finite(devargs),
        oversize: AtomicU64::new(0),
        unread: AtomicU64::new(0),
    });
    let links = port.queues.into_iter().map(|queue| {
        let wake = WakeSource::new().map_err(|source| LinkError::Setup {
            what: "waker of",
            address: devargs.to_owned(),
            source,
        })?;
        let link = DpdkLink {
            queue,
            shared: Arc::clone(&shared),
            wake,
            registered: false,
            empty: 0,
            nap_ns: NAP_NS.0,
            received: 0,
            bytes: 0,
            oversize: 0,
        };
        Ok(Box::new(link) as Box<dyn Link>)
    });
    let sender = port.sender.map(|queue| DpdkSender { queue, mac, registered: false });
    Ok(Port {
        links: links.collect::<Result<_, LinkError>>()?,
        sender: sender.map(|sender| Box::new(sender) as Box<dyn FrameSender>),
        gauges: Vec::new(),
        local: options.listen,
        warnings,
    })
}

/// Starts it with the first port.
fn environment(
    devargs: &str,
    settings: &Settings,
    warnings: &mut Vec<String>,
) -> Result<Eal, LinkError> {
    let mut running = eal();
    if let Some(eal) = running.clone().or_else(Eal::running) {
        *running = Some(eal.clone());
        return Ok(eal);
    }
    let mib = settings.memory_mib;
    let started = Eal::start(&EalOptions {
        memory: Memory::Auto { mib },
        pci: is_pci(devargs),
        extra: settings.eal.clone(),
        ..EalOptions::default()
    })?;
    if started.memory() == (MemoryUsed::NoHuge { mib }) {
        warnings.push(format!(
            "DPDK {} runs on ordinary pages (--no-huge), since fewer than {mib} MiB of huge pages \
             are free; reserve them (sysctl vm.nr_hugepages) before a device does the work",
            version()
        ));
    }
    *running = Some(started.clone());
    Ok(started)
}

/// What the log should say of an open port.
fn look(devargs: &str, handle: &PortHandle, queues: usize) -> Vec<String> {
    let (begin, pci) = (Instant::now(), is_pci(devargs));
    let is_up = || handle.link().is_ok_and(|link| link.up);
    let mut up = is_up();
    while pci && !up && begin.elapsed() < CARRIER_WAIT {
        thread::sleep(Duration::from_millis(20));
        up = is_up();
    }
    let port = handle.describe();
    let mut warnings = Vec::new();
    if !up {
        warnings.push(format!(
            "dpdk {port}: its link is down, nothing will arrive: look at the cable, the \
             transceiver and the other side's port (a virtual device: at its interface)"
        ));
    }
    if let Some(interface) = interface(devargs).filter(|interface| is_down(interface)) {
        warnings.push(format!(
            "dpdk {port}: its interface `{interface}` is down, nothing will arrive: \
             `ip link set {interface} up`"
        ));
    }
    // Virtual devices have their own ways, and no hash.
    if pci && queues > 1 && handle.spread().functions == 0 {
        warnings.push(format!(
            "dpdk {port}: it cannot spread flows over queues by a hash: all may arrive on one; \
             use one queue, or another device"
        ));
    }
    warnings
}

/// As the system says; where it does not, an interface is taken for up.
fn is_down(interface: &str) -> bool {
    let flags = fs::read_to_string(format!("/sys/class/net/{interface}/flags"));
    flags.is_ok_and(|flags| says_down(&flags))
}

/// Bit 0 is IFF_UP.
fn says_down(flags: &str) -> bool {
    let bits = flags.trim().strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok());
    bits.is_some_and(|bits| bits & 1 == 0)
}

/// Ends the environment of this process, for good, as soon as no port of it is open and no thread
/// that has polled one lives any more: to be called last. Says what had gone wrong with mbufs, if
/// anything.
///
/// # Errors
/// Mbufs had not come back when their port was closed.
pub fn shutdown() -> Result<(), LinkError> {
    drop(eal().take());
    match leaked_mbufs() {
        0 => Ok(()),
        mbufs => Err(DpdkError::Leaked { mbufs }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::says_down;

    #[test]
    fn an_interface_is_down_where_the_system_says_so() {
        assert!(says_down("0x1002\n"));
        assert!(!says_down("0x1003\n"));
        assert!(!says_down(""));
    }
}
