//! Counters of a port, and the state of its link.

use std::ffi::{CStr, c_char};

use crate::ffi::{NAME_MAX, RawLink, RawStats, RawXstat};

/// Counters of a port since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Frames received.
    pub received: u64,
    /// Bytes of them, as the driver counts.
    pub received_bytes: u64,
    /// Dropped by the device: no free descriptor (`imissed`).
    pub missed: u64,
    /// Damaged (`ierrors`).
    pub errors: u64,
    /// No mbuf to receive into (`rx_nombuf`).
    pub no_mbuf: u64,
    /// Frames sent.
    pub sent: u64,
    /// Bytes of them.
    pub sent_bytes: u64,
    /// Not sent (`oerrors`).
    pub send_errors: u64,
}

impl From<RawStats> for PortStats {
    fn from(raw: RawStats) -> Self {
        PortStats {
            received: raw.received,
            received_bytes: raw.received_bytes,
            missed: raw.missed,
            errors: raw.errors,
            no_mbuf: raw.no_mbuf,
            sent: raw.sent,
            sent_bytes: raw.sent_bytes,
            send_errors: raw.send_errors,
        }
    }
}

/// State of a port's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// Whether there is a carrier.
    pub up: bool,
    /// Megabits per second; `None`: the device does not tell.
    pub speed_mbps: Option<u32>,
    /// Both directions at a time.
    pub full_duplex: bool,
}

impl From<RawLink> for LinkState {
    fn from(raw: RawLink) -> Self {
        LinkState {
            up: raw.up != 0,
            speed_mbps: Some(raw.speed_mbps).filter(|speed| ![0, u32::MAX].contains(speed)),
            full_duplex: raw.full_duplex != 0,
        }
    }
}

impl From<RawXstat> for (String, u64) {
    fn from(raw: RawXstat) -> Self {
        (text(&raw.name), raw.value)
    }
}

/// A name that the shim wrote; whole where no zero ends it.
pub(crate) fn text(name: &[c_char; NAME_MAX]) -> String {
    let bytes = name.map(c_char::cast_unsigned);
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
