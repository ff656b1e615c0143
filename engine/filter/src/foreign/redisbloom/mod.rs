//! RedisBloom: `BF.*` chains and `CF.*` cuckoo filters, as its dumps have them.
//!
//! Four forms carry them: the chunks of `SCANDUMP` and `LOADCHUNK` ([`chunks`], without a
//! checksum, invisible until the last one has come), the payload of `DUMP` ([`dump`], with a
//! CRC64), a whole RDB file ([`snapshot`], with one too), and the slots of a cuckoo filter
//! ([`cuckoo`], chunks again).

mod assembly;
mod chain;
pub mod chunks;
pub mod cuckoo;
pub mod dump;
mod link;
mod lzf;
mod rdb;
pub mod snapshot;

pub use chain::{Chain, Reserve};
pub use cuckoo::Cuckoo;
pub use link::LinkHead;
