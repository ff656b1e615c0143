//! What the tests of ports share: one environment per program, frames, and captures by hand.
//! Each program uses some of it.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bloomrf_dpdk::{Eal, EalOptions, Memory};

/// The environment of this program, which starts once. No huge pages: the tests need no privilege.
pub(crate) fn eal() -> &'static Eal {
    static EAL: OnceLock<Eal> = OnceLock::new();
    EAL.get_or_init(|| Eal::start(&options()).expect("virtual devices need no right"))
}

/// What it is started with.
pub(crate) fn options() -> EalOptions {
    EalOptions { memory: Memory::NoHuge { mib: 192 }, ..EalOptions::default() }
}

/// A frame whose bytes depend on `seed`.
pub(crate) fn frame(seed: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 + seed * 7 + i / 251) as u8).collect()
}

/// Writes a capture of Ethernet frames.
pub(crate) fn pcap(path: &Path, frames: &[Vec<u8>]) {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for frame in frames {
        for word in [1, 0, frame.len() as u32, frame.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(frame);
    }
    fs::write(path, bytes).expect("a temporary folder takes files");
}

/// The device that plays these, one per queue.
pub(crate) fn pcap_of(name: &str, paths: &[PathBuf]) -> String {
    let options = paths.iter().map(|path| format!(",rx_pcap={}", path.display()));
    name.to_owned() + &options.collect::<String>()
}
