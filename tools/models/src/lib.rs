//! Loom models of publication, retirement, rings, shutdown and shared filters, over the engine's
//! own files: what is included below is what runs, with loom's atomics behind `crate::sync`.
//!
//! Each model is run as it is, and once more with each of the orderings weakened: those it needs
//! must fail then, those that another one makes needless must not.
#![forbid(unsafe_code)]

#[path = "../../../engine/core/src/store/current.rs"]
mod current;
#[path = "../../../engine/core/src/handshake.rs"]
pub mod handshake;
#[path = "../../../engine/core/src/store/live.rs"]
mod live;
mod model;
mod ring;
mod sync;
#[path = "../../../engine/filter/src/atomic/word.rs"]
mod word;

pub use model::{Model, all};
pub use sync::Order;
