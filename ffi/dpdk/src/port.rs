//! A port: configured, started, and stopped with its last part.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::eal::{self, Eal};
use crate::error::{DpdkError, Reason};
use crate::ffi::{self, RawConfig, RawLink, RawStarted, RawStats, RawXstat};
use crate::log::Mark;
use crate::pool::{self, MbufPool};
use crate::queue::{RxQueue, TxQueue};
use crate::rss::symmetric_key;
use crate::stats::{LinkState, PortStats};

/// How a port is opened.
#[derive(Clone, Copy, Debug)]
pub struct PortConfig {
    /// Receive queues, at least 1.
    pub queues: usize,
    /// Descriptors of a receive queue; the device's limits are kept.
    pub descriptors: u16,
    /// Mbufs in all; `None`: what its queues need.
    pub pool_mbufs: Option<u32>,
    /// Spread flows over the queues by a symmetric hash, where the device can.
    pub rss: bool,
    /// Whether a sending queue is wanted.
    pub sends: bool,
}

impl Default for PortConfig {
    fn default() -> Self {
        PortConfig { queues: 1, descriptors: 1_024, pool_mbufs: None, rss: true, sends: false }
    }
}

/// Descriptors of a sending queue.
const TX_DESCRIPTORS: u16 = 512;
/// Most counters of a device that are read.
const XSTATS_MAX: usize = 4_096;

/// How a device spreads frames over its queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Hash functions in use, of those that we want and the device says that it offers (some
    /// virtual ones say so and do not hash); 0: none.
    pub functions: u64,
    /// Entries of the table from hash to queue that we wrote; 0: the device's own stands.
    pub table_entries: u16,
}

/// An open port: its parts may be moved apart.
#[derive(Debug)]
pub struct Port {
    /// Receive queues, in order.
    pub queues: Vec<RxQueue>,
    /// Where one was asked for.
    pub sender: Option<TxQueue>,
    /// For counters.
    pub handle: PortHandle,
}

/// Counters and state of a port; keeps it open. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PortHandle {
    inner: Arc<PortInner>,
}

/// Dropped with its last part, in this order: the port holds mbufs of the pool.
#[derive(Debug)]
pub(crate) struct PortInner {
    device: Option<Device>,
    pool: MbufPool,
    port: u16,
    spread: Spread,
    /// Two threads at a time may not read a device's counters.
    reading: Mutex<()>,
    /// The last to go.
    eal: Eal,
}

static LEAKED: AtomicU64 = AtomicU64::new(0);

/// Mbufs that had not come back when their port was closed, of all ports of this process. Other
/// than 0 is a mistake, of ours or of a driver (net_af_xdp keeps its fill ring's).
#[must_use]
pub fn leaked_mbufs() -> u64 {
    LEAKED.load(Ordering::Relaxed)
}

impl Port {
    pub(crate) fn open(mut device: Device, config: &PortConfig) -> Result<Port, DpdkError> {
        let rx_queues = queues(&device, "receive", config.queues.max(1), device.rx_queues_max)?;
        let tx_wanted = usize::from(config.sends);
        // Some devices want as many queues to send as to receive, but none refuses one.
        let tx_queues = queues(&device, "transmit", tx_wanted, device.tx_queues_max)?;
        let control = eal::control();
        let (rx, tx) = (u32::from(rx_queues), u32::from(tx_queues));
        let least = pool::least(rx, config.descriptors.into(), tx, TX_DESCRIPTORS.into());
        let mbufs = pool::size(&device.name, config.pool_mbufs, least)?;
        let pool = MbufPool::make(&device.name, mbufs, device.socket)?;
        let mut raw = RawConfig {
            pool: pool.raw(),
            key: symmetric_key(),
            rx_queues,
            tx_queues,
            rx_descriptors: config.descriptors,
            tx_descriptors: TX_DESCRIPTORS,
            rss: (config.rss && rx_queues > 1).into(),
            key_bytes: device.key_bytes,
        };
        let (mark, mut started) = (Mark::now(), RawStarted::default());
        // SAFETY: 1. the port is ours and not started; 2. both records may be written; 3. the pool
        // outlives the port, see `PortInner`.
        let code = unsafe { ffi::px_start(device.port, &raw mut raw, &raw mut started) };
        if code != 0 {
            return Err(DpdkError::Port {
                device: device.name.clone(),
                driver: device.driver.clone(),
                step: step(started.step),
                reason: Reason::of(code, mark),
            });
        }
        drop(control);
        device.started = Some(rx_queues);
        let spread =
            Spread { functions: started.rss_functions, table_entries: started.reta_entries };
        let port = device.port;
        let (eal, reading) = (device.eal.clone(), Mutex::new(()));
        let device = Some(device);
        let inner = Arc::new(PortInner { device, pool, port, spread, reading, eal });
        let queues = (0..rx_queues).map(|queue| RxQueue::make(&inner, queue));
        Ok(Port {
            queues: queues.collect::<Result<_, _>>()?,
            sender: config.sends.then(|| TxQueue::make(&inner)),
            handle: PortHandle { inner },
        })
    }
}

fn queues(
    device: &Device,
    direction: &'static str,
    asked: usize,
    has: usize,
) -> Result<u16, DpdkError> {
    let count = u16::try_from(asked).ok().filter(|_| asked <= has);
    count.ok_or_else(|| DpdkError::TooFewQueues {
        device: device.name.clone(),
        driver: device.driver.clone(),
        direction,
        asked,
        has,
    })
}

/// `enum px_step`, in words.
fn step(step: u16) -> &'static str {
    match step {
        0 => "it does not describe itself",
        1 => "it cannot be configured",
        2 => "a receive queue cannot be set up",
        3 => "a transmit queue cannot be set up",
        _ => "it does not start",
    }
}

impl PortHandle {
    /// Its counters.
    ///
    /// # Errors
    /// The device does not tell them.
    pub fn stats(&self) -> Result<PortStats, DpdkError> {
        let _reading = self.inner.reading();
        let (mark, mut raw) = (Mark::now(), RawStats::default());
        // SAFETY: the port is open, since we hold it, and the record may be written.
        let code = unsafe { ffi::px_port_stats(self.inner.port, &raw mut raw) };
        self.inner.told(code, "its counters", mark).map(|()| raw.into())
    }

    /// All counters that the device has, by its own names.
    ///
    /// # Errors
    /// The device does not tell them.
    pub fn xstats(&self) -> Result<Vec<(String, u64)>, DpdkError> {
        let _reading = self.inner.reading();
        let (port, mark) = (self.inner.port, Mark::now());
        // SAFETY: the port is open, and with no room nothing is written.
        let count = unsafe { ffi::px_xstats(port, std::ptr::null_mut(), 0) };
        self.inner.told(count.min(0), "its further counters", mark)?;
        let count = usize::try_from(count).unwrap_or(0).min(XSTATS_MAX);
        let mut raw = vec![RawXstat { name: [0; ffi::NAME_MAX], value: 0 }; count];
        // SAFETY: the port is open; as many records as we say may be written.
        let got = unsafe { ffi::px_xstats(port, raw.as_mut_ptr(), count as u32) };
        self.inner.told(got.min(0), "its further counters", mark)?;
        raw.truncate(usize::try_from(got).unwrap_or(0));
        Ok(raw.into_iter().map(Into::into).collect())
    }

    /// Whether there is a carrier, and how fast.
    ///
    /// # Errors
    /// The device does not tell.
    pub fn link(&self) -> Result<LinkState, DpdkError> {
        let _reading = self.inner.reading();
        let (mark, mut raw) = (Mark::now(), RawLink::default());
        // SAFETY: the port is open, since we hold it, and the record may be written.
        let code = unsafe { ffi::px_port_link(self.inner.port, &raw mut raw) };
        self.inner.told(code, "the state of its link", mark).map(|()| raw.into())
    }

    /// Mbufs that are with the device, with a queue, or in somebody's burst.
    #[must_use]
    pub fn mbufs_in_use(&self) -> u32 {
        self.inner.pool.in_use()
    }

    /// How frames are spread over queues.
    #[must_use]
    pub fn spread(&self) -> Spread {
        self.inner.spread
    }

    /// Its name and its driver's.
    #[must_use]
    pub fn describe(&self) -> String {
        let device = self.inner.device.as_ref();
        device.map_or_else(String::new, |device| format!("{} ({})", device.name, device.driver))
    }

    /// Its driver's name.
    #[must_use]
    pub fn driver(&self) -> &str {
        self.inner.device.as_ref().map_or("", |device| &device.driver)
    }

    /// Its own address.
    #[must_use]
    pub fn mac(&self) -> [u8; 6] {
        self.inner.device.as_ref().map_or([0; 6], |device| device.mac)
    }
}

impl PortInner {
    pub(crate) fn number(&self) -> u16 {
        self.port
    }

    pub(crate) fn pool(&self) -> &MbufPool {
        &self.pool
    }

    pub(crate) fn socket(&self) -> i32 {
        self.device.as_ref().map_or(-1, |device| device.socket)
    }

    pub(crate) fn eal(&self) -> &Eal {
        &self.eal
    }

    fn reading(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, code: i32, what: &'static str, mark: Mark) -> Result<(), DpdkError> {
        if code == 0 {
            return Ok(());
        }
        let device = self.device.as_ref().map_or_else(String::new, |device| device.name.clone());
        Err(DpdkError::Unread { device, what, reason: Reason::of(code, mark) })
    }
}

impl Drop for PortInner {
    fn drop(&mut self) {
        self.device = None;
        LEAKED.fetch_add(self.pool.in_use().into(), Ordering::Relaxed);
    }
}
