//! What the shim offers: externs by hand, and the records that it shares with us.
//!
//! `csrc/shim.h` is the other side; [`check`] compares sizes and offsets before the first call.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint};
use std::mem::{offset_of, size_of};

use crate::error::DpdkError;

/// Frames of one burst.
pub(crate) const BURST: usize = 64;
pub(crate) const KEY_MAX: usize = 64;
pub(crate) const NAME_MAX: usize = 64;

/// An mbuf: only ever pointed at.
#[repr(C)]
pub(crate) struct Mbuf([u8; 0]);

/// A mempool: only ever pointed at.
#[repr(C)]
pub(crate) struct Pool([u8; 0]);

/// The shim's part of a receive queue: only ever pointed at.
#[repr(C)]
pub(crate) struct Rxq([u8; 0]);

/// `struct px_frame`.
#[repr(C)]
pub(crate) struct RawFrame {
    pub(crate) mbuf: *mut Mbuf,
    pub(crate) bytes: *const u8,
    pub(crate) frame_bytes: u32,
    pub(crate) length: u16,
    pub(crate) segments: u16,
}

/// `struct px_device`.
#[repr(C)]
pub(crate) struct RawDevice {
    pub(crate) name: [c_char; NAME_MAX],
    pub(crate) driver: [c_char; NAME_MAX],
    pub(crate) rss_functions: u64,
    pub(crate) socket: i32,
    pub(crate) rx_queues_max: u16,
    pub(crate) tx_queues_max: u16,
    pub(crate) reta_entries: u16,
    pub(crate) key_bytes: u8,
    pub(crate) mac: [u8; 6],
}

/// `struct px_config`.
#[repr(C)]
pub(crate) struct RawConfig {
    pub(crate) pool: *mut Pool,
    pub(crate) key: [u8; KEY_MAX],
    pub(crate) rx_queues: u16,
    pub(crate) tx_queues: u16,
    pub(crate) rx_descriptors: u16,
    pub(crate) tx_descriptors: u16,
    pub(crate) rss: u8,
    pub(crate) key_bytes: u8,
}

/// `struct px_started`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct RawStarted {
    pub(crate) rss_functions: u64,
    pub(crate) reta_entries: u16,
    pub(crate) step: u16,
}

/// `struct px_stats`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct RawStats {
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    pub(crate) missed: u64,
    pub(crate) errors: u64,
    pub(crate) no_mbuf: u64,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) send_errors: u64,
}

/// `struct px_xstat`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawXstat {
    pub(crate) name: [c_char; NAME_MAX],
    pub(crate) value: u64,
}

/// `struct px_link`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct RawLink {
    pub(crate) speed_mbps: u32,
    pub(crate) up: u8,
    pub(crate) full_duplex: u8,
}

/// In the order of `px_abi`.
const LAYOUT: [usize; 15] = [
    BURST,
    size_of::<RawFrame>(),
    offset_of!(RawFrame, mbuf),
    offset_of!(RawFrame, bytes),
    offset_of!(RawFrame, frame_bytes),
    offset_of!(RawFrame, length),
    offset_of!(RawFrame, segments),
    size_of::<RawDevice>(),
    offset_of!(RawDevice, mac),
    size_of::<RawConfig>(),
    offset_of!(RawConfig, key_bytes),
    size_of::<RawStarted>(),
    size_of::<RawStats>(),
    size_of::<RawXstat>(),
    size_of::<RawLink>(),
];

/// The handshake: an object of another build is found before it is believed.
pub(crate) fn check() -> Result<(), DpdkError> {
    let mut words = [0_u32; LAYOUT.len()];
    // SAFETY: as many words as we say may be written there; the call does nothing else.
    let count = unsafe { px_abi(words.as_mut_ptr(), words.len() as c_uint) };
    compare(&words, count as usize)
}

fn compare(words: &[u32], count: usize) -> Result<(), DpdkError> {
    let same = words.iter().zip(LAYOUT).all(|(word, ours)| *word as usize == ours);
    match same && count == LAYOUT.len() {
        true => Ok(()),
        false => Err(DpdkError::Shim),
    }
}

unsafe extern "C" {
    pub(crate) fn px_abi(words: *mut u32, room: c_uint) -> c_uint;
    pub(crate) fn px_log_keep();
    pub(crate) fn px_log_mark() -> u64;
    pub(crate) fn px_log_since(mark: u64, out: *mut c_char, room: usize) -> usize;
    pub(crate) fn px_eal_start(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub(crate) fn px_eal_stop() -> c_int;
    pub(crate) fn px_first_cpu() -> c_int;
    pub(crate) fn px_error_text(code: c_int) -> *const c_char;
    pub(crate) fn px_version() -> *const c_char;
    pub(crate) fn px_runtime_folder() -> *const c_char;
    pub(crate) fn px_lcore_enter() -> c_int;
    pub(crate) fn px_lcore_leave();
    pub(crate) fn px_lcore_is_registered() -> c_int;
    pub(crate) fn px_probe(devargs: *const c_char, port: *mut u16) -> c_int;
    pub(crate) fn px_device(port: u16, out: *mut RawDevice) -> c_int;
    pub(crate) fn px_start(port: u16, config: *mut RawConfig, out: *mut RawStarted) -> c_int;
    pub(crate) fn px_stop(port: u16, started: c_int, rx_queues: u16) -> c_int;
    pub(crate) fn px_pool(
        name: *const c_char,
        mbufs: u32,
        room: u16,
        socket: c_int,
        error: *mut c_int,
    ) -> *mut Pool;
    pub(crate) fn px_pool_in_use(pool: *const Pool) -> u32;
    pub(crate) fn px_pool_free(pool: *mut Pool);
    pub(crate) fn px_rxq(port: u16, queue: u16, pool: *mut Pool, socket: c_int) -> *mut Rxq;
    pub(crate) fn px_rxq_free(rxq: *mut Rxq);
    pub(crate) fn px_rx(rxq: *mut Rxq, frames: *mut RawFrame) -> u16;
    pub(crate) fn px_tx(
        port: u16,
        queue: u16,
        pool: *mut Pool,
        frame: *const u8,
        length: u16,
    ) -> c_int;
    pub(crate) fn px_port_stats(port: u16, out: *mut RawStats) -> c_int;
    pub(crate) fn px_xstats(port: u16, out: *mut RawXstat, room: c_uint) -> c_int;
    pub(crate) fn px_port_link(port: u16, out: *mut RawLink) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shim_has_our_layout_and_another_is_refused() {
        check().unwrap();
        let mut words = LAYOUT.map(|word| u32::try_from(word).unwrap());
        assert!(compare(&words, LAYOUT.len()).is_ok());
        assert!(compare(&words, LAYOUT.len() + 1).is_err());
        words[5] += 2;
        assert!(matches!(compare(&words, LAYOUT.len()), Err(DpdkError::Shim)));
    }
}
