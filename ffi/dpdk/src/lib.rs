//! Poll-mode ports of DPDK, behind a small C shim. Without feature `dpdk` this crate is empty, and
//! building it needs nothing but cargo.
//!
//! The order of things: [`Eal::start`] once per process, [`Eal::probe`] a device (virtual, or by
//! PCI address), [`Device::open`] its port. The port's [`RxQueue`]s move into the threads that poll
//! them, each of which asks for its [`Lcore`] first. Everything ends when it is dropped, in any
//! order: the last part of a port stops it, closes it, and looks whether all its mbufs came back;
//! the last thing that knows of the environment ends that.
//!
//! No structure of DPDK is known here: the shim (`csrc/shim.h`) fills records of its own, and a
//! comparison of their sizes and offsets comes before anything else. Any release from 22.11 on
//! will do; only shared linking is supported, since drivers are plugins.
//!
//! Cost: one call per burst, which also takes the last burst's mbufs back.

#[cfg(feature = "dpdk")]
mod device;
#[cfg(feature = "dpdk")]
mod eal;
#[cfg(feature = "dpdk")]
mod error;
#[cfg(feature = "dpdk")]
mod ffi;
#[cfg(feature = "dpdk")]
mod lcore;
#[cfg(feature = "dpdk")]
mod log;
#[cfg(feature = "dpdk")]
mod memory;
#[cfg(feature = "dpdk")]
mod pool;
#[cfg(feature = "dpdk")]
mod port;
#[cfg(feature = "dpdk")]
mod queue;
#[cfg(feature = "dpdk")]
mod rss;
#[cfg(feature = "dpdk")]
mod stats;

#[cfg(feature = "dpdk")]
pub use device::Device;
#[cfg(feature = "dpdk")]
pub use eal::{Eal, EalOptions, version};
#[cfg(feature = "dpdk")]
pub use error::{DpdkError, Reason};
#[cfg(feature = "dpdk")]
pub use lcore::Lcore;
#[cfg(feature = "dpdk")]
pub use memory::{Memory, MemoryUsed};
#[cfg(feature = "dpdk")]
pub use pool::FRAME_BYTES_MAX;
#[cfg(feature = "dpdk")]
pub use port::{Port, PortConfig, PortHandle, Spread, leaked_mbufs};
#[cfg(feature = "dpdk")]
pub use queue::{BURST, Frame, RxQueue, TxQueue};
#[cfg(feature = "dpdk")]
pub use stats::{LinkState, PortStats};
