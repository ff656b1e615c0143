//! A device that is plugged in, and not yet a port.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use crate::eal::{self, Eal};
use crate::error::{DpdkError, Reason};
use crate::ffi::{self, RawDevice};
use crate::log::Mark;
use crate::port::{Port, PortConfig};
use crate::stats::text;

/// A device. Plugged out when it is dropped, or when its port is.
#[derive(Debug)]
pub struct Device {
    pub(crate) eal: Eal,
    /// DPDK's number of its port.
    pub(crate) port: u16,
    pub(crate) name: String,
    pub(crate) driver: String,
    pub(crate) socket: i32,
    pub(crate) rx_queues_max: usize,
    pub(crate) tx_queues_max: usize,
    pub(crate) key_bytes: u8,
    pub(crate) mac: [u8; 6],
    /// Of the port: whether and with how many queues it was started.
    pub(crate) started: Option<u16>,
}

/// Numbers of ports that somebody of this process holds.
static HELD: Mutex<Vec<u16>> = Mutex::new(Vec::new());

impl Device {
    pub(crate) fn probe(eal: &Eal, devargs: &str) -> Result<Device, DpdkError> {
        let text = CString::new(devargs).map_err(|_| DpdkError::Text(devargs.to_owned()))?;
        let _control = eal::control();
        let (mark, mut port) = (Mark::now(), u16::MAX);
        // SAFETY: 1. the environment runs; 2. the text ends with a zero and is copied; 3. nobody
        // else changes devices meanwhile.
        let code = unsafe { ffi::px_probe(text.as_ptr(), &raw mut port) };
        if code != 0 {
            let (devargs, reason) = (devargs.to_owned(), Reason::of(code, mark));
            return Err(DpdkError::Missing { devargs, reason });
        }
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains(&port) {
            return Err(DpdkError::Taken { devargs: devargs.to_owned() });
        }
        let device = Device::describe(eal, port, devargs)?;
        held.push(port);
        Ok(device)
    }

    fn describe(eal: &Eal, port: u16, devargs: &str) -> Result<Device, DpdkError> {
        let mut raw = MaybeUninit::<RawDevice>::zeroed();
        let mark = Mark::now();
        // SAFETY: the port exists, and the record may be written.
        let code = unsafe { ffi::px_device(port, raw.as_mut_ptr()) };
        if code != 0 {
            let (device, reason) = (devargs.to_owned(), Reason::of(code, mark));
            return Err(DpdkError::Description { device, reason });
        }
        // SAFETY: numbers and arrays of numbers, all zero or written.
        let raw = unsafe { raw.assume_init() };
        Ok(Device {
            eal: eal.clone(),
            port,
            name: text(&raw.name),
            driver: text(&raw.driver),
            socket: raw.socket,
            rx_queues_max: raw.rx_queues_max.into(),
            tx_queues_max: raw.tx_queues_max.into(),
            key_bytes: raw.key_bytes,
            mac: raw.mac,
            started: None,
        })
    }

    /// Opens its port: queues, pool, and all; it receives from then on.
    ///
    /// # Errors
    /// Too few queues, too small a pool, no memory, or the driver's refusal; the device is plugged
    /// out then.
    pub fn open(self, config: &PortConfig) -> Result<Port, DpdkError> {
        Port::open(self, config)
    }

    /// DPDK's name of it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its driver's name.
    #[must_use]
    pub fn driver(&self) -> &str {
        &self.driver
    }

    /// Receive queues that it has.
    #[must_use]
    pub fn rx_queues_max(&self) -> usize {
        self.rx_queues_max
    }

    /// Its NUMA node, where it has one.
    #[must_use]
    pub fn numa_node(&self) -> Option<usize> {
        usize::try_from(self.socket).ok()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _control = eal::control();
        let started = self.started;
        // SAFETY: 1. the environment runs, and the port is ours; 2. no queue of it is left: each
        // holds what drops this.
        unsafe { ffi::px_stop(self.port, started.is_some().into(), started.unwrap_or(0)) };
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|port| *port != self.port);
    }
}
