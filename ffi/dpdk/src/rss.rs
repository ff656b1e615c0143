//! The key of the hash that spreads flows over queues (RSS).

use crate::ffi::KEY_MAX;

/// Two bytes, again and again, give both directions of a flow the same hash: the Toeplitz hash
/// takes the same key bits for a source and for a target, 16 bits apart or a multiple of it.
const PAIR: [u8; 2] = [0x6d, 0x5a];

/// A symmetric key of any device's length.
pub(crate) fn symmetric_key() -> [u8; KEY_MAX] {
    std::array::from_fn(|i| PAIR[i % PAIR.len()])
}
