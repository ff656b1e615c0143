//! Hot path: no allocation, no lock, no syscall; work bounded by the rows of a call.
//!
//! Column work of ingest: rows to columns of keys, bounds, recent keys, exact maps.
//!
//! A [`Gather`] is compiled once per schema. Frame by frame it appends rows to a [`KeyChunk`],
//! which holds one array of keys per field; a full chunk is then worked off column by column:
//! nulls and NaNs dropped ([`keep_valid_u64`], [`drop_nan_u64`]), bounds for the zone map
//! ([`bounds_u64`]), repeated keys left out ([`RecentKeys`]), and what remains inserted into a
//! filter or an exact map ([`map_u16`]). Every set gives the same bits as [`Kernel::Scalar`].
//!
//! [`Kernel::Scalar`]: crate::Kernel::Scalar
//!
//! ```
//! use bloomrf_kernels::Kernel;
//! use bloomrf_kernels::columns::{self, Field, Gather, KeyChunk, KeysRef, Map, Order};
//!
//! // Records of 6 bytes: a big-endian port and a signed little-endian number.
//! let port = Field { offset: 0, width: 2, order: Order::Big, map: Map::Unsigned, null_bit: None };
//! let delta = Field { offset: 2, width: 4, order: Order::Little, map: Map::Signed, ..port };
//! let gather = Gather::new(6, &[port, delta])?;
//! let mut chunk = KeyChunk::new(&gather, 4_096);
//!
//! let kernel = Kernel::best();
//! let frame = [0x01, 0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x50, 1, 0, 0, 0];
//! let digest = gather.append_digest(kernel, &frame, &mut chunk);
//! assert_eq!(digest, bloomrf_kernels::digest::xxh3_128(kernel, &frame));
//! chunk.commit(2); // the frame was accepted
//!
//! assert_eq!(chunk.column(0), KeysRef::U16(&[443, 80]));
//! let KeysRef::U32(deltas) = chunk.column(1) else { unreachable!() };
//! assert_eq!(columns::bounds_u32(kernel, deltas), Some((0x7FFF_FFFF, 0x8000_0001)));
//! # Ok::<(), bloomrf_kernels::columns::GatherError>(())
//! ```

mod bounds;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod chunk;
mod field;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod gather;
mod maps;
mod prefetch;
mod recent;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod shape;
mod valid;

pub use bounds::{bounds_u8, bounds_u16, bounds_u32, bounds_u64, bounds_wide};
pub use chunk::{KeyChunk, KeysRef};
pub use field::{Field, GatherError, Map, Order};
pub use gather::Gather;
pub use maps::{bytes_to_bits, join_maps, map_u8, map_u16};
pub use prefetch::{LINES_MAX, prefetch};
pub use recent::{RecentKeys, RecentWideKeys};
pub use valid::{
    drop_nan_u32, drop_nan_u64, keep_valid_u8, keep_valid_u16, keep_valid_u32, keep_valid_u64,
};

#[cfg(target_arch = "x86_64")]
pub(crate) use chunk::RowWords;
pub(crate) use chunk::{Columns, KeyArray};
#[cfg(target_arch = "x86_64")]
pub(crate) use shape::{Cell, Change, NullBit, Window};
