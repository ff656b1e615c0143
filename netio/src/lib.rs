//! Links that bring frames in, capture files, and raw header parsing. Knows nothing of filters.
#![deny(unsafe_code)]

pub mod burst;
pub mod capture;
pub mod frame;
pub mod link;
pub mod parse;
pub mod rss;

#[cfg(test)]
mod seeded;

pub use burst::{BURST_MAX, Burst, Received};
pub use link::{Drops, FrameSender, Framing, Link, LinkError, LinkSpec, LinkStats, Waker};
