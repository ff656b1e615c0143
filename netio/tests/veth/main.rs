//! Links over a veth pair between two network namespaces: exact counts, identical bytes. Each test
//! makes its own pair; where that is not possible (no root, no namespaces) it says so and passes.

#[cfg(target_os = "linux")]
mod common;
#[cfg(all(target_os = "linux", feature = "dpdk"))]
mod dpdk;
#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod losses;
#[cfg(target_os = "linux")]
mod openings;
#[cfg(target_os = "linux")]
mod sockets;
