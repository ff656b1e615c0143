//! Byte layouts on the network, as `docs/WIRE.md` states them: little-endian, every length
//! checked before use, CRC32C over every message.

pub mod cursor;
pub mod frame;
pub mod lookup;
pub mod predicate;
pub mod stream;
