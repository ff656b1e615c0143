//! Byte layouts on the network, as `docs/WIRE.md` states them: little-endian, every length
//! checked before use, CRC32C over every message.
//!
//! Hot path: a parser allocates only what a message's own bytes warrant (a frame: nothing), takes
//! no lock and makes no syscall; work is linear in the message, recursion bounded by `limits.rs`.

pub mod cursor;
pub mod frame;
pub mod lookup;
pub mod mac;
pub mod predicate;
pub mod stream;
