//! The filter family: sets of *items* (any bytes, or numbers) that say *no* (certain) or *maybe*.
//!
//! An item is encoded ([`Encoding`]), hashed once to 128 bits ([`HashRule`]), and inserted into
//! or asked of a filter of any kind by that hash. Every kind implements [`Presence`]; what grows,
//! is sharded or expires is made of filters of one kind, each made by [`Build`].
//!
//! Arrow: kernels <- engine/filter <- tools. Sans-I/O but for the modules that say otherwise.
#![deny(unsafe_code)]

mod any;
pub mod atomic;
pub mod blocked;
mod blocks;
pub mod classic;
pub mod counting;
pub mod cuckoo;
#[cfg(test)]
mod double;
mod encoding;
pub mod expiring;
pub mod file;
pub mod foreign;
pub mod imported;
mod in_turn;
mod item;
pub mod live;
pub mod plan;
mod presence;
pub mod scaling;
pub mod sharded;
pub mod split_block;
mod sync;
pub mod window;

pub use any::{AnyFilter, AnyScaling, AnySharded, Kind};
pub use atomic::AtomicClassic;
pub use blocked::Blocked;
pub use classic::Classic;
pub use counting::Counting;
pub use cuckoo::Cuckoo;
pub use encoding::Encoding;
pub use expiring::Expiring;
pub use imported::Imported;
pub use item::HashRule;
pub use presence::{Build, Inserted, Presence, Remove, Removed, SizeRefusal, Spec};
pub use scaling::Scaling;
pub use sharded::{ConcurrentSharded, Sharded};
pub use split_block::SplitBlock;
pub use window::Rolling;
